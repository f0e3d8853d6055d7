// SPDX-License-Identifier: GPL-2.0-only
/* Sends a report, or an INT-MD packet, for each packet of the feed. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>
#include <libdart/report/packet_socket.h>

#include "feed.h"
#include "session.h"

/* The kernel adds packets up for so long. */
#define LIVE_PERIOD_NS UINT64_C(200000000)

/* An entry waits for so long in a batch that is not full. */
#define FLUSH_NS (DART_JOURNAL_FLUSH_MS * UINT64_C(1000000))

/* Packets, or time, between two looks whether files have changed. */
#define LOOK_EVERY 64
#define FOLLOW_NS INT64_C(10000000)

/* While no packet comes by a pipe: between two looks at reports that wait for a time. */
#define IDLE_NS UINT64_C(50000000)
/* How long each of these looks waits for answers of a ledger. */
#define ANSWERS_NS UINT64_C(5000000)

/* Between two looks while a collector does not answer. */
#define LOOK_NS UINT64_C(50000000)

/* Goes on with the present files, unless they are of no use, as while one is being written. */
static int session__reload(struct session *session, const struct options *options,
			   const struct path_watch *watch, struct dart_error *error)
{
	const struct in_addr reporter = session->collectors.list[0].reporter;
	struct dart_collectors collectors;
	struct dart_error reason;
	int ret;

	if (path_watch__wait(watch, -1, 0) != PATH_WATCH_CHANGED)
		return 0;
	ret = path_watch__arm(watch, error);
	if (ret)
		return ret;
	if (dart_collectors__load(options->collectors, options->collector_files, reporter,
				  &collectors, &reason))
		return 0;
	if (dart_report_builder__replace(session->builder, &collectors)) {
		dart_collectors__free(&collectors);
		return 0;
	}
	/* The builder refers to the list, and to the shares beside it. */
	free(session->collectors.list);
	session->collectors = collectors;
	return dart_report_builder__replace(session->builder, &session->collectors) ?:
	       delivery__open(&session->delivery, &session->collectors, options->interface, error);
}

/*
 * A report with a former key would break a reliable connection, so that no packet goes before.  Over an
 * unreliable one it would be lost if packets are rare, so that time counts as well.
 */
static int session__follow(struct session *session, const struct options *options,
			   struct dart_error *error)
{
	int64_t now;

	if (!session->watch.paths)
		return 0;
	now = dart_clock__ns(CLOCK_MONOTONIC_COARSE);
	if (!session->delivery.answers && session->packets % LOOK_EVERY && now < session->look_at)
		return 0;
	session->look_at = now + FOLLOW_NS;
	return session__reload(session, options, &session->watch, error);
}

static int give_up(const struct dart_collector *collector, enum dart_report_state state,
		   struct dart_error *error)
{
	char ip[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &collector->ip, ip, sizeof(ip));
	if (state == DART_REPORT_REFUSED)
		return dart_error__set(
			error, EPIPE,
			"store '%s' at %s has closed queue pair %u after an invalid report (remove the reporter, add it again, and export the store again)",
			collector->name, ip, collector->qpn);
	return dart_error__set(error, ETIMEDOUT,
			       "store '%s' at %s, queue pair %u, does not answer (is its export up to date?)",
			       collector->name, ip, collector->qpn);
}

/* Waits while reports would be lost, and takes changes of the files over meanwhile. */
static int session__deliver(struct session *session, const struct options *options,
			    struct dart_packet_socket *socket, struct dart_error *error)
{
	const struct dart_collector *missing;
	enum dart_report_state state;
	uint64_t now, since = 0;
	int ret;

