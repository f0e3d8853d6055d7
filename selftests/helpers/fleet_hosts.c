// SPDX-License-Identifier: GPL-2.0-only
/*
 * fleet_hosts DIRECTORY PORT HOSTS BAD SEED INTERVAL_MS: serves as HOSTS invented hosts, each an
 * agent over TCP at the loopback with its own port, host 0 at PORT; BAD of them misbehave, see
 * selftests/lib/fleet_host.h.  The seed chooses the bad hosts, their kinds and their moments; each
 * kind gets at least one host if BAD is large enough.
 *
 * DIRECTORY contains authority.pem, and 127.0.0.1.pem and .key; the controller's certificate
 * names "controller".  The program writes there:
 *
 *   hosts	"HOST KIND" for each
 *   log	"answer HOST EPOCH UPDATE TIME": the answer with the values of this update was sent
 *		whole; TIME is CLOCK_REALTIME in ns when they were written.
 *		"event HOST KIND WHAT": the host misbehaved as its kind does
 *
 * Prints "ready".  It answers all requests until SIGUSR1; then no host answers any more, and it
 * completes the log with the line "held".  Serves until a test kills it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <libdart/rpc/message.h>
#include <libdart/rpc/stream.h>

#include "selftests/lib/fleet_host.h"

#define TICK_MS 100
#define ANSWER_MAX (FLEET_TABLE_MAX + sizeof(struct dart_control_header))

struct place;

/* Begins all that epoll tells of. */
struct watch {
	void (*on_ready)(struct watch *watch);
	int fd;
	uint32_t events;
};

struct connection {
	struct watch watch;
	struct place *place;
	struct dart_tls_stream *tls; /* until the end of the handshake */
	struct dart_rpc_stream *stream; /* then */
	bool is_welcome;
	bool is_silent; /* it never answers again */
	bool is_trickling; /* an answer without an end, a byte in each tick */
	bool is_flowing; /* an endless answer, as fast as possible */
	bool is_cut; /* it dies in the middle of this answer */
	bool has_values; /* the answer carries the values of @update */
	uint32_t answer_max, id;
	uint32_t length, sent; /* of the answer */
	uint32_t epoch;
	uint64_t update;
	int64_t written_ns;
	struct connection *next; /* of the place */
	uint8_t answer[ANSWER_MAX];
};

/* A host at its port. */
struct place {
	struct watch watch;
	struct fleet_host host;
	struct connection *connections;
	uint32_t away; /* ticks until it listens again */
};

static struct {
	int epoll;
	struct place *places;
	uint32_t count;
	uint16_t port;
	struct dart_tls *tls;
	FILE *log;
	bool is_held;
} fleet;

static const char *const callers[] = { "controller" };

static void watch__set(struct watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	if (events == watch->events)
		return;
	if (epoll_ctl(fleet.epoll, watch->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watch->fd,
		      &event))
		error(1, errno, "epoll_ctl");
	watch->events = events;
}

static void say(const struct fleet_host *host, const char *what)
{
	fprintf(fleet.log, "event %u %s %s\n", host->index, fleet_kind__name(host->kind), what);
}

/* ---- connections */

/* connections__sweep() frees it: events of it may be waiting. */
static void connection__close(struct connection *connection)
{
	if (connection->watch.fd < 0)
		return;
	dart_tls_stream__free(connection->tls);
	dart_rpc_stream__free(connection->stream);
	connection->tls = NULL;
	connection->stream = NULL;
	close(connection->watch.fd);
	connection->watch.fd = -1;
}

static void place__sweep(struct place *place)
{
	struct connection **at = &place->connections, *gone;

	while (*at) {
		if ((*at)->watch.fd >= 0) {
			at = &(*at)->next;
			continue;
		}
		gone = *at;
		*at = gone->next;
		free(gone);
	}
}

static void place__listen(struct place *place);

/* For up to six intervals. */
static void place__go_away(struct place *place)
{
	struct connection *connection;

	for (connection = place->connections; connection; connection = connection->next)
		connection__close(connection);
	close(place->watch.fd);
	place->watch.fd = -1;
	place->watch.events = 0;
	place->away =
		1 + dart_random__below(&place->host.random, 6 * place->host.interval_ms / TICK_MS);
	say(&place->host, "died");
}

