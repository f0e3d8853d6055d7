/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits of the plan of a target, and what stays in memory of a plan that is beyond one: enough to
 * refuse further samples of it, without its series, of which there may be a million.
 */
#ifndef CONTROLLER_PLAN_LIMITS_H
#define CONTROLLER_PLAN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tools/controller/decode/sample.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/settings/settings.h"

/*
 * Compares @plan with the limits of a single target.  Returns 0, or -E2BIG with a sentence in
 * @reason.
 */
int plan_limits__check(const struct settings_limits *limits, const struct metric_plan *plan,
		       struct dart_error *reason);
/*
 * Compares the series of all targets with their limit, of which a plan has @series.  Returns as
 * plan_limits__check().
 */
int plan_limits__check_sum(const struct settings_limits *limits, uint64_t sum, uint32_t series,
			   struct dart_error *reason);

struct refused_plan;

/* Remembers that @plan is beyond @limits for @reason.  NULL if out of memory. */
struct refused_plan *refused_plan__new(const struct metric_plan *plan,
				       const struct settings_limits *limits,
				       const struct dart_error *reason);
/* @refused may be NULL. */
void refused_plan__free(struct refused_plan *refused);

/*
 * Is the plan of @sample the refused one, and still beyond the limits?  Then returns -E2BIG with a
 * sentence in @reason; otherwise 0: it is worth a new plan.  @others are the series of all other
 * targets; @refused may be NULL.
 */
int refused_plan__check(const struct refused_plan *refused, const struct sample *sample,
			const struct settings_limits *limits, uint64_t others,
			struct dart_error *reason);

#endif /* CONTROLLER_PLAN_LIMITS_H */