	if (!session->builder)
		return 0;
	ret = session__follow(session, options, error);
	if (ret)
		return ret;
	ret = delivery__turn(&session->delivery, &session->collectors, session->builder, socket);
	while (!ret && session->delivery.answers &&
	       (missing = delivery__missing(&session->collectors, session->builder, &state))) {
		now = dart_clock__ns(CLOCK_MONOTONIC);
		since = since ?: now;
		if (now - since > DELIVERY_PATIENCE_NS ||
		    (state == DART_REPORT_REFUSED && !session->watch.paths))
			return give_up(missing, state, error);
		ret = delivery__run(&session->delivery, &session->collectors, session->builder,
				    now + LOOK_NS, socket);
		if (!ret && session->watch.paths &&
		    session__reload(session, options, &session->watch, error))
			return -EIO;
	}
	return ret ? dart_error__system(error, -ret, "cannot follow reports through '%s'",
					options->interface) :
		     0;
}

static int session__report(struct session *session, const struct options *options,
			   const struct int_packet *packet, struct dart_packet_socket *socket)
{
	uint32_t copy = DART_REPORT_ANY_COPY, end = copy;
	const struct dart_collector *collector;
	struct dart_store_place place;
	size_t length;
	int ret;

	_Static_assert(sizeof(packet->path) == DART_STORE_VALUE_MAX,
		       "a path fills the longest value");
	collector = dart_report_builder__find(session->builder, packet->key,
					      packet->key_length, &place);
	if (!collector) {
		session->unassigned++;
		return 0;
	}
	if (options->all_copies) {
		copy = 0;
		end = collector->geometry.redundancy - 1;
	}
	do {
		length = dart_report_builder__report(session->builder, &place, copy,
						     (const uint8_t *)packet->path,
						     dart_packet_socket__next(socket));
		ret = dart_packet_socket__push(socket, length);
	} while (!ret && copy++ != end);
	return ret;
}

/*
 * An entry: the time in ns since 1970 and the key of IPv4, see schemas/path-event.yaml, then as
 * much of the path as there is room for, and zeros.
 */
struct entry {
	__be64 time;
	uint8_t key[DART_FLOW_KEY_LENGTH];
	uint8_t path[DART_JOURNAL_ENTRY_MAX - sizeof(__be64) - DART_FLOW_KEY_LENGTH];
} __attribute__((packed));

#define ENTRY_MIN offsetof(struct entry, path)

_Static_assert(sizeof(struct entry) == DART_JOURNAL_ENTRY_MAX, "it fills the longest entry");

static int session__write(struct session *session, uint32_t list,
			  const struct dart_journal_write *write, struct dart_packet_socket *socket)
{
	const uint32_t psn = session->target.collector.first_psn + session->batches++;
	size_t length;

	_Static_assert(DART_JOURNAL_FRAME_MAX <= DART_PACKET_SOCKET_FRAME_MAX, "there is room");
	length = dart_journal_target__frame(&session->target, dart_packet_socket__mac(socket), list,
					    write, psn, dart_packet_socket__next(socket));
	return dart_packet_socket__push(socket, length);
}

/* WRITEs the batches that are not full. */
static int session__flush(struct session *session, struct dart_packet_socket *socket)
{
	struct dart_journal_write write;
	uint32_t list;
	int ret = 0;

	for (list = 0; session->appender && !ret && !(list >> session->target.geometry.lists_log2);
	     list++)
		if (dart_journal_appender__flush(session->appender, list, &write))
			ret = session__write(session, list, &write, socket);
	return ret;
}

/* Does so from time to time, so that no entry waits for others in its list. */
static int session__flush_in_time(struct session *session, struct dart_packet_socket *socket)
{
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	int ret = 0;

	if (session->flush_at && now < session->flush_at)
		return 0;
	if (session->flush_at)
		ret = session__flush(session, socket);
	session->flush_at = now + FLUSH_NS;
	return ret;
}

/* The share of the key chooses the list. */
static int session__append(struct session *session, const struct int_packet *packet,
			   struct dart_packet_socket *socket)
{
	const uint32_t lists = 1u << session->target.geometry.lists_log2;
	struct entry entry = { .time = htobe64(dart_clock__ns(CLOCK_REALTIME)) };
	struct dart_journal_write write;
	uint32_t list;
	int ret;