/* Any bytes, as a message. */
static void connection__put_noise(struct connection *connection)
{
	uint8_t *out = dart_rpc_stream__out(connection->stream);
	const uint32_t length = 16 + dart_random__below(&connection->place->host.random, 500);

	if (!out || getrandom(out, length, 0) != length)
		return;
	dart_rpc_stream__put(connection->stream, length);
	say(&connection->place->host, "noise");
}

/* A part that breaks a rule. */
static void connection__put_bad_part(struct connection *connection)
{
	struct fleet_host *host = &connection->place->host;
	uint8_t *out = dart_rpc_stream__out(connection->stream);
	static const char *const what[] = { "id", "offset", "early end", "type", "too much" };
	const uint32_t choice = dart_random__below(&host->random, 5);
	size_t length;

	memset(out + DART_RPC_PART_HEAD, 0xa5, 400);
	length = dart_rpc__put_part(out, connection->id + (choice == 0), choice == 1 ? 4000 : 0,
				    choice == 4 ? 400 : 8, choice == 2);
	if (choice == 3)
		((struct dart_rpc_header *)out)->type = 77;
	dart_rpc_stream__put(connection->stream, length);
	say(host, what[choice]);
	/* The longer answer goes on. */
	connection->is_flowing = choice == 4;
	connection->sent = choice == 4 ? 400 : 0;
	connection->length = 0;
}

/* The next part of the answer, if the last one is in the socket.  False: no further part. */
static bool connection__put_part(struct connection *connection)
{
	uint8_t *out = dart_rpc_stream__out(connection->stream);
	uint32_t size = connection->answer_max - DART_RPC_PART_HEAD;
	const bool is_endless = connection->is_flowing || connection->is_trickling;
	uint32_t rest = connection->length - connection->sent;

	if (!out || (!is_endless && !rest))
		return false;
	if (connection->is_trickling)
		size = 1;
	else if (!is_endless && size > rest)
		size = rest;
	if (connection->is_cut && size > 1)
		size /= 2;
	if (is_endless)
		memset(out + DART_RPC_PART_HEAD, 0, size);
	else
		memcpy(out + DART_RPC_PART_HEAD, connection->answer + connection->sent, size);
	dart_rpc_stream__put(connection->stream,
			     dart_rpc__put_part(out, connection->id, connection->sent, size,
						!is_endless && size == rest));
	connection->sent += size;
	return true;
}

static void connection__log(struct connection *connection)
{
	fprintf(fleet.log, "answer %u %u %llu %lld\n", connection->place->host.index,
		connection->epoch, (unsigned long long)connection->update,
		(long long)connection->written_ns);
	connection->has_values = false;
}

/* Sends as much as the socket takes.  Returns 0, even if more remains, or -errno. */
static int connection__send(struct connection *connection)
{
	struct dart_error error;
	int ret;

	do {
		ret = dart_rpc_stream__flush(connection->stream, &error);
		if (ret)
			return ret == -EAGAIN ? 0 : ret;
		if (connection->is_cut && connection->sent) {
			place__go_away(connection->place);
			return 0;
		}
		if (connection->has_values && connection->sent == connection->length)
			connection__log(connection);
	} while (!connection->is_trickling && connection__put_part(connection));
	return 0;
}

static void connection__begin_table(struct connection *connection, uint32_t length)
{
	struct fleet_host *host = &connection->place->host;

	if (host->kind == FLEET_ENDLESS) {
		connection->is_trickling = fleet_host__chance(host, 2);
		connection->is_flowing = !connection->is_trickling;
		say(host, connection->is_flowing ? "flows" : "trickles");
		return;
	}
	if (host->kind == FLEET_NAMES)
		say(host, "names");
	connection->length = length < host->used ? length : host->used;
	memcpy(connection->answer, host->memory, connection->length);
}

static void connection__begin_stale(struct connection *connection)
{
	dart_rpc_stream__put(connection->stream,
			     dart_rpc__put_error(dart_rpc_stream__out(connection->stream),
						 connection->id, DART_RPC_ERROR_STALE,
						 "the table has changed"));
}

