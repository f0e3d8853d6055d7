/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in ns as a histogram of fixed size: buckets are 1/128 of a power of two
 * wide, so percentiles are within 0.8%.  Minimum and maximum are exact.
 *
 * One thread adds; others may look at it meanwhile, and find it with the last time or
 * without.
 */
#ifndef CONTROLLER_LATENCY_H
#define CONTROLLER_LATENCY_H

#include <stdint.h>

#include "count.h"

#define LATENCY_BUCKETS (58 * 128)

struct latency {
	count_t count;
	count_t min;
	count_t max;
	_Atomic uint32_t buckets[LATENCY_BUCKETS];
};

void latency__add(struct latency *latency, uint64_t ns);

/* The least value that @percent of all do not exceed; 0 without values. */
uint64_t latency__percentile(const struct latency *latency,
			     unsigned int percent);

#endif /* CONTROLLER_LATENCY_H */
