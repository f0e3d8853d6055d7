/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in ns as a histogram of fixed size, 6.4 kB, of which each target needs two.  Each power
 * of two up to 17 s is divided into 64 buckets of at least 16 ns; the last bucket counts all
 * longer times.  A percentile is the middle of its bucket, at most 0.8 % and 8 ns off; in the
 * last bucket it is the maximum.  Minimum and maximum are exact.
 *
 * When a bucket would overflow, after 2^32 times, all buckets are halved, so that old times
 * count less.
 *
 * One thread adds times.  Other threads may read meanwhile, and see the histogram with or
 * without the last time.
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
/* Asks for the memory of the bucket that latency__add() will need. */
void latency__ahead(const struct latency *latency, uint64_t ns);

/* The time that @percent of all times do not exceed, see above; 0 if no time was added. */
uint64_t latency__percentile(const struct latency *latency, unsigned int percent);

#endif /* CONTROLLER_LATENCY_H */
