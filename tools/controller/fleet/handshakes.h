/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many targets connect at the same time: a bounded number get a place, the others wait in line,
 * in order of arrival.  A handshake is all from the name of a host to its first
 * table.
 *
 * Each takes the control loop about a millisecond, for a queue pair and for memory that is
 * registered and decoded from.  If a thousand began at once, each would wait for all others
 * between its own steps: agents would give up, the deadline of this end would pass, and the
 * clocks of hosts, which a handshake compares to half of its length, would be as uncertain.
 *
 * Hosts that do not answer cost nothing but time, so a handshake keeps its place for
 * HANDSHAKES_PLACE_NS at most, and goes on without it; but while the control loop itself is late,
 * by HANDSHAKES_TOLERANCE_NS, no handshake loses its place.
 *
 * Targets whose last handshake failed wait in a line of their own, and get three quarters of the
 * places at most: the other line, of new targets and targets that were up until now, goes first,
 * except one time in HANDSHAKES_PATIENCE.  A target decides when it comes back: later after each
 * failure, half of that time at random.
 *
 * All of it in the control loop.
 */
#ifndef CONTROLLER_HANDSHAKES_H
#define CONTROLLER_HANDSHAKES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "tools/controller/base/timers.h"

#define HANDSHAKES_PLACE_NS 1000000000ULL
#define HANDSHAKES_TOLERANCE_NS 100000000ULL
#define HANDSHAKES_PATIENCE 8

enum handshake_state {
	HANDSHAKE_NONE,
	HANDSHAKE_WAITING, /* in line */
	HANDSHAKE_BEGUN, /* with a place */
	HANDSHAKE_LATE, /* begun, and without a place now */
};

/* A member of its user's structure, in zeroed memory, who sets begin(). */
struct handshake {
	void (*begin)(struct handshake *handshake);
	/* Not its user's. */
	enum handshake_state state;
	bool is_again; /* in the line of failed targets */
	uint64_t begun_ns;
	TAILQ_ENTRY(handshake) place;
};

TAILQ_HEAD(handshake_line, handshake);

struct handshakes {
	unsigned int max;
	unsigned int begun_count;
	unsigned int again_count; /* of them, that failed before */
	struct handshake_line begun; /* with a place, the first to begin first */
	struct handshake_line lines[2]; /* the second: of failed targets */
	unsigned int passed_over; /* by the first line, one after the other */
	bool is_beginning;
	uint64_t late; /* handshakes that lost their places so far */
	uint64_t due_ns; /* of the timer */
	uint64_t forgiven_ns; /* the loop was late until then */
	struct timer timer;
};

/* At most @max at the same time, from 1 on. */
void handshakes__open(struct handshakes *handshakes, struct timers *timers, unsigned int max);
/* No other begins, whoever ends from now on; also of zeros. */
void handshakes__close(struct handshakes *handshakes);

/*
 * Calls begin() once, now or later.  @again: the last handshake failed.  A handshake in line stays
 * where it is; one that already began begins again at once.
 */
void handshakes__ask(struct handshakes *handshakes, struct handshake *handshake, bool again);
/* The handshake ended, or nobody wants it any more; in any state.  Others may begin. */
void handshakes__end(struct handshakes *handshakes, struct handshake *handshake);

#endif /* CONTROLLER_HANDSHAKES_H */