	if (packet->key_length != sizeof(entry.key)) {
		session->unassigned++;
		return 0;
	}
	memcpy(entry.key, packet->key, sizeof(entry.key));
	memcpy(entry.path, packet->path, sizeof(entry.path));
	list = dart_store__crc(DART_STORE_SHARE, entry.key, sizeof(entry.key)) & (lists - 1);
	session->entries++;
	if (dart_journal_appender__append(session->appender, list, &entry, &write)) {
		ret = session__write(session, list, &write, socket);
		if (ret)
			return ret;
	}
	return session__flush_in_time(session, socket);
}

static int send_packet(const struct int_packet *packet, const struct options *options,
		       struct dart_packet_socket *socket)
{
	struct dart_flow flow = { .hops = packet->hops };
	size_t length;

	memcpy(flow.key, packet->key, sizeof(flow.key));
	memcpy(flow.path, packet->path, sizeof(flow.path));
	length = int_packet__build(&flow, dart_packet_socket__mac(socket), options->int_port,
				   dart_packet_socket__next(socket));
	return dart_packet_socket__push(socket, length);
}

static int session__send_one(struct session *session, const struct options *options,
			     const struct int_packet *packet, struct dart_packet_socket *socket)
{
	if (session->counting.adder)
		return counting__add(&session->counting, packet->key, packet->key_length, 1,
				     socket);
	if (session->sketching.sketcher)
		return sketching__count(&session->sketching, packet->key, packet->key_length, 1,
					socket);
	if (session->appender)
		return session__append(session, packet, socket);
	if (session->builder)
		return session__report(session, options, packet, socket);
	return send_packet(packet, options, socket);
}

/* ---- packets that arrive */

/* Where the sums of the kernel go. */
struct live_sink {
	struct session *session;
	struct dart_packet_socket *socket;
};

static int take_sum(void *argument, const uint8_t *key, size_t length, uint64_t packets)
{
	const struct live_sink *sink = argument;

	sink->session->packets += packets;
	return counting__add(&sink->session->counting, key, length, packets, sink->socket);
}

/* Waits until @end, of CLOCK_MONOTONIC, and takes what the kernel counted since the last time. */
static int session__take_live(struct session *session, uint64_t end,
			      struct dart_packet_socket *socket)
{
	struct live_sink sink = { session, socket };

	if (session->sketching.sketcher)
		return sketching__take(&session->sketching, session->live, end, socket);
	return counting__run(&session->counting, end, socket) ?:
		       live__drain(session->live, take_sum, &sink);
}

/* A signal that ends the session. */
static bool has_ended(const sigset_t *signals)
{
	const struct timespec now = {};

	return sigtimedwait(signals, NULL, &now) > 0;
}

/* Counts until a signal comes, then adds what the kernel still has. */
static int session__count_live(struct session *session, struct dart_packet_socket *socket)
{
	const uint64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	uint64_t next = start;
	struct flow_counter_rest rest;
	sigset_t signals;
	int ret = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	while (!ret && !session->counting.has_given_up && !has_ended(&signals)) {
		next += LIVE_PERIOD_NS;
		ret = session__take_live(session, next, socket);
	}
	live__end(session->live);
	/*
	 * Each call empties the map that the program counted in since the last one.  A sketch does
	 * not get the present period, which is not whole.
	 */
	ret = ret ?: session__take_live(session, 0, socket);
	if (!ret && session->counting.adder)
		ret = counting__finish(&session->counting, socket);
	ret = ret ?: dart_packet_socket__flush(socket);
	rest = live__rest(session->live);
	session->others = rest.others;
	session->crowded = rest.crowded;
	session->packets += rest.counted;
	session->ns = dart_clock__ns(CLOCK_MONOTONIC) - start;
	session->frames = dart_packet_socket__sent(socket);
	session->refusals = dart_packet_socket__refusals(socket);
	return ret;
}

