/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds the messages that one host, receiver or disk can cause in a period.  Without a bound one
 * of them that changes all the time fills the log, or its queue, and the messages of others are
 * lost.
 */
#ifndef CONTROLLER_FEW_H
#define CONTROLLER_FEW_H

#include <stdbool.h>
#include <stdint.h>

/* Of one thread, or under a lock.  Zeroed memory: nothing was said. */
struct few {
	uint64_t until_ns; /* CLOCK_MONOTONIC: end of the period */
	unsigned int said; /* messages in it */
	uint64_t left_out; /* messages since the last one that was said */
};

/*
 * True if the caller should say a message now, at @now_ns of CLOCK_MONOTONIC: at most @most in
 * each period of @period_ns.  Then sets @left_out to the number of messages that were left out
 * since the last one, for the caller to say.
 */
static inline bool few__take(struct few *few, uint64_t now_ns, unsigned int most,
			     uint64_t period_ns, uint64_t *left_out)
{
	if (now_ns >= few->until_ns) {
		few->until_ns = now_ns + period_ns;
		few->said = 0;
	}
	if (few->said == most) {
		few->left_out++;
		return false;
	}
	few->said++;
	*left_out = few->left_out;
	few->left_out = 0;
	return true;
}

#endif /* CONTROLLER_FEW_H */
