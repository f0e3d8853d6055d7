/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which generations of the table can still be used: the present one, and those that it
 * has replaced less than a lease ago, because what it took back stays readable that long.
 * Only without a rewrite since then the places in them are those of the table.
 */
#ifndef GENERATIONS_H
#define GENERATIONS_H

#include <stdbool.h>
#include <stdint.h>

/* A generation is remembered every so often: an eighth of a lease. */
#define GENERATIONS_SAMPLES 8

struct generations {
	uint64_t now;
	uint64_t rewritten;	/* by which all places may have changed */
	/* Some of those since then, a ring: when they were published. */
	struct {
		uint64_t generation;
		int64_t published;	/* ns, CLOCK_BOOTTIME */
	} samples[GENERATIONS_SAMPLES];
	uint32_t samples_total;	/* so far */
};

/* @now_ns: CLOCK_BOOTTIME. */
void generations__publish(struct generations *generations, uint64_t generation,
			  bool is_rewritten, int64_t now_ns);
/* Can every place that @generation had be read now? */
bool generations__can_use(const struct generations *generations,
			  uint64_t generation, int64_t now_ns);

#endif /* GENERATIONS_H */
