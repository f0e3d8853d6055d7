// SPDX-License-Identifier: GPL-2.0-only
/* The plans of dart_up and up, which no table makes. */
#include "plan_up.h"

#include "plan.h"

static const struct metric_family families[PLAN_UP_SERIES] = {
	{
		.name = "dart_up",
		.help = "Whether the values of the host can be read.",
		.unit = "",
		.type = METRIC_GAUGE,
		.first_series = 0,
		.series_count = 1,
	},
	{
		.name = "up",
		.help = "Whether the values of the host can be read.",
		.unit = "",
		.type = METRIC_GAUGE,
		.first_series = 1,
		.series_count = 1,
	},
};

static const struct metric_series series[PLAN_UP_SERIES] = {
	{ .family = 0, .name = "dart_up", .text = "" },
	{ .family = 1, .name = "up", .text = "" },
};

const struct metric_plan plan_up__of_pages = {
	.families = families,
	.family_count = 1,
	.series = series,
	.series_count = 1,
};

struct metric_plan *plan_up__new(void)
{
	struct plan *plan = plan__new();

	if (!plan)
		return NULL;
	plan->metrics = (struct metric_plan){
		.families = families,
		.family_count = PLAN_UP_SERIES,
		.series = series,
		.series_count = PLAN_UP_SERIES,
	};
	return &plan->metrics;
}
