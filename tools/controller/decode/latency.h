/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in ns as a histogram of fixed size: buckets are 1/128 of a power of two
 * wide, so percentiles are within 0.8%.  Minimum and maximum are exact.
 */
#ifndef CONTROLLER_LATENCY_H
#define CONTROLLER_LATENCY_H

#include <stdint.h>

#define LATENCY_BUCKETS (58 * 128)

struct latency {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint32_t buckets[LATENCY_BUCKETS];
};

void latency__add(struct latency *latency, uint64_t ns);

/* The least value that @percent of all do not exceed; 0 without values. */
uint64_t latency__percentile(const struct latency *latency,
			     unsigned int percent);

#endif /* CONTROLLER_LATENCY_H */
