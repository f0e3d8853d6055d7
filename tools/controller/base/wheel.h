/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hierarchical timing wheel (Varghese and Lauck, SOSP 1987, scheme 7): tens of thousands
 * of timers, of which each is set, cancelled and expires in constant time.
 *
 * Time is counted in ticks.  A timer lies at the level of the highest digit, in base 64,
 * in which its tick differs from the present one, in the slot of that digit.  When the
 * present reaches the slot, its timers move to lower levels or expire, so a timer moves
 * WHEEL_LEVELS - 1 times at most.
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
/* All ticks of 64 bits of ns. */
#define WHEEL_LEVELS ((64 - WHEEL_TICK_SHIFT) / WHEEL_DIGIT_BITS)

struct wheel_timer;
TAILQ_HEAD(wheel_slot, wheel_timer);

/* Belongs to its user, who leaves the members alone, in zeroed memory. */
struct wheel_timer {
	TAILQ_ENTRY(wheel_timer) place;
	struct wheel_slot *slot; /* NULL: not set */
	uint64_t tick; /* expires when this is the present or past */
};

struct wheel {
	uint64_t tick; /* the present */
	uint64_t used[WHEEL_LEVELS]; /* a bit for each slot that has timers */
	struct wheel_slot slots[WHEEL_LEVELS][WHEEL_SLOTS];
	struct wheel_slot expired; /* not taken so far */
};

/* All times are ns of one clock that never goes back. */
void wheel__init(struct wheel *wheel, uint64_t now_ns);

/*
 * Sets @timer, also if it is set or has expired already.  It expires at @due_ns or up to
 * a tick later.
 */
void wheel__set(struct wheel *wheel, struct wheel_timer *timer, uint64_t due_ns);
/* Also of a timer that is not set. */
void wheel__cancel(struct wheel *wheel, struct wheel_timer *timer);

/* Lets timers expire until @now_ns; take them with wheel__take(). */
void wheel__advance(struct wheel *wheel, uint64_t now_ns);

/* Is no timer set? */
bool wheel__is_empty(const struct wheel *wheel);

/* A timer that has expired and is not set any more, or NULL. */
struct wheel_timer *wheel__take(struct wheel *wheel);

/*
 * When to call wheel__advance() next, UINT64_MAX if no timer is set.  It may let nothing
 * expire then: far timers come closer first.
 */
uint64_t wheel__next_ns(const struct wheel *wheel);

#endif /* CONTROLLER_WHEEL_H */
