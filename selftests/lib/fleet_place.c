// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <libdart/rpc/message.h>
#include <libdart/rpc/stream.h>

#include "fleet_place.h"

#define ANSWER_MAX (FLEET_TABLE_MAX + sizeof(struct dart_control_header))

struct fleet_connection {
	struct fleet_watch watch;
	struct fleet_place *place;
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
	struct fleet_connection *next; /* of the place */
	uint8_t answer[ANSWER_MAX];
};

static const char *const callers[] = { "controller" };

void fleet_watch__set(const struct fleet *fleet, struct fleet_watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	if (events == watch->events)
		return;
	if (epoll_ctl(fleet->epoll, watch->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, watch->fd,
		      &event))
		error(1, errno, "epoll_ctl");
	watch->events = events;
}

static void say(const struct fleet_place *place, const char *what)
{
	const struct fleet_host *host = &place->host;

	fprintf(place->fleet->log, "event %u %s %s\n", host->index, fleet_kind__name(host->kind),
		what);
}

/* fleet_place__sweep() frees it: events of it may be waiting. */
static void fleet_connection__close(struct fleet_connection *connection)
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

static void fleet_place__sweep(struct fleet_place *place)
{
	struct fleet_connection **at = &place->connections, *gone;

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

/* For up to six intervals. */
static void fleet_place__go_away(struct fleet_place *place)
{
	struct fleet_connection *connection;

	for (connection = place->connections; connection; connection = connection->next)
		fleet_connection__close(connection);
	close(place->watch.fd);
	place->watch.fd = -1;
	place->watch.events = 0;
	place->away = 1 + dart_random__below(&place->host.random,
					     6 * place->host.interval_ms / FLEET_TICK_MS);
	say(place, "died");
}

/* Any bytes, as a message. */
static void fleet_connection__put_noise(struct fleet_connection *connection)
{
	uint8_t *out = dart_rpc_stream__out(connection->stream);
	const uint32_t length = 16 + dart_random__below(&connection->place->host.random, 500);

	if (!out || getrandom(out, length, 0) != length)
		return;
	dart_rpc_stream__put(connection->stream, length);
	say(connection->place, "noise");
}

/* A part that breaks a rule. */
static void fleet_connection__put_bad_part(struct fleet_connection *connection)
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
	say(connection->place, what[choice]);
	/* The longer answer goes on. */
	connection->is_flowing = choice == 4;
	connection->sent = choice == 4 ? 400 : 0;
	connection->length = 0;
}

/* The next part of the answer, if the last one is in the socket.  False: no further part. */
static bool fleet_connection__put_part(struct fleet_connection *connection)
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

static void fleet_connection__log(struct fleet_connection *connection)
{
	fprintf(connection->place->fleet->log, "answer %u %u %llu %lld\n",
		connection->place->host.index, connection->epoch,
		(unsigned long long)connection->update, (long long)connection->written_ns);
	connection->has_values = false;
}

/* Sends as much as the socket takes.  Returns 0, even if more remains, or -errno. */
static int fleet_connection__send(struct fleet_connection *connection)
{
	struct dart_error error;
	int ret;

	do {
		ret = dart_rpc_stream__flush(connection->stream, &error);
		if (ret)
			return ret == -EAGAIN ? 0 : ret;
		if (connection->is_cut && connection->sent) {
			fleet_place__go_away(connection->place);
			return 0;
		}
		if (connection->has_values && connection->sent == connection->length)
			fleet_connection__log(connection);
	} while (!connection->is_trickling && fleet_connection__put_part(connection));
	return 0;
}

static void fleet_connection__begin_table(struct fleet_connection *connection, uint32_t length)
{
	struct fleet_host *host = &connection->place->host;

	if (host->kind == FLEET_ENDLESS) {
		connection->is_trickling = fleet_host__chance(host, 2);
		connection->is_flowing = !connection->is_trickling;
		say(connection->place, connection->is_flowing ? "flows" : "trickles");
		return;
	}
	if (host->kind == FLEET_NAMES)
		say(connection->place, "names");
	connection->length = length < host->used ? length : host->used;
	memcpy(connection->answer, host->memory, connection->length);
}

static void fleet_connection__begin_stale(struct fleet_connection *connection)
{
	dart_rpc_stream__put(connection->stream,
			     dart_rpc__put_error(dart_rpc_stream__out(connection->stream),
						 connection->id, DART_RPC_ERROR_STALE,
						 "the table has changed"));
}

static void fleet_connection__begin_values(struct fleet_connection *connection,
					   const struct dart_rpc_message *request)
{
	struct fleet_host *host = &connection->place->host;
	struct dart_rpc_entries run;
	struct timespec now;
	uint32_t i, end, size;

	/* Reboots and clocks that are set come before a request, which then meets the new table. */
	if (host->kind != FLEET_CHANGING && fleet_host__live(host))
		say(connection->place, "changed");
	if (request->values.instance != fleet_host__instance(host) ||
	    request->values.generation != host->generation) {
		fleet_connection__begin_stale(connection);
		return;
	}
	fleet_host__write(host);
	if (host->is_row_odd)
		say(connection->place, "row");
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
		say(connection->place, "changed");
	memcpy(connection->answer + connection->length, host->memory,
	       sizeof(struct dart_control_header));
	connection->length += sizeof(struct dart_control_header);
	connection->has_values = true;
	if (host->kind == FLEET_DIES && fleet_host__chance(host, 4))
		connection->is_cut = true;
}

