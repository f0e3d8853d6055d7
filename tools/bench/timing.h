/* SPDX-License-Identifier: GPL-2.0-only */
/* Measures how long a function takes that runs periodically. */
#ifndef BENCH_TIMING_H
#define BENCH_TIMING_H

#include <stdint.h>

struct timing {
	unsigned long count;
	unsigned long interval_ms;	/* between two starts */
};

/*
 * Parses --count and --interval, 100 and 100 ms by default.  Returns the index of
 * the first argument after them, or -1 if they are wrong.
 */
int timing__parse(struct timing *timing, int argc, char *argv[]);

uint64_t timing__now_ns(void);

/*
 * Calls @once, which returns a time in ns, until SIGTERM comes or it was called often enough, at
 * least once, and prints the count and percentiles as members of a JSON object.  Returns the
 * count.  Exits the program if out of memory.
 */
unsigned long timing__run(const struct timing *timing, uint64_t (*once)(void *context),
			  void *context);

#endif /* BENCH_TIMING_H */
