// SPDX-License-Identifier: GPL-2.0-only
/* Limits of plans: see plan_limits.h. */
#include "plan_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/metrics/plan/plan.h"

/* -E2BIG with a reason if the value of a label is too long. */
static int check_labels(const struct metric_plan *plan, size_t most, struct dart_error *reason)
{
	const struct metric_series *series = plan->series;
	const struct metric_label *label;
	size_t length;

	for (; most && series < plan->series + plan->series_count; series++) {
		for (label = series->labels; label < series->labels + series->label_count;
		     label++) {
			length = strlen(label->value);
			if (length > most)
				return dart_error__set(
					reason, E2BIG,
					"a label '%s' of %s has %zu bytes, and the limit is %zu",
					label->name, series->name, length, most);
		}
	}
	return 0;
}

int plan_limits__check(const struct settings_limits *limits, const struct metric_plan *plan,
		       struct dart_error *reason)
{
	if (limits->series && plan->series_count > limits->series)
		return dart_error__set(reason, E2BIG, "it has %u series, and the limit is %u",
				       plan->series_count, limits->series);
	return check_labels(plan, limits->label_bytes, reason);
}

int plan_limits__check_sum(const struct settings_limits *limits, uint64_t sum, uint32_t series,
			   struct dart_error *reason)
{
	if (!limits->all_series || sum <= limits->all_series)
		return 0;
	return dart_error__set(reason, E2BIG,
			       "with its %u series all agents have %llu, and the limit is %u",
			       series, (unsigned long long)sum, limits->all_series);
}

struct refused_plan {
	struct metric_plan *outline; /* fits the samples of the plan, and has no series */
	uint32_t series; /* of the plan */
	struct settings_limits limits; /* that it was compared with */
	bool lacks_room; /* beyond the limit of all targets only */
	struct dart_error reason;
};

struct refused_plan *refused_plan__new(const struct metric_plan *plan,
				       const struct settings_limits *limits,
				       const struct dart_error *reason)
{
	struct refused_plan *refused = malloc(sizeof(*refused));
	struct dart_error ignored;

	if (!refused)
		return NULL;
	*refused = (struct refused_plan){
		.outline = metric_plan__outline(plan),
		.series = plan->series_count,
		.limits = *limits,
		.lacks_room = !plan_limits__check(limits, plan, &ignored),
		.reason = *reason,
	};
	if (refused->outline)
		return refused;
	free(refused);
	return NULL;
}

void refused_plan__free(struct refused_plan *refused)
{
	if (!refused)
		return;
	metric_plan__put(refused->outline);
	free(refused);
}

int refused_plan__check(const struct refused_plan *refused, const struct sample *sample,
			const struct settings_limits *limits, uint64_t others,
			struct dart_error *reason)
{
	if (!refused || memcmp(&refused->limits, limits, sizeof(*limits)) ||
	    !metric_plan__fits(refused->outline, sample))
		return 0;
	if (refused->lacks_room)
		return plan_limits__check_sum(limits, others + refused->series, refused->series,
					      reason);
	*reason = refused->reason;
	return -E2BIG;
}
