/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generations of the table that can still be used: the present one, and generations that were
 * replaced less than a lease ago, because removed ranges stay readable that long.  A rewrite moves
 * entries to other places, so earlier generations cannot be used after it.
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
	/* When some of the generations since then were published: a ring. */
	struct {
		uint64_t generation;
		int64_t published;	/* ns, CLOCK_BOOTTIME */
	} samples[GENERATIONS_SAMPLES];
	uint32_t samples_total;	/* so far */
};

/* @now_ns: CLOCK_BOOTTIME. */
void generations__publish(struct generations *generations, uint64_t generation,
			  bool is_rewritten, int64_t now_ns);
/* True if every place of @generation can be read now. */
bool generations__can_use(const struct generations *generations,
			  uint64_t generation, int64_t now_ns);

#endif /* GENERATIONS_H */
