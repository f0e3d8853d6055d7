/* SPDX-License-Identifier: GPL-2.0-only */
/* A selection that follows scrapes: its series keep what rates need when the plan changes. */
#ifndef CONTROLLER_TRACKER_H
#define CONTROLLER_TRACKER_H

#include "selection.h"

/* Zeros before the first plan. */
struct tracker {
	struct metric_plan *plan; /* held */
	struct selection selection;
	struct point_state *states; /* of its series */
};

/* Returns 0 or -ENOMEM; then there is no plan. */
int tracker__set_plan(struct tracker *tracker, struct metric_plan *plan,
		      const struct selection_query *query);
/*
 * Takes the points of a scrape with its plan, and sets the sum of each group: NaN if none
 * of its series has a point.  Returns the time of the newest of their points in
 * microseconds, or 0.
 */
int64_t tracker__take(struct tracker *tracker, const struct metric_point *points, double *sums);
void tracker__clear(struct tracker *tracker);

#endif /* CONTROLLER_TRACKER_H */
