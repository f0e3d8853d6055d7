/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan of chosen series of other plans, which has copies of their texts: so a few series of a
 * large plan outlive it.
 */
#ifndef CONTROLLER_PLAN_JOIN_H
#define CONTROLLER_PLAN_JOIN_H

#include "tools/controller/metrics/metric/metric.h"

/* Of so many plans at most. */
#define PLAN_JOIN_PLANS 2

/* A series that is chosen. */
struct plan_join_item {
	const struct metric_plan *plan;
	uint32_t series; /* index */
	uint32_t number; /* of the caller */
};

/* As that of the series in a plan: by family, then by name and text. */
int plan_join__compare(const struct metric_plan *one, uint32_t series,
		       const struct metric_plan *other, uint32_t other_series);

/* The index of the series that is equal to @series of @of; UINT32_MAX: @plan has none. */
uint32_t plan_join__find(const struct metric_plan *plan, const struct metric_plan *of,
			 uint32_t series);

/*
 * Makes a plan of the @count items, of which it leaves one of each two that are equal, the one
 * with the lesser number.  @items are sorted: item i is series i of the plan then.  The caller
 * is the holder of *@plan.  Returns 0 or -ENOMEM.
 */
int plan_join__new(struct plan_join_item *items, uint32_t count, struct metric_plan **plan);

#endif /* CONTROLLER_PLAN_JOIN_H */
