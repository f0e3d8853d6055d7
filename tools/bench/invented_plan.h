/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans of invented hosts, with the names of node_exporter and cAdvisor and some of ours,
 * and how the value of each series moves.
 */
#ifndef BENCH_INVENTED_PLAN_H
#define BENCH_INVENTED_PLAN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tools/controller/metrics/metric.h"

enum invented_shape {
	INVENTED_CONSTANT,	/* @base */
	INVENTED_WALK,		/* a gauge between 0 and 2 * @base */
	INVENTED_RATE,		/* a counter of about @base per second */
	INVENTED_RARE,		/* a counter that grows by one now and then */
	INVENTED_CPU,		/* seconds of CPU @unit in mode @part: see invented_host.c */
	INVENTED_BUCKET,	/* of a histogram of @base events per second, up to @limit */
};

struct invented_motion {
	enum invented_shape shape;
	double base;
	double limit;
	unsigned int unit, part;
};

struct invented_plan {
	struct metric_plan plan;
	atomic_uint references;
	struct invented_motion *motions; /* of each series */
	unsigned int cpus;
	void *made;		/* what it is built of */
};

struct invented_size {
	unsigned int cpus, containers;
	unsigned int series;	/* at least; filled up by families of no meaning */
	bool is_hostile;	/* labels with markup, control characters, and 255 characters */
};

/* One reference; NULL: out of memory. */
struct invented_plan *invented_plan__new(const struct invented_size *size);

#endif /* BENCH_INVENTED_PLAN_H */