static void connection__begin_values(struct connection *connection,
				     const struct dart_rpc_message *request)
{
	struct fleet_host *host = &connection->place->host;
	struct dart_rpc_entries run;
	struct timespec now;
	uint32_t i, end, size;

	/* Reboots and clocks that are set come before a request, which then meets the new table. */
	if (host->kind != FLEET_CHANGING && fleet_host__live(host))
		say(host, "changed");
	if (request->values.instance != fleet_host__instance(host) ||
	    request->values.generation != host->generation) {
		connection__begin_stale(connection);
		return;
	}
	fleet_host__write(host);
	if (host->is_row_odd)
		say(host, "row");
	clock_gettime(CLOCK_REALTIME, &now);
	connection->written_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	connection->epoch = host->epoch;
	connection->update = host->update;
	for (i = 0; i < request->values.runs; i++) {
		run = dart_rpc_message__run(request, i);
		end = run.first + run.count;
		if (end > host->entry_count)
			error(1, 0, "place %u of host %u is asked for", end, host->index);
		size = host->offsets[end] - host->offsets[run.first];
		memcpy(connection->answer + connection->length,
		       host->values + host->offsets[run.first], size);
		connection->length += size;
	}
	/* An entry comes or goes while the host makes the answer: it ends with the new header. */
	if (host->kind == FLEET_CHANGING && fleet_host__live(host))
		say(host, "changed");
	memcpy(connection->answer + connection->length, host->memory,
	       sizeof(struct dart_control_header));
	connection->length += sizeof(struct dart_control_header);
	connection->has_values = true;
	if (host->kind == FLEET_DIES && fleet_host__chance(host, 4))
		connection->is_cut = true;
}

static void connection__welcome(struct connection *connection,
				const struct dart_rpc_message *message)
{
	const struct fleet_host *host = &connection->place->host;
	const struct dart_rpc_welcome_values welcome = {
		.length = FLEET_TABLE_MAX,
		.used = host->used,
		.time_ns = fleet_host__now(host),
	};

	connection->is_welcome = true;
	connection->answer_max = message->hello.answer_max;
	dart_rpc_stream__put(connection->stream,
			     dart_rpc__put_welcome(dart_rpc_stream__out(connection->stream),
						   &welcome));
	if (host->wrong_ns)
		say(host, "clock");
}

static int connection__take(struct connection *connection, const void *bytes, size_t length)
{
	struct fleet_host *host = &connection->place->host;
	struct dart_rpc_message message;
	struct dart_error error_of;
	int ret = dart_rpc_message__decode(bytes, length, &message, &error_of);

	if (ret)
		error(1, -ret, "the controller sends to host %u: %s", host->index, error_of.text);
	if (fleet.is_held || connection->is_silent)
		return 0;
	connection->id = message.id;
	connection->sent = connection->length = 0;
	if (host->kind == FLEET_GARBAGE && fleet_host__chance(host, 4)) {
		if (connection->is_welcome && fleet_host__chance(host, 2))
			connection__put_bad_part(connection);
		else
			connection__put_noise(connection);
		return connection__send(connection);
	}
	if (host->kind == FLEET_SILENT && message.type == DART_RPC_GET_VALUES &&
	    fleet_host__chance(host, 4)) {
		connection->is_silent = true;
		say(host, "silent");
		return 0;
	}
	switch (message.type) {
	case DART_RPC_HELLO:
		connection__welcome(connection, &message);
		break;
	case DART_RPC_GET_TABLE:
		connection__begin_table(connection, message.table_length);
		break;
	case DART_RPC_GET_VALUES:
		connection__begin_values(connection, &message);
		break;
	default:
		error(1, 0, "the controller sends a message of type %d", message.type);
	}
	return connection__send(connection);
}

