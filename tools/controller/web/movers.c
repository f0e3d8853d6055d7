// SPDX-License-Identifier: GPL-2.0-only
/* What has changed in the last seconds: see movers.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "movers.h"
#include "selection.h"

#define CHANGE_MIN 0.01

struct mover {
	struct point_state state;
	double sums[2];		/* before and now */
	uint32_t counts[2];
	uint32_t series;
	double change;
};

static void add_chunk(struct mover *movers, const struct history_chunk *chunk,
		      const struct metric_plan *plan,
		      const int64_t borders_us[3])
{
	struct history_reader reader;
	enum metric_type type;
	double value, result;
	int64_t time_us;
	uint32_t i;
	int part;

	for (i = 0; i < plan->series_count; i++) {
		type = plan->families[plan->series[i].family].type;
		history_reader__init(&reader, chunk, i);
		while (history_reader__next(&reader, &time_us, &value)) {
			if (!point_state__take(&movers[i].state,
					       type == METRIC_COUNTER ||
						       type == METRIC_HISTOGRAM,
					       time_us, value, &result) ||
			    !isfinite(result) || time_us <= borders_us[0] ||
			    time_us > borders_us[2])
				continue;
			part = time_us > borders_us[1];
			movers[i].sums[part] += result;
			movers[i].counts[part]++;
		}
	}
}

/* The states of the plan before, in the places of @plan; both are in the same order. */
static struct mover *follow(struct mover *movers,
			    const struct metric_plan *before,
			    const struct metric_plan *plan)
{
	struct mover *next = calloc(plan->series_count ?: 1, sizeof(*next));
	uint32_t i = 0, j = 0;
	int order;

	while (next && before && i < plan->series_count &&
	       j < before->series_count) {
		order = strcmp(plan->families[plan->series[i].family].name,
			       before->families[before->series[j].family].name);
		order = order ?: strcmp(plan->series[i].name,
					before->series[j].name);
		order = order ?: strcmp(plan->series[i].text,
					before->series[j].text);
		if (!order)
			next[i] = movers[j];
		if (order <= 0)
			i++;
		if (order >= 0)
			j++;
	}
	free(movers);
	return next;
}

static double mean(const struct mover *mover, int part)
{
	return mover->sums[part] / mover->counts[part];
}

/*
 * A counter of whole events that had one and now has two has not doubled: so many events
 * more or less are chance.
 */
#define EVENTS_OF_CHANCE 4

static double change_of(const struct mover *mover, int64_t span_us)
{
	double before = mean(mover, 0), now = mean(mover, 1), chance = 0;

	if (mover->state.time_us && rint(mover->state.value) == mover->state.value)
		chance = EVENTS_OF_CHANCE * 1e6 / span_us;
	return (now - before) / (fmax(fabs(now), fabs(before)) + chance);
}

static int compare(const void *one, const void *other)
{
	const struct mover *a = one, *b = other;
	double x = fabs(a->change), y = fabs(b->change);

	if (x != y)
		return x < y ? 1 : -1;
	return a->series < b->series ? -1 : a->series > b->series;
}

static void print_mover(const struct metric_plan *plan,
			const struct mover *mover, struct json_text *text)
{
	const struct metric_series *series = &plan->series[mover->series];
	const struct metric_family *family = &plan->families[series->family];
	bool is_rate = family->type == METRIC_COUNTER ||
		       family->type == METRIC_HISTOGRAM;

	json_text__put(text, "{\"family\":");
	json_text__string(text, family->name);
	json_text__put(text, ",\"name\":");
	json_text__string(text, series->name);
	json_text__put(text, ",\"labels\":");
	json_text__string(text, series->text);
	json_text__put(text, is_rate ? ",\"rate\":true,\"before\":" :
				       ",\"rate\":false,\"before\":");
	json_text__number(text, mean(mover, 0));
	json_text__put(text, ",\"now\":");
	json_text__number(text, mean(mover, 1));
	json_text__put(text, ",\"change\":");
	json_text__rounded(text, mover->change);
	json_text__put(text, "}");
}

static void print(const struct metric_plan *plan, struct mover *movers,
		  int64_t span_us, unsigned int count, struct json_text *text)
{
	uint32_t i, found = 0;

	for (i = 0; i < plan->series_count; i++) {
		if (!movers[i].counts[0] || !movers[i].counts[1])
			continue;
		if (mean(&movers[i], 0) == mean(&movers[i], 1))
			continue;
		movers[i].series = i;
		movers[i].change = change_of(&movers[i], span_us);
		if (fabs(movers[i].change) >= CHANGE_MIN)
			movers[found++] = movers[i];
	}
	if (found)
		qsort(movers, found, sizeof(*movers), compare);
	json_text__put(text, "[");
	for (i = 0; i < found && i < count; i++) {
		json_text__put(text, i ? "," : "");
		print_mover(plan, &movers[i], text);
	}
	json_text__put(text, "]");
}

int movers__print(const struct history_view *view, int64_t now_us,
		  int64_t span_us, unsigned int count, struct json_text *text)
{
	const int64_t borders_us[] = { now_us - 2 * span_us, now_us - span_us,
				       now_us };
	const struct metric_plan *plan = NULL, *next;
	struct mover *movers = NULL;
	size_t i;

	for (i = 0; i < view->count; i++) {
		next = history_chunk__plan(view->chunks[i]);
		if (next != plan) {
			movers = follow(movers, plan, next);
			if (!movers)
				return -ENOMEM;
			plan = next;
		}
		add_chunk(movers, view->chunks[i], plan, borders_us);
	}
	if (plan)
		print(plan, movers, span_us, count, text);
	else
		json_text__put(text, "[]");
	free(movers);
	return text->has_failed ? -ENOMEM : 0;
}
