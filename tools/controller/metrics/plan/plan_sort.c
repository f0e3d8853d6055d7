// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorts families and series. A plan may contain a million series with few different labels, so the
 * sets of labels are sorted by their texts, and the series by the resulting numbers.
 */
#include "plan_sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A series as numbers to sort by: ranks of its family and labels, then the preference among equals.
 */
struct ranked {
	uint32_t family;
	uint32_t set;
	uint32_t priority;
	uint32_t number;
};

struct sorting {
	struct plan_builder *builder;
	uint32_t *family_ranks;
	uint32_t *set_ranks;
	struct ranked *ranked;
};

static int compare_families(const void *a, const void *b, void *data)
{
	const struct built_family *families = data;

	return strcmp(families[*(const uint32_t *)a].name, families[*(const uint32_t *)b].name);
}

static int compare_sets(const void *a, const void *b, void *data)
{
	const struct label_set *sets = data;

	return strcmp(sets[*(const uint32_t *)a].text, sets[*(const uint32_t *)b].text);
}

static int compare_numbers(uint32_t one, uint32_t other)
{
	return one < other ? -1 : one > other;
}

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	return compare_numbers(one->family, other->family)	       ?:
		       compare_numbers(one->set, other->set)	       ?:
		       compare_numbers(one->priority, other->priority) ?:
		       compare_numbers(one->number, other->number);
}

/* Returns the rank of each of @count objects; NULL if memory ran out. */
static uint32_t *rank(uint32_t count, const void *objects,
		      int (*compare)(const void *, const void *, void *))
{
	uint32_t *order = calloc((size_t)count + 1, sizeof(*order));
	uint32_t *ranks = calloc((size_t)count + 1, sizeof(*ranks));
	uint32_t i;

	if (!order || !ranks) {
		free(order);
		free(ranks);
		return NULL;
	}
	for (i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare, (void *)objects);
	for (i = 0; i < count; i++)
		ranks[order[i]] = i;
	free(order);
	return ranks;
}

static int sorting__rank(struct sorting *sorting)
{
	struct plan_builder *builder = sorting->builder;
	const uint32_t count = builder->series_count;
	uint32_t i;

	sorting->family_ranks = rank(builder->family_count, builder->families, compare_families);
	sorting->set_ranks = rank(builder->sets.count, builder->sets.sets, compare_sets);
	sorting->ranked = calloc((size_t)count + 1, sizeof(*sorting->ranked));
	if (!sorting->family_ranks || !sorting->set_ranks || !sorting->ranked)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct built_series *series = &builder->series[i];

		sorting->ranked[i] = (struct ranked){
			.family = sorting->family_ranks[series->family],
			.set = sorting->set_ranks[series->set],
			.priority = series->priority,
			.number = i,
		};
	}
	qsort(sorting->ranked, count, sizeof(*sorting->ranked), compare_ranked);
	return 0;
}

/* Stores the number of the series in the plan where its rule, or the caller, looks for it. */
static void plan_builder__place(struct plan_builder *builder, const struct built_series *series,
				uint32_t number)
{
	struct plan_rule *rule;

	if (series->rule == PLAN_NONE) {
		*series->place = number;
		return;
	}
	rule = &builder->plan->rules[series->rule];
	if (rule->bucket_count)
		builder->plan->buckets[rule->series + series->bucket] = number;
	else
		rule->series = number;
}

/*
 * Keeps the first of equal series and closes the gaps. Counts dropped series, except named series
 * that a stronger one replaces: names define these only for hosts without the better source.
 */
static uint32_t sorting__drop_equal(struct sorting *sorting)
{
	struct ranked *ranked = sorting->ranked;
	uint32_t count = sorting->builder->series_count, kept = 0, i;

	for (i = 0; i < count; i++) {
		if (kept && ranked[kept - 1].family == ranked[i].family &&
		    ranked[kept - 1].set == ranked[i].set)
			sorting->builder->dropped += ranked[i].priority == PLAN_PRIORITY_GENERIC ||
						     ranked[i].priority ==
							     ranked[kept - 1].priority;
		else
			ranked[kept++] = ranked[i];
	}
	return kept;
}

static const char *sample_name(struct plan_builder *builder, struct metric_family *family)
{
	char name[PLAN_NAME_MAX + sizeof("_bucket")];

	if (family->type != METRIC_HISTOGRAM)
		return family->name;
	strcpy(stpcpy(name, family->name), "_bucket");
	return plan_builder__keep(builder, name);
}

