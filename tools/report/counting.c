// SPDX-License-Identifier: GPL-2.0-only
/* Passes frames between an adder and the interface, and takes changes of its export over. */
#include <errno.h>
#include <string.h>

#include <libdart/clock.h>

#include "counting.h"

/* Amounts between two looks for answers that did not block. */
#define ANSWERS_EVERY 16

#define LOOK_NS UINT64_C(50000000)

/* ---- the queue pair */

/* Goes on with the present queue pair unless the file is of use. */
static int counting__reload(struct counting *counting, struct dart_error *error)
{
	struct dart_ledger_target target;
	struct dart_error reason;
	int ret;

	if (path_watch__wait(&counting->watch, -1, 0) != PATH_WATCH_CHANGED)
		return 0;
	ret = path_watch__arm(&counting->watch, error);
	if (ret)
		return ret;
	if (!dart_ledger_target__load(counting->path, counting->address, &target, &reason))
		dart_ledger_adder__renew(counting->adder, &target);
	return 0;
}

/* Takes changes over, and gives up without progress. */
static int counting__look(struct counting *counting, uint64_t now)
{
	const struct dart_ledger_adder_counts *counts = dart_ledger_adder__counts(counting->adder);
	struct dart_error error;
	int ret;

	if (now < counting->look_at)
		return 0;
	counting->look_at = now + LOOK_NS;
	if (counting->watch.paths) {
		ret = counting__reload(counting, &error);
		if (ret)
			return ret;
	}
	if (counts->executed != counting->executed || dart_ledger_adder__is_idle(counting->adder)) {
		counting->executed = counts->executed;
		counting->progress_at = now;
	}
	if (now - counting->progress_at < COUNTING_PATIENCE_NS &&
	    (counting->watch.paths || !dart_ledger_adder__is_broken(counting->adder)))
		return 0;
	dart_ledger_adder__give_up(counting->adder);
	counting->has_given_up = true;
	return 0;
}

/* ---- frames */

static int counting__send(struct counting *counting, struct dart_packet_socket *socket)
{
	int ret = 0;

	_Static_assert(DART_LEDGER_FRAME <= DART_PACKET_SOCKET_FRAME_MAX, "there is room");
	while (!ret && dart_ledger_adder__next(counting->adder, dart_clock__ns(CLOCK_MONOTONIC),
					       dart_packet_socket__next(socket)))
		ret = dart_packet_socket__push(socket, DART_LEDGER_FRAME);
	return ret ?: dart_packet_socket__flush(socket);
}

/* Takes all answers that are there; waits for the first one until @due. */
static int counting__receive(struct counting *counting, uint64_t due)
{
	uint8_t frame[DART_ANSWER_SOCKET_FRAME_MAX];
	int length;

	while ((length = dart_answer_socket__receive(counting->answers, due, frame)) > 0) {
		dart_ledger_adder__take(counting->adder, frame, length,
					dart_clock__ns(CLOCK_MONOTONIC));
		due = 0;
	}
	return length;
}

/* Sends and receives once; @waits: until an answer comes, or something has to be done. */
static int counting__turn(struct counting *counting, bool waits, struct dart_packet_socket *socket)
{
	uint64_t due = 0;
	int ret;

	ret = counting__look(counting, dart_clock__ns(CLOCK_MONOTONIC));
	ret = ret ?: counting__send(counting, socket);
	if (ret)
		return ret;
	if (waits) {
		due = dart_ledger_adder__due(counting->adder);
		if (due > counting->look_at)
			due = counting->look_at;
	}
	return counting__receive(counting, due);
}

/* ---- the feed */

int counting__add(struct counting *counting, const uint8_t *key, size_t length, uint64_t packets,
		  struct dart_packet_socket *socket)
{
	int ret = 0;

	while (!ret && !counting->has_given_up &&
	       dart_ledger_adder__add(counting->adder, key, length, packets,
				      dart_clock__ns(CLOCK_MONOTONIC)))
		ret = counting__turn(counting, true, socket);
	if (!ret && !counting->has_given_up)
		counting->packets += packets;
	if (ret || dart_ledger_adder__counts(counting->adder)->amounts % ANSWERS_EVERY)
		return ret;
	return counting__turn(counting, false, socket);
}

int counting__run(struct counting *counting, uint64_t end, struct dart_packet_socket *socket)
{
	uint64_t now = dart_clock__ns(CLOCK_MONOTONIC);
	int ret = 0;

	while (!ret && !counting->has_given_up && now < end) {
		dart_ledger_adder__flush(counting->adder, false, now);
		ret = counting__turn(counting, true, socket);
		now = dart_clock__ns(CLOCK_MONOTONIC);
	}
	return ret;
}

int counting__finish(struct counting *counting, struct dart_packet_socket *socket)
{
	bool is_done = false;
	int ret = 0;

	while (!ret && !counting->has_given_up && !is_done) {
		is_done = dart_ledger_adder__flush(counting->adder, true,
						   dart_clock__ns(CLOCK_MONOTONIC)) &&
			  dart_ledger_adder__is_idle(counting->adder);
		if (!is_done)
			ret = counting__turn(counting, true, socket);
	}
	return ret;
}

/* ---- life */

int counting__open(struct counting *counting, const char *path, const char *interface,
		   struct in_addr address, uint32_t rows, bool follows,
		   struct dart_packet_socket *socket, struct dart_error *error)
{
	struct dart_ledger_target target;
	int ret;

	counting->path = path;
	counting->address = address;
	counting->progress_at = dart_clock__ns(CLOCK_MONOTONIC);
	if (follows) {
		ret = path_watch__open(&counting->watch, &counting->path, 1, error) ?:
			      path_watch__arm(&counting->watch, error);
		if (ret)
			return ret;
	}
	ret = dart_ledger_target__load(path, address, &target, error) ?:
		      dart_answer_socket__open(interface, &counting->answers, error);
	if (ret)
		return ret;
	counting->address = target.collector.reporter;
	ret = dart_ledger_adder__new(&target, dart_packet_socket__mac(socket), rows,
				     &counting->adder);
	return ret ? dart_error__set(error, -ret, "%s", strerror(-ret)) : 0;
}

void counting__close(struct counting *counting)
{
	if (counting->watch.paths)
		path_watch__close(&counting->watch);
	dart_ledger_adder__free(counting->adder);
	dart_answer_socket__close(counting->answers);
}
