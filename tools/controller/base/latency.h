/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in ns as a histogram of fixed size, 6.4 kB: each target has two.  A power of two
 * has 64 buckets, of 16 ns at least, up to 17 s, and one more all that is longer.  A
 * percentile is the middle of its bucket: at most 0.8 % and 8 ns off, but for that last
 * one, which is given as the maximum.  Minimum and maximum are exact.
 *
 * Before a bucket overflows, after 2^32 times, all are halved: what was long ago counts
 * less.
 *
 * One thread adds; others may look at it meanwhile, and find it with the last time or
 * without.
 */
#ifndef CONTROLLER_LATENCY_H
#define CONTROLLER_LATENCY_H

#include <stdint.h>

#include "count.h"

#define LATENCY_BUCKETS (25 * 64)

struct latency {
	count_t count;
	count_t min;
	count_t max;
	_Atomic uint32_t buckets[LATENCY_BUCKETS];
};

void latency__add(struct latency *latency, uint64_t ns);

/* The time that @percent of all do not exceed, see above; 0 without values. */
uint64_t latency__percentile(const struct latency *latency, unsigned int percent);

#endif /* CONTROLLER_LATENCY_H */
