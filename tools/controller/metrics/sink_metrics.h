/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that makes metrics of samples, for any number of outputs. */
#ifndef CONTROLLER_SINK_METRICS_H
#define CONTROLLER_SINK_METRICS_H

#include "tools/controller/decode/sink.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/metric/metric.h"

/*
 * Takes the @count outputs at @outputs, which are freed with the sink, also if it is NULL for
 * want of memory; the array is the caller's.  @names may be NULL: all are generic.
 */
struct sink *sink_metrics__new(struct names *names, struct metric_output *const *outputs,
			       size_t count);
/* In any thread: labels of all targets that have another name for a label that had theirs. */
uint64_t sink_metrics__collided(const struct sink *sink);

#endif /* CONTROLLER_SINK_METRICS_H */