static int session__live(struct session *session, const struct options *options,
			 struct dart_packet_socket *socket, struct dart_error *error)
{
	const struct sketching *sketching = &session->sketching;
	int ret = live__open(options->live,
			     sketching->sketcher ? &sketching->target.geometry : NULL,
			     &session->live, error);

	if (ret)
		return ret;
	ret = session__count_live(session, socket);
	return ret ? dart_error__system(error, -ret, "cannot count the packets of '%s'",
					options->live) :
		     0;
}

/* ---- packets of the feed */

/* No packet comes for now.  Returns 0, or -errno of sending. */
static int session__idle(struct session *session, struct dart_packet_socket *socket)
{
	const uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	int ret;

	if (session->counting.adder)
		return counting__run(&session->counting, now + ANSWERS_NS, socket);
	if (session->sketching.sketcher)
		return sketching__idle(&session->sketching, socket);
	if (session->gathering.translator)
		return gathering__idle(&session->gathering, session->builder, socket);
	ret = session->appender ? session__flush_in_time(session, socket) : 0;
	return ret ?: dart_packet_socket__flush(socket);
}

/* Waits for a packet of the feed, and sends due reports meanwhile.  *@sent as below. */
static int session__await(struct session *session, const struct options *options,
			  const struct feed *feed, struct dart_packet_socket *socket, int *sent,
			  struct dart_error *error)
{
	int ret = 0;

	while (!ret && !*sent && !session->counting.has_given_up &&
	       !feed__await(feed, dart_clock__ns(CLOCK_MONOTONIC) + IDLE_NS)) {
		*sent = session__idle(session, socket);
		if (!*sent)
			ret = session__deliver(session, options, socket, error);
	}
	return ret;
}

/*
 * Passes the next packet or postcard of the feed on; *@sent becomes 0 or -errno of sending.
 * Returns what feed__next() does.
 */
static int session__pass(struct session *session, const struct options *options, struct feed *feed,
			 struct dart_packet_socket *socket, int *sent, struct dart_error *error)
{
	struct gathering *gathering = &session->gathering;
	struct dart_postcard postcard;
	struct int_packet packet;
	uint64_t ns;
	int ret;

	ret = session__await(session, options, feed, socket, sent, error);
	if (ret || *sent || session->counting.has_given_up)
		return ret ?: 1;
	ret = gathering->translator ? feed__next_postcard(feed, &postcard, &ns, error) :
				      feed__next(feed, &packet, error);
	if (ret <= 0)
		return ret;
	ret = session__deliver(session, options, socket, error);
	if (ret)
		return ret;
	session->packets++;
	*sent = gathering->translator ?
			gathering__add(gathering, &postcard, ns, session->builder, socket) :
			session__send_one(session, options, &packet, socket);
	return 1;
}

static int session__send(struct session *session, const struct options *options, struct feed *feed,
			 struct dart_packet_socket *socket, struct dart_error *error)
{
	const uint64_t start = dart_clock__ns(CLOCK_MONOTONIC);
	int ret = 0, sent = 0;

	if (session->sketching.sketcher)
		sketching__await_period(&session->sketching);
	while (!sent && !session->counting.has_given_up &&
	       (ret = session__pass(session, options, feed, socket, &sent, error)) > 0)
		;
	if (!sent && session->gathering.translator)
		sent = gathering__finish(&session->gathering, session->builder, socket);
	if (!sent && session->counting.adder)
		sent = counting__finish(&session->counting, socket);
	if (!sent && session->sketching.sketcher)
		sent = sketching__finish(&session->sketching, socket);
	if (!sent)
		sent = session__flush(session, socket);
	if (!sent && session->builder)
		sent = delivery__finish(&session->delivery, &session->collectors, session->builder,
					socket);
	if (!sent)
		sent = dart_packet_socket__flush(socket);
	session->ns = dart_clock__ns(CLOCK_MONOTONIC) - start;
	session->others = feed->others;
	session->tagged = feed->tagged;
	session->malformed = feed->malformed;
	session->frames = dart_packet_socket__sent(socket);
	session->refusals = dart_packet_socket__refusals(socket);
	/* The summary is right, too, if the adder has given up. */
	if (!sent)
		return ret < 0 ? ret : 0;
	return dart_error__system(error, -sent, "cannot send through '%s'", options->interface);
}