/* Returns 0 if the socket is to be waited for, or -errno. */
static int connection__go_on(struct connection *connection)
{
	const void *bytes;
	struct dart_error error;
	size_t length;
	int ret;

	if (!connection->stream) {
		ret = dart_tls_stream__handshake(connection->tls, &error);
		if (ret <= 0)
			return ret;
		ret = dart_rpc_stream__open(connection->tls, DART_RPC_REQUEST_MAX,
					    DART_RPC_ANSWER_MAX, &connection->stream, &error);
		connection->tls = NULL;
		if (ret)
			return ret;
	}
	ret = connection__send(connection);
	while (!ret && connection->watch.fd >= 0) {
		ret = dart_rpc_stream__next(connection->stream, &bytes, &length, &error);
		if (ret == 1)
			ret = connection__take(connection, bytes, length);
	}
	return ret == -EAGAIN ? 0 : ret;
}

static void connection__on_ready(struct watch *watch)
{
	struct connection *connection = (struct connection *)watch;
	bool waits;

	if (watch->fd < 0)
		return;
	if (connection__go_on(connection))
		connection__close(connection);
	if (watch->fd < 0)
		return;
	waits = connection->stream ? !dart_rpc_stream__out(connection->stream) :
				     dart_tls_stream__waits_to_send(connection->tls);
	watch__set(watch, EPOLLIN | (waits ? EPOLLOUT : 0));
}

/* ---- hosts */

static void place__accept(struct place *place, int fd)
{
	struct connection *connection = calloc(1, sizeof(*connection));
	struct dart_error error_of;

	if (!connection)
		error(1, ENOMEM, "a connection");
	connection->watch = (struct watch){ connection__on_ready, fd, 0 };
	connection->place = place;
	connection->answer_max = DART_RPC_ANSWER_MIN;
	if (dart_tls_stream__open(fleet.tls, fd, true, callers, 1, &connection->tls, &error_of))
		error(1, 0, "%s", error_of.text);
	connection->next = place->connections;
	place->connections = connection;
	watch__set(&connection->watch, EPOLLIN);
}

static void place__on_ready(struct watch *watch)
{
	struct place *place = (struct place *)watch;
	uint8_t noise[4096];
	int fd;

	if (watch->fd < 0)
		return;
	fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (place->host.kind != FLEET_NOISE) {
		place__accept(place, fd);
		return;
	}
	if (getrandom(noise, sizeof(noise), 0) == sizeof(noise) &&
	    write(fd, noise, 1 + dart_random__below(&place->host.random, sizeof(noise))) > 0)
		say(&place->host, "not TLS");
	close(fd);
}

static void place__listen(struct place *place)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(fleet.port + place->host.index),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int one = 1;

	place->watch =
		(struct watch){ place__on_ready,
				socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), 0 };
	if (place->watch.fd < 0 ||
	    setsockopt(place->watch.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(place->watch.fd, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(place->watch.fd, 16))
		error(1, errno, "host %u cannot listen at port %u",
		      place->host.index, fleet.port + place->host.index);
	watch__set(&place->watch, EPOLLIN);
}

static void place__tick(struct place *place)
{
	struct connection *connection;

	place__sweep(place);
	if (place->away && !--place->away)
		place__listen(place);
	for (connection = place->connections; connection; connection = connection->next)
		if (connection->is_trickling && connection->watch.fd >= 0) {
			connection__put_part(connection);
			connection__on_ready(&connection->watch);
		}
}

/* Assigns each kind once, then random kinds, to random hosts. */
static void choose(enum fleet_kind *kinds, uint32_t hosts, uint32_t bad, uint64_t seed)
{
	struct dart_random random = dart_random__of(seed);
	enum fleet_kind kind;
	uint32_t i, other;

	for (i = 0; i < bad; i++)
		kinds[i] = i + 1 < FLEET_KINDS ? i + 1 :
						 1 + dart_random__below(&random, FLEET_KINDS - 1);
	for (i = hosts - 1; i > 0; i--) {
		other = dart_random__below(&random, i + 1);
		kind = kinds[i];
		kinds[i] = kinds[other];
		kinds[other] = kind;
	}
}

static FILE *create(const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "w");
	if (!file)
		error(1, errno, "%s", path);
	return file;
}

