/* SPDX-License-Identifier: GPL-2.0-only */
/* The points of a target's series, and what is remembered between its scrapes. */
#ifndef CONTROLLER_POINTS_H
#define CONTROLLER_POINTS_H

#include "idle_times.h"
#include "plan.h"

/* All zeros is empty.  Used by one thread at a time. */
struct points {
	struct metric_point *points; /* of the last plan's series */
	int64_t *row_times; /* of its rows; 0: empty; below: torn */
	struct idle_times idle;
	uint64_t torn; /* samples so far that are missing because their row was torn */
};

/*
 * Makes room for all that points__evaluate() needs: called for each new plan, with a sample
 * that it fits.  Returns 0 or -ENOMEM, which leaves what was there.
 */
int points__prepare(struct points *points, const struct metric_plan *plan,
		    const struct sample *sample);
/* Without memory or texts: linear in series and terms.  @sample fits the plan. */
void points__evaluate(struct points *points, const struct metric_plan *plan,
		      const struct sample *sample);
void points__free(struct points *points);

#endif /* CONTROLLER_POINTS_H */