static void fleet_connection__welcome(struct fleet_connection *connection,
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
		say(connection->place, "clock");
}

static int fleet_connection__take(struct fleet_connection *connection, const void *bytes,
				  size_t length)
{
	struct fleet_host *host = &connection->place->host;
	struct dart_rpc_message message;
	struct dart_error error_of;
	int ret = dart_rpc_message__decode(bytes, length, &message, &error_of);

	if (ret)
		error(1, -ret, "the controller sends to host %u: %s", host->index, error_of.text);
	if (connection->place->fleet->is_held || connection->is_silent)
		return 0;
	connection->id = message.id;
	connection->sent = connection->length = 0;
	if (host->kind == FLEET_GARBAGE && fleet_host__chance(host, 4)) {
		if (connection->is_welcome && fleet_host__chance(host, 2))
			fleet_connection__put_bad_part(connection);
		else
			fleet_connection__put_noise(connection);
		return fleet_connection__send(connection);
	}
	if (host->kind == FLEET_SILENT && message.type == DART_RPC_GET_VALUES &&
	    fleet_host__chance(host, 4)) {
		connection->is_silent = true;
		say(connection->place, "silent");
		return 0;
	}
	switch (message.type) {
	case DART_RPC_HELLO:
		fleet_connection__welcome(connection, &message);
		break;
	case DART_RPC_GET_TABLE:
	case DART_RPC_FOLLOW_TABLE: /* the table does not change */
		fleet_connection__begin_table(connection, message.table_length);
		break;
	case DART_RPC_GET_VALUES:
		fleet_connection__begin_values(connection, &message);
		break;
	default:
		error(1, 0, "the controller sends a message of type %d", message.type);
	}
	return fleet_connection__send(connection);
}

/* Returns 0 if the socket is to be waited for, or -errno. */
static int fleet_connection__go_on(struct fleet_connection *connection)
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
	ret = fleet_connection__send(connection);
	while (!ret && connection->watch.fd >= 0) {
		ret = dart_rpc_stream__next(connection->stream, &bytes, &length, &error);
		if (ret == 1)
			ret = fleet_connection__take(connection, bytes, length);
	}
	return ret == -EAGAIN ? 0 : ret;
}

static void fleet_connection__on_ready(struct fleet_watch *watch)
{
	struct fleet_connection *connection = (struct fleet_connection *)watch;
	bool waits;

	if (watch->fd < 0)
		return;
	if (fleet_connection__go_on(connection))
		fleet_connection__close(connection);
	if (watch->fd < 0)
		return;
	waits = connection->stream ? !dart_rpc_stream__out(connection->stream) :
				     dart_tls_stream__waits_to_send(connection->tls);
	fleet_watch__set(connection->place->fleet, watch, EPOLLIN | (waits ? EPOLLOUT : 0));
}

static void fleet_place__accept(struct fleet_place *place, int fd)
{
	struct fleet_connection *connection = calloc(1, sizeof(*connection));
	struct dart_error error_of;

	if (!connection)
		error(1, ENOMEM, "a connection");
	connection->watch = (struct fleet_watch){ fleet_connection__on_ready, fd, 0 };
	connection->place = place;
	connection->answer_max = DART_RPC_ANSWER_MIN;
	if (dart_tls_stream__open(place->fleet->tls, fd, true, callers, 1, &connection->tls,
				  &error_of))
		error(1, 0, "%s", error_of.text);
	connection->next = place->connections;
	place->connections = connection;
	fleet_watch__set(place->fleet, &connection->watch, EPOLLIN);
}

static void fleet_place__on_ready(struct fleet_watch *watch)
{
	struct fleet_place *place = (struct fleet_place *)watch;
	uint8_t noise[4096];
	int fd;

	if (watch->fd < 0)
		return;
	fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0)
		return;
	if (place->host.kind != FLEET_NOISE) {
		fleet_place__accept(place, fd);
		return;
	}
	if (getrandom(noise, sizeof(noise), 0) == sizeof(noise) &&
	    write(fd, noise, 1 + dart_random__below(&place->host.random, sizeof(noise))) > 0)
		say(place, "not TLS");
	close(fd);
}

void fleet_place__listen(struct fleet_place *place)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(place->fleet->port + place->host.index),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int one = 1;

	place->watch = (struct fleet_watch){
		fleet_place__on_ready,
		socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), 0
	};
	if (place->watch.fd < 0 ||
	    setsockopt(place->watch.fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(place->watch.fd, (const struct sockaddr *)&address, sizeof(address)) ||
	    listen(place->watch.fd, 16))
		error(1, errno, "host %u cannot listen at port %u", place->host.index,
		      place->fleet->port + place->host.index);
	fleet_watch__set(place->fleet, &place->watch, EPOLLIN);
}

void fleet_place__tick(struct fleet_place *place)
{
	struct fleet_connection *connection;

	fleet_place__sweep(place);
	if (place->away && !--place->away)
		fleet_place__listen(place);
	for (connection = place->connections; connection; connection = connection->next)
		if (connection->is_trickling && connection->watch.fd >= 0) {
			fleet_connection__put_part(connection);
			fleet_connection__on_ready(&connection->watch);
		}
}
