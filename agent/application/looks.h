/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks at all processes of the host, and when the next one is due: at once after an event that
 * tells of unknown processes, or after a time that grows from look to look.
 *
 * A look reads a file of each process in the event loop, and users decide how often programs start
 * and end.  So dartd rests after each look for several times as long as the look has taken.
 *
 * Times are microseconds of CLOCK_MONOTONIC, which the caller reads.
 */
#ifndef APPLICATION_LOOKS_H
#define APPLICATION_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

/* Between two looks, when no event tells of processes. */
#define LOOK_US (10 * UINT64_C(1000000))
/* After an event that has told of processes not long ago. */
#define LOOK_FIRST_US 100000
/* A rest is this many times as long as the look before. */
#define LOOK_RESTS 9

struct looks {
	bool are_due; /* at once, but for the rest */
	bool come_soon; /* at @due */
	/* The next look examines all processes, also those that started before the last look. */
	bool take_all;
	uint64_t delay; /* until the next look, which comes ever later */
	uint64_t due, last; /* the next look, and the beginning of the last one */
	uint64_t rest_until;
};

void looks__init(struct looks *looks);
/* An event tells that new processes may be unknown. */
void looks__ask_at_once(struct looks *looks);
/* The same, but not at once: the later, the more often this is called. */
void looks__ask_soon(struct looks *looks, uint64_t now);
/*
 * us until the next look; 0: now; UINT64_MAX: none is needed.  @are_needed: no event tells of all
 * processes, so that looks go on.
 */
uint64_t looks__delay(const struct looks *looks, bool are_needed, uint64_t now);
/* A look begins, or has ended. */
void looks__begin(struct looks *looks, uint64_t now);
void looks__end(struct looks *looks, uint64_t now);

#endif /* APPLICATION_LOOKS_H */
