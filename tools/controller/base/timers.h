/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timers of a thread: a timing wheel, which one source of its event loop drives, so that
 * the loop has a single source and file descriptor for the timers of all targets; or the
 * thread itself, if it has no such loop.  Times are CLOCK_MONOTONIC; handlers run in the
 * thread.
 */
#ifndef CONTROLLER_TIMERS_H
#define CONTROLLER_TIMERS_H

#include <systemd/sd-event.h>

#include "wheel.h"

struct timers;

/* A member of its user's structure. */
struct timer {
	struct wheel_timer entry; /* first: timers.c casts it */
	struct timers *timers;
	void (*expired)(void *data);
	void *data;
};

/* Without an @event the thread calls timers__run().  Returns 0 or -errno. */
int timers__new(sd_event *event, struct timers **timers);
/* No timer may be set. */
void timers__free(struct timers *timers);

/* When to call timers__run() next, in ns; UINT64_MAX: no timer is set. */
uint64_t timers__next_ns(const struct timers *timers);
/* Runs the handlers of timers that have expired by @now_ns; some wait for the next call. */
void timers__run(struct timers *timers, uint64_t now_ns);

/* @expired may set, stop and free any timer. */
void timer__init(struct timer *timer, struct timers *timers, void (*expired)(void *data),
		 void *data);
/* Both also if @timer is set already. */
void timer__set_at(struct timer *timer, uint64_t due_ns);
void timer__set(struct timer *timer, uint64_t delay_us);
/* Also if @timer is not set, or all zeros. */
void timer__stop(struct timer *timer);

#endif /* CONTROLLER_TIMERS_H */
