/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An output without text: it processes each sample like outputs that show rates, up to the
 * formatting, counts samples, and compares one of check_every with the rule of its host.
 */
#ifndef BENCH_RATE_SINK_H
#define BENCH_RATE_SINK_H

#include "tools/controller/decode/sink.h"

/* Counts of one target; its worker writes. */
struct rate_tally {
	count_t samples;
	count_t checked; /* of them */
	count_t wrong; /* checked samples whose values break the rule */
	count_t torn; /* rows */
	count_t rates; /* of counters, above zero */
	count_t lost; /* times that the target was lost */
	/* The sum of all rates: unused, but the compiler cannot know. */
	double sum;
} __attribute__((aligned(64)));

struct rate_sink {
	struct sink sink; /* first */
	uint32_t check_every; /* one of this number of samples is checked */
	uint32_t count;
	struct rate_tally *tallies; /* by the index of the target */
};

/* Ends the program if out of memory. */
struct rate_sink *rate_sink__new(uint32_t targets, uint32_t check_every);
void rate_sink__free(struct rate_sink *sink);

/* Counts of all targets together; any thread may read them. */
struct rate_sums {
	uint64_t started; /* targets with samples */
	uint64_t samples, checked, wrong, torn, rates, lost;
};

struct rate_sums rate_sink__sums(const struct rate_sink *sink);

#endif /* BENCH_RATE_SINK_H */
