/* SPDX-License-Identifier: GPL-2.0-only */
/* A sink that makes metrics from samples, for any number of outputs. */
#ifndef CONTROLLER_SINK_METRICS_H
#define CONTROLLER_SINK_METRICS_H

#include "tools/controller/decode/sink.h"
#include "tools/controller/settings/receiver_settings.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/metric/metric.h"

/* The exposition, the page, a dump, and receivers, which come while others are about to go. */
#define SINK_METRICS_OUTPUTS_MAX (3 + 2 * RECEIVERS_MAX)

/*
 * Takes ownership of the @count outputs at @outputs, and frees them with the sink, or at once if it
 * returns NULL because memory ran out; the array stays the caller's. @names may be NULL: then all
 * families are generic.
 */
struct sink *sink_metrics__new(struct names *names, struct metric_output *const *outputs,
			       size_t count);
/*
 * In the control loop: @output, which does not need to know of targets before they have metrics,
 * gets the next ones and belongs to the sink; or it gets no further ones and belongs to the caller.
 * Workers may use it until they have run all work that was handed over before.  At most
 * SINK_METRICS_OUTPUTS_MAX at a time.
 */
void sink_metrics__add(struct sink *sink, struct metric_output *output);
void sink_metrics__remove(struct sink *sink, const struct metric_output *output);
/*
 * From now on no output gets metrics of a target beyond @limits: its series end, and it is told as
 * down, until its table is within the limits again, or there is room among all series.  @say, if
 * not NULL, is called in any worker with the name of such a target and a sentence, when it begins
 * and when it ends.  Call it before the first sample.
 */
void sink_metrics__limit(struct sink *sink, const struct settings_limits *limits,
			 void (*say)(void *data, const char *target, const char *sentence),
			 void *data);
/*
 * From now on the plans of a target take its worker a part of its time at most, however fast its
 * series change: scrapes for which there was no plan have no metrics.  Not for a replay, which is
 * faster than its agents were.  Call it before the first sample.
 */
void sink_metrics__bound_plans(struct sink *sink);
/* Callable from any thread: those scrapes, so far. */
uint64_t sink_metrics__unplanned(const struct sink *sink);
/* Callable from any thread: series of all targets now, and targets beyond a limit. */
uint64_t sink_metrics__series(const struct sink *sink);
uint64_t sink_metrics__over_limit(const struct sink *sink);
/*
 * Callable from any thread: returns the number of labels of all targets that were renamed because
 * another label used their name.
 */
uint64_t sink_metrics__collided(const struct sink *sink);

#endif /* CONTROLLER_SINK_METRICS_H */
