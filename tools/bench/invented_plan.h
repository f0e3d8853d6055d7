/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans of invented hosts, with the names of node_exporter and cAdvisor and some of ours,
 * and how the value of each series moves.
 */
#ifndef BENCH_INVENTED_PLAN_H
#define BENCH_INVENTED_PLAN_H

#include <stdatomic.h>

#include "tools/controller/metrics/metric/metric.h"

#include "invented_contents.h"
#include "invented_motion.h"

struct invented_plan {
	struct metric_plan plan;
	atomic_uint references;
	struct invented_motion *motions; /* of each series */
	unsigned int cpus;
	void *made;		/* the parts that it is built of */
};

/* One reference; NULL: out of memory. */
struct invented_plan *invented_plan__new(const struct invented_size *size);

#endif /* BENCH_INVENTED_PLAN_H */
