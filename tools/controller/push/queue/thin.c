// SPDX-License-Identifier: GPL-2.0-only
/* Makes one point of the points of a period: see thin.h. */
#include "thin.h"

#include <math.h>
#include <stdlib.h>

bool thin__open(struct thin *thin, uint32_t count)
{
	*thin = (struct thin){
		.sums = calloc((size_t)count + 1, sizeof(*thin->sums)),
		.count = count,
	};
	return thin->sums;
}

void thin__follow(struct thin *thin, const struct thin *before)
{
	thin->period = before->period;
}

void thin__close(struct thin *thin)
{
	free(thin->sums);
	*thin = (struct thin){};
}

static bool is_gauge(const struct rewrite *rewrite, uint32_t series)
{
	const struct metric_plan *plan = rewrite->plan;

	return plan->families[plan->series[series].family].type == METRIC_GAUGE;
}

/* NaN, such as a value that is not known, counts in no comparison, and makes a mean NaN. */
static double join(double before, double value, enum receiver_gauges gauges)
{
	switch (gauges) {
	case RECEIVER_GAUGES_MEAN:
		return before + value;
	case RECEIVER_GAUGES_MIN:
		return fmin(before, value);
	case RECEIVER_GAUGES_MAX:
		return fmax(before, value);
	default:
		return value;
	}
}

void thin__add(struct thin *thin, const struct rewrite *rewrite, const struct metric_point *points,
	       enum receiver_gauges gauges)
{
	const struct metric_point *point;
	struct thin_sum *sum;
	uint32_t i;

	for (i = 0; i < thin->count; i++) {
		point = points + rewrite__from(rewrite, i);
		sum = thin->sums + i;
		/* A row that the host has not written again since. */
		if (point->time_ns <= 0 || point->time_ns == sum->time_ns)
			continue;
		thin->has_changed |= sum->time_ns && sum->value != point->value;
		sum->value = sum->count && is_gauge(rewrite, i) ?
				     join(sum->value, point->value, gauges) :
				     point->value;
		sum->time_ns = point->time_ns;
		sum->count++;
		thin->has_points = true;
	}
}

bool thin__is_due(const struct thin *thin, uint64_t every_ns, int64_t time_ns)
{
	return time_ns / (int64_t)every_ns != thin->period;
}

struct metric_point *thin__take(struct thin *thin, const struct rewrite *rewrite,
				enum receiver_gauges gauges, uint64_t every_ns, int64_t time_ns)
{
	struct metric_point *points = calloc((size_t)thin->count + 1, sizeof(*points)), *point;
	struct thin_sum *sum;
	uint32_t i;

	if (!points)
		return NULL;
	for (i = 0; i < thin->count; i++) {
		sum = thin->sums + i;
		point = points + i;
		*point = (struct metric_point){ sum->value, sum->count ? sum->time_ns : 0 };
		if (gauges == RECEIVER_GAUGES_MEAN && sum->count && is_gauge(rewrite, i))
			point->value /= sum->count;
		sum->count = 0;
	}
	thin->has_points = false;
	thin->has_changed = false;
	if (time_ns)
		thin->period = time_ns / (int64_t)every_ns;
	return points;
}
