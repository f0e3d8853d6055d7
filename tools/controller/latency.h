/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long something takes, as a distribution of fixed size: buckets are
 * 1/128 of a power of two wide, so a percentile is right to within 0.8%.
 * The least and the greatest are exact.
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

/* The least value that @percent of all values do not exceed; 0 if none. */
uint64_t latency__percentile(const struct latency *latency,
			     unsigned int percent);

#endif /* CONTROLLER_LATENCY_H */
