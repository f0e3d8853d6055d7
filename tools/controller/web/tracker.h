/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A selection that follows scrapes.  Its series keep the state that rates need when the plan
 * changes.
 */
#ifndef CONTROLLER_TRACKER_H
#define CONTROLLER_TRACKER_H

#include "selection.h"

/* Zeros before the first plan. */
struct tracker {
	struct metric_plan *plan; /* held */
	struct selection selection;
	struct point_state *states; /* of the selected series */
};

/* Returns 0; or -ENOMEM, and the tracker is without a plan. */
int tracker__set_plan(struct tracker *tracker, struct metric_plan *plan,
		      const struct selection_query *query);
/*
 * Takes the points of a scrape, which match the tracker's plan, and sets the sum of each group: NaN
 * if no series of the group got a point.  Returns the newest time of these points in microseconds;
 * 0 without points.
 */
int64_t tracker__take(struct tracker *tracker, const struct metric_point *points, double *sums);
void tracker__clear(struct tracker *tracker);

#endif /* CONTROLLER_TRACKER_H */