static void open_hosts(const char *directory, uint32_t hosts, uint32_t bad,
		       uint64_t seed, uint32_t interval_ms)
{
	enum fleet_kind *kinds = calloc(hosts, sizeof(*kinds));
	FILE *list = create(directory, "hosts");
	uint32_t i;

	fleet.places = calloc(hosts, sizeof(*fleet.places));
	if (!kinds || !fleet.places)
		error(1, ENOMEM, "%u hosts", hosts);
	fleet.count = hosts;
	choose(kinds, hosts, bad, seed);
	for (i = 0; i < hosts; i++) {
		fleet_host__open(&fleet.places[i].host, i, kinds[i], seed, interval_ms);
		place__listen(&fleet.places[i]);
		fprintf(list, "%u %s\n", i, fleet_kind__name(kinds[i]));
	}
	if (fclose(list))
		error(1, errno, "the list of hosts");
	free(kinds);
}

static void load_tls(const char *directory)
{
	char certificate[4096], key[4096], authority[4096];
	const struct dart_tls_files files = { certificate, key, authority, NULL };
	struct dart_error error_of;

	snprintf(certificate, sizeof(certificate), "%s/127.0.0.1.pem", directory);
	snprintf(key, sizeof(key), "%s/127.0.0.1.key", directory);
	snprintf(authority, sizeof(authority), "%s/authority.pem", directory);
	if (dart_tls__load(&files, &fleet.tls, &error_of))
		error(1, 0, "%s", error_of.text);
}

/* ---- */

static void on_tick(struct watch *watch)
{
	uint64_t ticks;
	uint32_t i;

	if (read(watch->fd, &ticks, sizeof(ticks)) != sizeof(ticks))
		return;
	for (i = 0; i < fleet.count; i++)
		place__tick(&fleet.places[i]);
}

static void on_signal(struct watch *watch)
{
	struct signalfd_siginfo info;

	if (read(watch->fd, &info, sizeof(info)) != sizeof(info))
		return;
	fleet.is_held = true;
	fprintf(fleet.log, "held\n");
	if (fflush(fleet.log))
		error(1, errno, "the log");
}

static void watch_ticks(struct watch *watch)
{
	const struct itimerspec each = {
		.it_interval.tv_nsec = TICK_MS * 1000000,
		.it_value.tv_nsec = TICK_MS * 1000000,
	};

	*watch = (struct watch){ on_tick, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), 0 };
	if (watch->fd < 0 || timerfd_settime(watch->fd, 0, &each, NULL))
		error(1, errno, "a timer");
	watch__set(watch, EPOLLIN);
}

static void watch_signal(struct watch *watch)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	*watch = (struct watch){ on_signal, signalfd(-1, &set, SFD_CLOEXEC), 0 };
	if (watch->fd < 0)
		error(1, errno, "a signal");
	watch__set(watch, EPOLLIN);
}

static void serve(void)
{
	struct epoll_event events[256];
	int count, i;

	for (;;) {
		count = epoll_wait(fleet.epoll, events, 256, -1);
		for (i = 0; i < count; i++)
			((struct watch *)events[i].data.ptr)->on_ready(events[i].data.ptr);
	}
}

int main(int argc, char *argv[])
{
	struct watch ticks, signals;
	struct rlimit limit;
	uint32_t hosts, bad;

	if (argc != 7) {
		fputs("usage: fleet_hosts DIRECTORY PORT HOSTS BAD SEED INTERVAL_MS\n", stderr);
		return 2;
	}
	hosts = strtoul(argv[3], NULL, 10);
	bad = strtoul(argv[4], NULL, 10);
	fleet.port = strtoul(argv[2], NULL, 10);
	if (!hosts || bad > hosts || fleet.port + hosts > 65536)
		error(2, 0, "%u hosts, %u of them bad, from port %u on", hosts, bad, fleet.port);
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	signal(SIGPIPE, SIG_IGN);
	fleet.epoll = epoll_create1(EPOLL_CLOEXEC);
	fleet.log = create(argv[1], "log");
	load_tls(argv[1]);
	watch_ticks(&ticks);
	watch_signal(&signals);
	open_hosts(argv[1], hosts, bad, strtoull(argv[5], NULL, 10), strtoul(argv[6], NULL, 10));
	puts("ready");
	fflush(stdout);
	serve();
	return 0;
}
