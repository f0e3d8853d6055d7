/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hierarchical timing wheel (Varghese and Lauck, SOSP 1987, scheme 7) for tens of thousands of
 * timers; setting, cancelling and expiring one takes constant time.
 *
 * The wheel counts time in ticks.  A timer lies at the level of the highest digit, in base 64,
 * in which its tick differs from the current tick, in the slot of that digit.  When the current
 * tick reaches the slot, its timers move to lower levels or expire, so a timer moves at most
 * WHEEL_LEVELS - 1 times.
 *
 * The memory of many timers leaves the caches until they move: each timer names another, which was
 * probably placed behind it in the same slot, and is asked for some timers ahead.
 *
 * Pure code: it reads no clock, allocates nothing and takes no lock.  One thread uses a wheel.  It
 * is written by hand because I/O threads run without an event loop, must not allocate, and set
 * timers for up to 300,000 scrapes a second (Documentation/measurements.md); libraries such as
 * sd-event keep timers in a heap, which allocates and takes longer with each timer.
 */
#ifndef CONTROLLER_WHEEL_H
#define CONTROLLER_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define WHEEL_TICK_SHIFT 16 /* a tick is 2^16 ns, 66 us */
#define WHEEL_DIGIT_BITS 6
#define WHEEL_SLOTS (1 << WHEEL_DIGIT_BITS)
/* Enough levels for each tick of a time of 64 bits in ns. */
#define WHEEL_LEVELS ((64 - WHEEL_TICK_SHIFT) / WHEEL_DIGIT_BITS)
/* How many timers ahead the memory of one is asked for. */
#define WHEEL_AHEAD 8

struct wheel_timer;
TAILQ_HEAD(wheel_slot, wheel_timer);

/* The user provides zeroed memory, and leaves the members alone. */
struct wheel_timer {
	TAILQ_ENTRY(wheel_timer) place;
	uint64_t tick; /* when it expires */
	/* That was placed WHEEL_AHEAD timers later.  Never read: it may be gone. */
	const struct wheel_timer *later;
	uint32_t turn; /* of wheel.lately, where it was placed last */
	uint16_t slot; /* number of its slot, from 1; 0: not set */
};

struct wheel {
	uint64_t tick; /* the current tick, as of wheel__advance() */
	uint64_t used[WHEEL_LEVELS]; /* a bit for each slot that is not empty */
	struct wheel_slot expired; /* timers for wheel__take() */
	struct wheel_slot slots[WHEEL_LEVELS][WHEEL_SLOTS];
	/* Timers that were placed last, in turn; NULL: not set any more, or placed again. */
	struct wheel_timer *lately[WHEEL_AHEAD];
	uint32_t turn;
};

/* All times are ns of one clock that never goes back. */
void wheel__init(struct wheel *wheel, uint64_t now_ns);

/*
 * Sets @timer to expire at @due_ns, or up to a tick later.  A timer that was already set or
 * expired is set anew.
 */
void wheel__set(struct wheel *wheel, struct wheel_timer *timer, uint64_t due_ns);
/* Does nothing if the timer is not set. */
void wheel__cancel(struct wheel *wheel, struct wheel_timer *timer);

/* Lets all timers that are due by @now_ns expire; the caller gets them from wheel__take(). */
void wheel__advance(struct wheel *wheel, uint64_t now_ns);

/* True if no timer is set, and none waits for wheel__take(). */
bool wheel__is_empty(const struct wheel *wheel);

/* Returns an expired timer, which is not set any more, or NULL. */
struct wheel_timer *wheel__take(struct wheel *wheel);

/* Sets @timers to the next ones of wheel__take(), at most @max, which stay; returns how many. */
unsigned int wheel__expired(const struct wheel *wheel, struct wheel_timer *timers[],
			    unsigned int max);

/*
 * When to call wheel__advance() next; UINT64_MAX if no timer is set.  That call may only move
 * timers to lower levels, without any that expires.
 */
uint64_t wheel__next_ns(const struct wheel *wheel);

#endif /* CONTROLLER_WHEEL_H */
