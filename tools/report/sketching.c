// SPDX-License-Identifier: GPL-2.0-only
/* Passes strips from a sketcher to the interface. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <libdart/clock.h>

#include "sketching.h"

#define NS_PER_S UINT64_C(1000000000)

/* How long a clock that was set back stays unnoticed. */
#define LOOK_NS (NS_PER_S / 2)

static void wait_until(uint64_t monotonic_ns)
{
	const struct timespec end = { monotonic_ns / NS_PER_S, monotonic_ns % NS_PER_S };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) == EINTR)
		;
}

/* ns of the present period that are left; 0: the clock is after it, or was set to before it. */
static uint64_t left_of_period(const struct sketching *sketching)
{
	const uint64_t end = dart_sketcher__end(sketching->sketcher);
	const uint64_t now = dart_clock__ns(CLOCK_REALTIME);

	if (now >= end || end - now > sketching->target.geometry.period * NS_PER_S)
		return 0;
	return end - now;
}

static void wait_for_period(const struct sketching *sketching)
{
	uint64_t left;

	while ((left = left_of_period(sketching)))
		wait_until(dart_clock__ns(CLOCK_MONOTONIC) + (left < LOOK_NS ? left : LOOK_NS));
}

static void sketching__turn(struct sketching *sketching)
{
	dart_sketcher__turn(sketching->sketcher, dart_clock__ns(CLOCK_REALTIME),
			    dart_clock__ns(CLOCK_MONOTONIC));
	if (!sketching->first_period && dart_sketcher__is_whole(sketching->sketcher))
		sketching->first_period = dart_sketcher__end(sketching->sketcher) / NS_PER_S /
						  sketching->target.geometry.period -
					  1;
}

static bool is_same_sketch(const struct dart_sketch_geometry *a,
			   const struct dart_sketch_geometry *b)
{
	return a->kind == b->kind && a->rows == b->rows && a->columns_log2 == b->columns_log2 &&
	       a->period == b->period;
}

/* Goes on with the present queue pair unless the file is of use. */
static int sketching__reload(struct sketching *sketching)
{
	struct dart_sketch_target target;
	struct dart_error reason;
	int ret;

	if (!sketching->watch.paths ||
	    path_watch__wait(&sketching->watch, -1, 0) != PATH_WATCH_CHANGED)
		return 0;
	ret = path_watch__arm(&sketching->watch, &reason);
	if (ret)
		return ret;
	if (dart_sketch_target__load(sketching->path, sketching->address, &target, &reason) ||
	    !is_same_sketch(&target.geometry, &sketching->target.geometry) ||
	    !memcmp(&target.collector, &sketching->target.collector, sizeof(target.collector)))
		return 0;
	sketching->target = target;
	sketching->former = dart_sketcher__counts(sketching->sketcher)->strips;
	sketching->renewals++;
	return 0;
}

/* WRITEs all strips that are due; the socket keeps to the rate. */
static int sketching__send(struct sketching *sketching, struct dart_packet_socket *socket)
{
	const struct dart_sketcher_counts *counts = dart_sketcher__counts(sketching->sketcher);
	struct dart_sketch_write write;
	size_t length;
	uint32_t psn;
	int ret;

	_Static_assert(DART_SKETCH_FRAME_MAX <= DART_PACKET_SOCKET_FRAME_MAX, "there is room");
	if (!dart_sketcher__due(sketching->sketcher))
		return 0;
	/* The collector may start again while strips are sent, which takes long at a low rate. */
	while (dart_sketcher__due(sketching->sketcher)) {
		ret = sketching__reload(sketching);
		if (ret)
			return ret;
		dart_sketcher__next(sketching->sketcher, &write);
		psn = sketching->target.collector.first_psn + counts->strips - 1 -
		      sketching->former;
		length = dart_sketch_target__frame(&sketching->target,
						   dart_packet_socket__mac(socket), &write, psn,
						   dart_packet_socket__next(socket));
		ret = dart_packet_socket__push(socket, length);
		if (ret)
			return ret;
	}
	return dart_packet_socket__flush(socket);
}

void sketching__await_period(struct sketching *sketching)
{
	while (!dart_sketcher__is_whole(sketching->sketcher)) {
		wait_for_period(sketching);
		sketching__turn(sketching);
	}
}

int sketching__idle(struct sketching *sketching, struct dart_packet_socket *socket)
{
	sketching__turn(sketching);
	return sketching__send(sketching, socket);
}

int sketching__count(struct sketching *sketching, const uint8_t *key, size_t length,
		     uint64_t packets, struct dart_packet_socket *socket)
{
	int ret = sketching__idle(sketching, socket);

	if (ret)
		return ret;
	sketching->packets += packets;
	dart_sketcher__count(sketching->sketcher, key, length,
			     packets < UINT32_MAX ? packets : UINT32_MAX);
	return 0;
}

int sketching__take(struct sketching *sketching, struct live *live, uint64_t end,
		    struct dart_packet_socket *socket)
{
	int ret;

	wait_until(end);
	if (left_of_period(sketching))
		return 0;
	/* The packets that came since then are in the period that has ended. */
	ret = live__drain_columns(live, sketching->sketcher);
	if (ret)
		return ret;
	sketching->packets = live__rest(live).counted;
	sketching__turn(sketching);
	return sketching__send(sketching, socket);
}

int sketching__finish(struct sketching *sketching, struct dart_packet_socket *socket)
{
	int ret = sketching__idle(sketching, socket);

	if (ret)
		return ret;
	wait_for_period(sketching);
	return sketching__idle(sketching, socket);
}

int sketching__open(struct sketching *sketching, const char *path, struct in_addr address,
		    bool follows, struct dart_error *error)
{
	int ret;

	sketching->path = path;
	if (follows) {
		ret = path_watch__open(&sketching->watch, &sketching->path, 1, error) ?:
			      path_watch__arm(&sketching->watch, error);
		if (ret)
			return ret;
	}
	ret = dart_sketch_target__load(path, address, &sketching->target, error);
	if (ret)
		return ret;
	sketching->address = sketching->target.collector.reporter;
	ret = dart_sketcher__new(&sketching->target.geometry, &sketching->sketcher);
	if (ret)
		return dart_error__set(error, -ret, "%s", strerror(-ret));
	sketching__turn(sketching);
	return 0;
}

void sketching__close(struct sketching *sketching)
{
	if (sketching->watch.paths)
		path_watch__close(&sketching->watch);
	dart_sketcher__free(sketching->sketcher);
}
