// SPDX-License-Identifier: GPL-2.0-only
/* The greatest changes of the last seconds: see movers.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "movers.h"
#include "selection.h"

#define CHANGE_MIN 0.01

struct mover {
	struct point_state state;
	double sums[2]; /* of the seconds before, and of the last seconds */
	uint32_t counts[2];
	uint32_t series;
	double change;
};

static bool begins_with(const char *name, const char *beginning)
{
	return !strncmp(name, beginning, strlen(beginning));
}

/* node_exporter exports these counters of the kernel without a type. */
static bool is_count(const char *name)
{
	return (begins_with(name, "node_netstat_") && !strstr(name, "_CurrEstab")) ||
	       (begins_with(name, "node_vmstat_") && !begins_with(name, "node_vmstat_nr_"));
}

static struct point_rule rule_of(const struct metric_family *family)
{
	struct point_rule rule = point_rule__of(family);

	if (family->type == METRIC_UNTYPED)
		rule.is_rate = is_count(family->name);
	return rule;
}

static void add_chunk(struct mover *movers, const struct history_chunk *chunk,
		      const struct metric_plan *plan, const int64_t borders_us[3])
{
	struct history_reader reader;
	struct point_rule rule;
	double value, result;
	int64_t time_us;
	uint32_t i;
	int part;

	for (i = 0; i < plan->series_count; i++) {
		rule = rule_of(&plan->families[plan->series[i].family]);
		history_reader__init(&reader, chunk, i);
		while (history_reader__next(&reader, &time_us, &value)) {
			if (!point_state__take(&movers[i].state, &rule, time_us, value, &result) ||
			    !isfinite(result) || time_us <= borders_us[0] ||
			    time_us > borders_us[2])
				continue;
			part = time_us > borders_us[1];
			movers[i].sums[part] += result;
			movers[i].counts[part]++;
		}
	}
}

/* Moves the states from the previous plan to the places of @plan. Both plans are sorted alike. */
static struct mover *follow(struct mover *movers, const struct metric_plan *before,
			    const struct metric_plan *plan)
{
	struct mover *next = calloc(plan->series_count ?: 1, sizeof(*next));
	uint32_t i = 0, j = 0;
	int order;

	while (next && before && i < plan->series_count && j < before->series_count) {
		order = strcmp(plan->families[plan->series[i].family].name,
			       before->families[before->series[j].family].name);
		order = order ?: strcmp(plan->series[i].name, before->series[j].name);
		order = order ?: strcmp(plan->series[i].text, before->series[j].text);
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
 * Smaller changes are chance, and a value that grew from nothing to this has hardly changed: events
 * of counters, the part of each second that a counter of times measures, bytes of memory, bytes
 * transferred in a second, and all other numbers.
 */
#define EVENTS_OF_CHANCE 4.0
#define TIME_OF_CHANCE 0.02
#define BYTES_OF_CHANCE 1048576.0
#define BYTES_A_SECOND 10240.0
#define NUMBER_OF_CHANCE 1.0

static double chance_of(const struct metric_family *family, const struct mover *mover,
			int64_t span_us)
{
	bool is_rate = rule_of(family).is_rate;

	if (strstr(family->name, "_bytes"))
		return is_rate ? BYTES_A_SECOND : BYTES_OF_CHANCE;
	if (!is_rate)
		return NUMBER_OF_CHANCE;
	return rint(mover->state.value) == mover->state.value ? EVENTS_OF_CHANCE * 1e6 / span_us :
								TIME_OF_CHANCE;
}

static double change_of(const struct metric_plan *plan, const struct mover *mover, int64_t span_us)
{
	double before = mean(mover, 0), now = mean(mover, 1);
	double chance =
		chance_of(&plan->families[plan->series[mover->series].family], mover, span_us);

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

static void print_mover(const struct metric_plan *plan, const struct mover *mover,
			struct json_text *text)
{
	const struct metric_series *series = &plan->series[mover->series];
	const struct metric_family *family = &plan->families[series->family];
	bool is_rate = rule_of(family).is_rate;

	json_text__put(text, "{\"family\":");
	json_text__string(text, family->name);
	json_text__put(text, ",\"name\":");
	json_text__string(text, series->name);
	json_text__put(text, ",\"labels\":");
	json_text__string(text, series->text);
	json_text__put(text,
		       is_rate ? ",\"rate\":true,\"before\":" : ",\"rate\":false,\"before\":");
	json_text__number(text, mean(mover, 0));
	json_text__put(text, ",\"now\":");
	json_text__number(text, mean(mover, 1));
	json_text__put(text, ",\"change\":");
	json_text__rounded(text, mover->change);
	json_text__put(text, "}");
}

static void print(const struct metric_plan *plan, struct mover *movers, int64_t span_us,
		  unsigned int count, struct json_text *text)
{
	uint32_t i, found = 0;

	for (i = 0; i < plan->series_count; i++) {
		if (!movers[i].counts[0] || !movers[i].counts[1])
			continue;
		if (mean(&movers[i], 0) == mean(&movers[i], 1))
			continue;
		movers[i].series = i;
		movers[i].change = change_of(plan, &movers[i], span_us);
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

int movers__print(const struct history_view *view, int64_t now_us, int64_t span_us,
		  unsigned int count, struct json_text *text)
{
	const int64_t borders_us[] = { now_us - 2 * span_us, now_us - span_us, now_us };
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
