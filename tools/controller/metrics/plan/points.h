/* SPDX-License-Identifier: GPL-2.0-only */
/* The points of a target's series, and the state kept between its scrapes. */
#ifndef CONTROLLER_POINTS_H
#define CONTROLLER_POINTS_H

#include "idle_times.h"
#include "plan.h"

/* Zeroed memory is empty. Used by one thread at a time. */
struct points {
	struct metric_point *points; /* of the series of the last plan */
	int64_t *row_times; /* of the plan's rows; 0: empty; negative: torn */
	struct idle_times idle;
	uint64_t torn; /* samples missing so far because their row was torn */
};

/*
 * Allocates everything that points__evaluate() needs: call it for each new plan, with a sample that
 * fits the plan. Returns 0; or -ENOMEM, and then leaves @points unchanged.
 */
int points__prepare(struct points *points, const struct metric_plan *plan,
		    const struct sample *sample);
/*
 * Evaluates the plan without allocating memory or formatting texts, in time linear in series and
 * terms. @sample fits the plan.
 */
void points__evaluate(struct points *points, const struct metric_plan *plan,
		      const struct sample *sample);
void points__free(struct points *points);

#endif /* CONTROLLER_POINTS_H */
