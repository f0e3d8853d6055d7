/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan of chosen series of other plans, with copies of their texts: so a few series of a large
 * plan outlive it.
 */
#ifndef CONTROLLER_PLAN_JOIN_H
#define CONTROLLER_PLAN_JOIN_H

#include "tools/controller/metrics/metric/metric.h"

/* Largest number of plans that the series come from. */
#define PLAN_JOIN_PLANS 2

/* A chosen series. */
struct plan_join_item {
	const struct metric_plan *plan;
	uint32_t series; /* index in @plan */
	uint32_t number; /* chosen by the caller */
};

/* Compares in the order of the series of a plan: by family, then by name and text. */
int plan_join__compare(const struct metric_plan *one, uint32_t series,
		       const struct metric_plan *other, uint32_t other_series);

/*
 * Returns the index of the series of @plan that equals @series of @of; UINT32_MAX if none exists.
 */
uint32_t plan_join__find(const struct metric_plan *plan, const struct metric_plan *of,
			 uint32_t series);

/*
 * Makes a plan of the @count items; of two equal items, the plan contains the one with the lesser
 * number. Sorts @items: then item i is series i of the plan. The caller is the holder of *@plan.
 * Returns 0 or -ENOMEM.
 */
int plan_join__new(struct plan_join_item *items, uint32_t count, struct metric_plan **plan);

#endif /* CONTROLLER_PLAN_JOIN_H */