static int session__open_journal(struct session *session, const struct options *options,
				 struct in_addr address, struct dart_error *error)
{
	int ret = dart_journal_target__load(options->journal, address, &session->target, error);

	if (ret)
		return ret;
	if (session->target.geometry.entry_length < ENTRY_MIN)
		return dart_error__set(error, EINVAL,
				       "entries of journal '%s' have %u bytes, but a flow needs %zu",
				       session->target.collector.name,
				       session->target.geometry.entry_length, ENTRY_MIN);
	ret = dart_journal_appender__new(&session->target.geometry, dart_journal__start(),
					 &session->appender);
	return ret ? dart_error__set(error, -ret, "%s", strerror(-ret)) : 0;
}

static int session__init(struct session *session, const struct options *options,
			 struct dart_packet_socket *socket, struct dart_error *error)
{
	struct in_addr address = options->source;
	int ret;

	if (options->emit_int)
		return 0;
	if (!address.s_addr)
		address = dart_packet_socket__address(socket);
	if (!address.s_addr)
		return dart_error__set(error, EADDRNOTAVAIL,
				       "interface '%s' has no IPv4 address (add --source ADDRESS)",
				       options->interface);
	if (options->ledger)
		return counting__open(&session->counting, options->ledger, options->interface,
				      address, options->cache, options->follows, socket, error);
	if (options->sketch)
		return sketching__open(&session->sketching, options->sketch, address,
				       options->follows, error);
	if (options->follows) {
		ret = path_watch__open(&session->watch, options->collectors,
				       options->collector_files, error) ?:
			      path_watch__arm(&session->watch, error);
		if (ret)
			return ret;
	}
	if (options->journal)
		return session__open_journal(session, options, address, error);
	ret = dart_collectors__load(options->collectors, options->collector_files, address,
				    &session->collectors, error);
	if (ret)
		return ret;
	ret = dart_report_builder__new(&session->collectors, dart_packet_socket__mac(socket),
				       options->flows.seed, &session->builder);
	if (ret)
		return dart_error__set(error, -ret, "%s", strerror(-ret));
	ret = delivery__open(&session->delivery, &session->collectors, options->interface, error);
	if (ret)
		return ret;
	return options->postcard_port ?
		       gathering__open(&session->gathering, options, &session->collectors, error) :
		       0;
}

int session__run(struct session *session, const struct options *options, struct dart_error *error)
{
	struct dart_packet_socket *socket = NULL;
	struct feed *feed = NULL;
	int ret;

	memset(session, 0, sizeof(*session));
	ret = options->live ? 0 : feed__open(options, &feed, error);
	if (ret)
		return ret;
	ret = dart_packet_socket__open(options->interface, options->rate, &socket, error) ?:
		      session__init(session, options, socket, error);
	if (!ret)
		ret = options->live ? session__live(session, options, socket, error) :
				      session__send(session, options, feed, socket, error);
	dart_packet_socket__close(socket);
	feed__close(feed);
	return ret;
}

void session__clear(struct session *session)
{
	if (session->watch.paths)
		path_watch__close(&session->watch);
	live__close(session->live);
	counting__close(&session->counting);
	sketching__close(&session->sketching);
	gathering__close(&session->gathering);
	delivery__close(&session->delivery);
	dart_journal_appender__free(session->appender);
	dart_report_builder__free(session->builder);
	dart_collectors__free(&session->collectors);
}
