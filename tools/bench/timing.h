/* SPDX-License-Identifier: GPL-2.0-only */
/* One thing done again and again, and how long it takes. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>

struct timing {
	unsigned long count;
	unsigned long interval_ms;	/* from a start to the next */
};

/*
 * Takes --count and --interval from the command line, 100 times and 100 ms if
 * they are not there.  Returns the index of the first argument behind them, -1 if
 * they are wrong.
 */
int timing__parse(struct timing *timing, int argc, char *argv[]);

uint64_t timing__now_ns(void);

/*
 * Calls @once so many times and prints, as members of a JSON object, how many and
 * the percentiles of what it returns, which is ns.  Returns 0 or -ENOMEM.
 */
int timing__run(const struct timing *timing, uint64_t (*once)(void *context),
		void *context);

#endif /* BENCH_TIMING_H */