/* Writes the families and series to the plan, and leaves out families without series. */
static int sorting__emit(struct sorting *sorting, uint32_t count)
{
	struct plan_builder *builder = sorting->builder;
	struct arena *arena = &builder->plan->arena;
	struct metric_plan *metrics = &builder->plan->metrics;
	struct metric_family *families, *family = NULL;
	struct metric_series *all;
	const char *name = NULL;
	uint32_t i;

	families = arena__take_array(arena, builder->family_count, sizeof(*families));
	all = arena__take_array(arena, count, sizeof(*all));
	if (!families || !all)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const struct built_series *built = &builder->series[sorting->ranked[i].number];
		const struct built_family *of = &builder->families[built->family];
		const struct label_set *set = &builder->sets.sets[built->set];

		if (!i || sorting->ranked[i - 1].family != sorting->ranked[i].family) {
			family = &families[metrics->family_count++];
			*family = (struct metric_family){
				.name = of->name,
				.help = of->help,
				.unit = of->unit,
				.type = of->type,
				.first_series = i,
			};
			name = sample_name(builder, family);
			if (!name)
				return -ENOMEM;
		}
		family->series_count++;
		all[i] = (struct metric_series){
			.family = family - families,
			.label_count = set->count,
			.name = name,
			.labels = set->labels,
			.text = set->text,
		};
		plan_builder__place(builder, built, i);
	}
	metrics->families = families;
	metrics->series = all;
	metrics->series_count = count;
	return 0;
}

/* Buckets in the order of text formats: by the labels without "le", then by their bound. */
struct listed {
	uint32_t base;
	uint32_t bucket;
	uint32_t series;
};

static int compare_listed(const void *a, const void *b)
{
	const struct listed *one = a, *other = b;

	return compare_numbers(one->base, other->base) ?:
							 compare_numbers(one->bucket, other->bucket);
}

static int sorting__list_buckets(struct sorting *sorting, const struct metric_family *family,
				 uint32_t *listing)
{
	const struct plan_builder *builder = sorting->builder;
	const uint32_t first = family->first_series;
	struct listed *listed = calloc(family->series_count, sizeof(*listed));
	uint32_t i;

	if (!listed)
		return -ENOMEM;
	for (i = 0; i < family->series_count; i++) {
		const struct built_series *built =
			&builder->series[sorting->ranked[first + i].number];

		listed[i] = (struct listed){
			.base = sorting->set_ranks[built->base],
			.bucket = built->bucket,
			.series = first + i,
		};
	}
	qsort(listed, family->series_count, sizeof(*listed), compare_listed);
	for (i = 0; i < family->series_count; i++)
		listing[first + i] = listed[i].series;
	free(listed);
	return 0;
}

static int sorting__list(struct sorting *sorting)
{
	struct metric_plan *metrics = &sorting->builder->plan->metrics;
	uint32_t *listing = arena__take_array(&sorting->builder->plan->arena, metrics->series_count,
					      sizeof(*listing));
	const struct metric_family *family = metrics->families;
	uint32_t i;

	if (!listing)
		return -ENOMEM;
	metrics->listing = listing;
	for (i = 0; i < metrics->series_count; i++)
		listing[i] = i;
	for (; family < metrics->families + metrics->family_count; family++)
		if (family->type == METRIC_HISTOGRAM &&
		    sorting__list_buckets(sorting, family, listing))
			return -ENOMEM;
	return 0;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/*
 * Collects the names of all labels. Sets store each text once, so their number of texts bounds the
 * number of names.
 */
static int sorting__name_labels(struct sorting *sorting)
{
	const struct label_sets *sets = &sorting->builder->sets;
	struct metric_plan *metrics = &sorting->builder->plan->metrics;
	struct text_index seen = {};
	const char **names;
	uint32_t i, k, count = 0;
	int err = 0;

	names = arena__take_array(sets->arena, sets->text_count, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (i = 0; i < sets->count && !err; i++) {
		for (k = 0; k < sets->sets[i].count && !err; k++) {
			const char *name = sets->sets[i].labels[k].name;

			if (text_index__find(&seen, name) != TEXT_INDEX_NONE)
				continue;
			names[count] = name;
			err = text_index__add(&seen, name, count++);
		}
	}
	text_index__free(&seen);
	qsort(names, count, sizeof(*names), compare_texts);
	metrics->label_names = names;
	metrics->label_name_count = count;
	return err;
}

int plan_builder__finish(struct plan_builder *builder, struct metric_plan **metrics)
{
	struct sorting sorting = { .builder = builder };
	int err = builder->has_failed ? -ENOMEM : sorting__rank(&sorting);

	if (!err)
		err = sorting__emit(&sorting, sorting__drop_equal(&sorting)) ?:
			      sorting__list(&sorting)			     ?:
			      sorting__name_labels(&sorting);
	free(sorting.family_ranks);
	free(sorting.set_ranks);
	free(sorting.ranked);
	if (err)
		return err;
	builder->plan->metrics.dropped_count = builder->dropped;
	*metrics = &builder->plan->metrics;
	builder->plan = NULL;
	return 0;
}
