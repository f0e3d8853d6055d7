/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timers of a thread, in a timing wheel.  In a thread with an event loop one source of the
 * loop drives the wheel, so that the timers of all targets need a single source and file
 * descriptor; a thread without a loop drives it itself.  Times are CLOCK_MONOTONIC; handlers run
 * in the thread.
 */
#ifndef CONTROLLER_TIMERS_H
#define CONTROLLER_TIMERS_H

#include <systemd/sd-event.h>

#include "wheel.h"

struct timers;

/* A member of the user's structure. */
struct timer {
	struct wheel_timer entry; /* first: timers.c casts it */
	struct timers *timers;
	void (*expired)(void *data);
	/* NULL, or set by the user after timer__init(): see TIMER_STEPS. */
	void (*ahead)(void *data, unsigned int step);
	void *data;
};

/*
 * Before expired() of several timers, ahead() of all of them is called with 0, then with 1, and so
 * on below TIMER_STEPS.  It asks for the memory that expired() will need, by dart_prefetch(), and
 * may read the memory that it asked for in the steps before.  The timer may be stopped in between.
 */
#define TIMER_STEPS 5

/* With a NULL @event, the thread must call timers__run().  Returns 0 or -errno. */
int timers__new(sd_event *event, struct timers **timers);
/* Call it when no timer is set. */
void timers__free(struct timers *timers);

/* When to call timers__run() next, in ns; UINT64_MAX: no timer is set. */
uint64_t timers__next_ns(const struct timers *timers);
/* Runs handlers of timers that expired by @now_ns: a limited number, the rest in later calls. */
void timers__run(struct timers *timers, uint64_t now_ns);

/* @expired may set, stop and free any timer. */
void timer__init(struct timer *timer, struct timers *timers, void (*expired)(void *data),
		 void *data);
/* Both may set a timer again that is set already. */
void timer__set_at(struct timer *timer, uint64_t due_ns);
void timer__set(struct timer *timer, uint64_t delay_us);
/* Does nothing if @timer is not set, or zeroed memory. */
void timer__stop(struct timer *timer);

#endif /* CONTROLLER_TIMERS_H */
