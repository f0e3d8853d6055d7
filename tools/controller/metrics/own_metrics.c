// SPDX-License-Identifier: GPL-2.0-only
/* Collects metrics of the controller itself: see own_metrics.h. */
#include "own_metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void own_metrics__begin(struct own_metrics *metrics, const char *name, const char *help,
			const char *unit, enum metric_type type)
{
	struct own_family *families;

	families = reallocarray(metrics->families, metrics->count + 1, sizeof(*families));
	if (!families) {
		metrics->has_failed = true;
		return;
	}
	metrics->families = families;
	families[metrics->count++] = (struct own_family){
		.family = {
			.name = name,
			.help = help,
			.unit = unit,
			.type = type,
		},
	};
}

void own_metrics__add(struct own_metrics *metrics, const struct label_list *labels, double value)
{
	struct own_family *family;
	struct own_series *series;
	uint32_t set;

	if (metrics->has_failed)
		return;
	family = &metrics->families[metrics->count - 1];
	metrics->sets.arena = &metrics->arena;
	set = label_sets__find(&metrics->sets, labels);
	if (family->family.series_count == family->room) {
		family->room = family->room ? 2 * family->room : 8;
		series = reallocarray(family->series, family->room, sizeof(*series));
		if (series)
			family->series = series;
		metrics->has_failed = !series;
	}
	if (set == TEXT_INDEX_NONE)
		metrics->has_failed = true;
	if (metrics->has_failed)
		return;
	family->series[family->family.series_count++] = (struct own_series){
		.text = metrics->sets.sets[set].text,
		.value = value,
	};
}

static int compare_families(const void *one, const void *other)
{
	const struct own_family *a = one, *b = other;

	return strcmp(a->family.name, b->family.name);
}

/* Allocates the arrays of the plan in the arena, and the points by calloc(). */
static int take_arrays(struct own_metrics *metrics, uint32_t series_count,
		       struct metric_family **families, struct metric_series **series)
{
	*families = arena__take_array(&metrics->arena, metrics->count + 1, sizeof(**families));
	*series = arena__take_array(&metrics->arena, series_count + 1, sizeof(**series));
	metrics->points = calloc(series_count + 1, sizeof(*metrics->points));
	return *families && *series && metrics->points ? 0 : -ENOMEM;
}

void own_metrics__add_one(struct own_metrics *metrics, const char *name, const char *help,
			  const char *unit, enum metric_type type, double value)
{
	const struct label_list none = { .count = 0 };

	own_metrics__begin(metrics, name, help, unit, type);
	own_metrics__add(metrics, &none, value);
}

int own_metrics__finish(struct own_metrics *metrics, int64_t time_ns)
{
	struct metric_family *families;
	struct metric_series *series;
	const struct own_family *own;
	uint32_t i, j, at = 0;

	for (i = 0; i < metrics->count; i++)
		at += metrics->families[i].family.series_count;
	if (metrics->has_failed || take_arrays(metrics, at, &families, &series))
		return -ENOMEM;
	if (metrics->count)
		qsort(metrics->families, metrics->count, sizeof(*metrics->families),
		      compare_families);
	for (i = 0, at = 0; i < metrics->count; i++) {
		own = &metrics->families[i];
		families[i] = own->family;
		families[i].first_series = at;
		for (j = 0; j < own->family.series_count; j++, at++) {
			series[at] = (struct metric_series){
				.family = i,
				.name = own->family.name,
				.text = own->series[j].text,
			};
			metrics->points[at] = (struct metric_point){
				.value = own->series[j].value,
				.time_ns = time_ns,
			};
		}
	}
	metrics->plan = (struct metric_plan){
		.families = families,
		.family_count = metrics->count,
		.series = series,
		.series_count = at,
	};
	return 0;
}

void own_metrics__clear(struct own_metrics *metrics)
{
	uint32_t i;

	for (i = 0; i < metrics->count; i++)
		free(metrics->families[i].series);
	free(metrics->families);
	free(metrics->points);
	label_sets__free(&metrics->sets);
	arena__free(&metrics->arena);
	*metrics = (struct own_metrics){};
}
