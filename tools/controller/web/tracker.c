// SPDX-License-Identifier: GPL-2.0-only
/* Follows a selection from scrape to scrape: see tracker.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tracker.h"

static int compare_series(const struct metric_plan *one, uint32_t i,
			  const struct metric_plan *other, uint32_t j)
{
	return strcmp(one->series[i].name, other->series[j].name) ?:
		       strcmp(one->series[i].text, other->series[j].text);
}

/* Copies the states of series that both plans contain. Both lists are sorted alike. */
static void take_over(struct tracker *tracker, const struct tracker *before)
{
	uint32_t i = 0, j = 0;
	int order;

	while (i < tracker->selection.count && j < before->selection.count) {
		order = compare_series(tracker->plan, tracker->selection.series[i], before->plan,
				       before->selection.series[j]);
		if (!order)
			tracker->states[i] = before->states[j];
		if (order <= 0)
			i++;
		if (order >= 0)
			j++;
	}
}

int tracker__set_plan(struct tracker *tracker, struct metric_plan *plan,
		      const struct selection_query *query)
{
	struct tracker before = *tracker;
	int ret;

	*tracker = (struct tracker){ .plan = metric_plan__get(plan) };
	ret = selection__make(plan, query, &tracker->selection);
	if (!ret) {
		tracker->states = calloc(tracker->selection.count ?: 1, sizeof(*tracker->states));
		ret = tracker->states ? 0 : -ENOMEM;
	}
	if (ret)
		tracker__clear(tracker);
	else if (before.plan)
		take_over(tracker, &before);
	tracker__clear(&before);
	return ret;
}

int64_t tracker__take(struct tracker *tracker, const struct metric_point *points, double *sums)
{
	const struct selection *selection = &tracker->selection;
	const struct metric_point *point;
	int64_t time_us, newest_us = 0;
	double result, *sum;
	uint32_t i;

	for (i = 0; i < selection->group_count; i++)
		sums[i] = NAN;
	for (i = 0; i < selection->count; i++) {
		point = &points[selection->series[i]];
		time_us = point->time_ns / 1000;
		if (time_us > newest_us)
			newest_us = time_us;
		if (!time_us ||
		    !point_state__take(&tracker->states[i], &selection->rule, time_us, point->value,
				       &result) ||
		    isnan(result))
			continue;
		sum = &sums[selection->group_of[i]];
		*sum = isnan(*sum) ? result : *sum + result;
	}
	return newest_us;
}

void tracker__clear(struct tracker *tracker)
{
	if (tracker->plan)
		metric_plan__put(tracker->plan);
	selection__clear(&tracker->selection);
	free(tracker->states);
	*tracker = (struct tracker){};
}
