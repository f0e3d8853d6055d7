/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that makes metrics from samples, for any number of outputs. */
#ifndef CONTROLLER_SINK_METRICS_H
#define CONTROLLER_SINK_METRICS_H

#include "tools/controller/decode/sink.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/metric/metric.h"

/*
 * Takes ownership of the @count outputs at @outputs, and frees them with the sink, or at once if it
 * returns NULL because memory ran out; the array stays the caller's. @names may be NULL: then all
 * families are generic.
 */
struct sink *sink_metrics__new(struct names *names, struct metric_output *const *outputs,
			       size_t count);
/*
 * Callable from any thread: returns the number of labels of all targets that were renamed because
 * another label used their name.
 */
uint64_t sink_metrics__collided(const struct sink *sink);

#endif /* CONTROLLER_SINK_METRICS_H */
