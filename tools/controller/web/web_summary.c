// SPDX-License-Identifier: GPL-2.0-only
/* Summarises a host in three numbers: see web_summary.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "web_summary.h"

/* Enough for a host with many counters of errors. */
#define PARTS_MAX 256

enum kind {
	CPU,
	PRESSURE,
	ERRORS,
	OTHER,
};

struct web_summary_part {
	enum kind kind;
	struct tracker tracker;
};

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), end_length = strlen(end);

	return length >= end_length && !strcmp(name + length - end_length, end);
}

static enum kind kind_of(const struct metric_family *family)
{
	static const char *const pressures[] = {
		"node_pressure_cpu_waiting_seconds_total",
		"node_pressure_io_waiting_seconds_total",
		"node_pressure_memory_waiting_seconds_total",
	};
	static const char *const ends[] = { "_errs_total", "_errors_total", "_drop_total",
					    "_dropped_total" };
	size_t i;

	if (family->type != METRIC_COUNTER)
		return OTHER;
	if (!strcmp(family->name, "node_cpu_seconds_total"))
		return CPU;
	for (i = 0; i < sizeof(pressures) / sizeof(pressures[0]); i++)
		if (!strcmp(family->name, pressures[i]))
			return PRESSURE;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(family->name, ends[i]) && strncmp(family->name, "container_", 10))
			return ERRORS;
	return OTHER;
}

static void clear_parts(struct web_summary_part *parts, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		tracker__clear(&parts[i].tracker);
	free(parts);
}

/*
 * Returns the tracker of the previous plan for the family, which continues; an empty one if there
 * is none.
 */
static struct tracker take_tracker(struct web_summary *summary, const char *family)
{
	struct tracker found = {};
	struct tracker *tracker;
	size_t i;

	for (i = 0; i < summary->part_count; i++) {
		tracker = &summary->parts[i].tracker;
		if (tracker->plan && metric_plan__find(tracker->plan, family) &&
		    tracker->selection.count &&
		    !strcmp(tracker->plan
				    ->families[tracker->plan->series[tracker->selection.series[0]]
						       .family]
				    .name,
			    family)) {
			found = *tracker;
			*tracker = (struct tracker){};
			break;
		}
	}
	return found;
}

static int set_plan(struct web_summary *summary, struct metric_plan *plan)
{
	struct web_summary_part *parts = calloc(PARTS_MAX, sizeof(*parts));
	struct selection_query query = {};
	size_t count = 0;
	enum kind kind;
	uint32_t i;
	int ret = parts ? 0 : -ENOMEM;

	for (i = 0; i < plan->family_count && count < PARTS_MAX && !ret; i++) {
		kind = kind_of(&plan->families[i]);
		if (kind == OTHER)
			continue;
		query.family = plan->families[i].name;
		query.by = kind == CPU ? "mode" : "";
		parts[count].kind = kind;
		parts[count].tracker = take_tracker(summary, query.family);
		ret = tracker__set_plan(&parts[count].tracker, plan, &query);
		count++;
	}
	clear_parts(summary->parts, summary->part_count);
	if (summary->plan)
		metric_plan__put(summary->plan);
	summary->plan = NULL;
	summary->parts = NULL;
	summary->part_count = 0;
	if (ret) {
		clear_parts(parts, count);
		return ret;
	}
	summary->plan = metric_plan__get(plan);
	/* Shrinks the array to the number of parts, usually far below the limit. */
	summary->parts = reallocarray(parts, count ?: 1, sizeof(*parts)) ?: parts;
	summary->part_count = count;
	return 0;
}

static double cpu_of(const struct tracker *tracker, const double *sums)
{
	double idle = 0, all = 0;
	uint32_t i;

	for (i = 0; i < tracker->selection.group_count; i++) {
		if (isnan(sums[i]))
			continue;
		all += sums[i];
		if (!strcmp(tracker->selection.groups[i], "mode=\"idle\"") ||
		    !strcmp(tracker->selection.groups[i], "mode=\"iowait\""))
			idle += sums[i];
	}
	return all > 0 ? 1 - idle / all : NAN;
}

int web_summary__take(struct web_summary *summary, struct metric_plan *plan,
		      const struct metric_point *points)
{
	struct web_summary_values now = { NAN, NAN, NAN };
	double sums[64];
	size_t i;
	int ret;

	if (summary->plan != plan) {
		ret = set_plan(summary, plan);
		if (ret)
			return ret;
	}
	for (i = 0; i < summary->part_count; i++) {
		struct tracker *tracker = &summary->parts[i].tracker;

		if (tracker->selection.group_count > 64)
			continue; /* CPU times come in ten modes */
		tracker__take(tracker, points, sums);
		if (summary->parts[i].kind == CPU)
			now.cpu = cpu_of(tracker, sums);
		else if (tracker->selection.group_count && summary->parts[i].kind == PRESSURE)
			now.pressure = fmax(now.pressure, sums[0]);
		else if (tracker->selection.group_count && !isnan(sums[0]))
			now.errors = (isnan(now.errors) ? 0 : now.errors) + sums[0];
	}
	summary->now = now;
	summary->past[summary->past_count++ % WEB_SUMMARY_PAST] = now.cpu;
	return 0;
}

void web_summary__clear(struct web_summary *summary)
{
	clear_parts(summary->parts, summary->part_count);
	if (summary->plan)
		metric_plan__put(summary->plan);
	*summary = (struct web_summary){};
}
