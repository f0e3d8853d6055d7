/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A host with invented values, which move like the values of real hosts, and alike from
 * the same seed.
 */
#ifndef BENCH_INVENTED_HOST_H
#define BENCH_INVENTED_HOST_H

#include "tools/lib/dart/random.h"

#include "invented_plan.h"

#define INVENTED_CPUS_MAX 64

struct invented_host {
	struct invented_plan *plan; /* held */
	struct dart_random random;
	struct metric_point *points;
	double load;		/* the busy share, of 1 */
	double busy[INVENTED_CPUS_MAX];
	int64_t time_ns;	/* of the points */
};

/* Returns 0 or -ENOMEM. */
int invented_host__init(struct invented_host *host, struct invented_plan *plan, uint64_t seed);
void invented_host__clear(struct invented_host *host);
/* Sets the points of a scrape at @time_ns. */
void invented_host__move(struct invented_host *host, int64_t time_ns);

#endif /* BENCH_INVENTED_HOST_H */
