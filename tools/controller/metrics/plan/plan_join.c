// SPDX-License-Identifier: GPL-2.0-only
/* Joins series of several plans into one plan. */
#include "plan_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

int plan_join__compare(const struct metric_plan *one, uint32_t series,
		       const struct metric_plan *other, uint32_t other_series)
{
	const struct metric_series *a = one->series + series;
	const struct metric_series *b = other->series + other_series;

	return strcmp(one->families[a->family].name, other->families[b->family].name) ?:
		       strcmp(a->name, b->name)					      ?:
		       strcmp(a->text, b->text);
}

uint32_t plan_join__find(const struct metric_plan *plan, const struct metric_plan *of,
			 uint32_t series)
{
	uint32_t low = 0, high = plan->series_count, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = plan_join__compare(of, series, plan, middle);
		if (!order)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return UINT32_MAX;
}

static int compare_items(const void *a, const void *b)
{
	const struct plan_join_item *one = a, *other = b;

	return plan_join__compare(one->plan, one->series, other->plan, other->series) ?:
		       (one->number > other->number) - (one->number < other->number);
}

/* Keeps the first of equal items. */
static uint32_t drop_equal(struct plan_join_item *items, uint32_t count)
{
	uint32_t kept = 0, i;

	for (i = 0; i < count; i++)
		if (!kept || plan_join__compare(items[kept - 1].plan, items[kept - 1].series,
						items[i].plan, items[i].series))
			items[kept++] = items[i];
	return kept;
}

static const char *copy(struct arena *arena, const char *text)
{
	return arena__copy(arena, text, strlen(text));
}

/* Returns 0 or -ENOMEM, like all functions below. */
static int copy_series(struct arena *arena, const struct metric_series *from, uint32_t family,
		       struct metric_series *to)
{
	struct metric_label *labels =
		arena__take_array(arena, from->label_count + 1, sizeof(*labels));
	uint32_t i;

	*to = (struct metric_series){
		.family = family,
		.label_count = from->label_count,
		.name = copy(arena, from->name),
		.labels = labels,
		.text = copy(arena, from->text),
	};
	if (!labels || !to->name || !to->text)
		return -ENOMEM;
	for (i = 0; i < from->label_count; i++) {
		labels[i].name = copy(arena, from->labels[i].name);
		labels[i].value = copy(arena, from->labels[i].value);
		if (!labels[i].name || !labels[i].value)
			return -ENOMEM;
	}
	return 0;
}

static int copy_family(struct arena *arena, const struct metric_family *from, uint32_t first,
		       struct metric_family *to)
{
	*to = (struct metric_family){
		.name = copy(arena, from->name),
		.help = copy(arena, from->help),
		.unit = copy(arena, from->unit),
		.type = from->type,
		.first_series = first,
	};
	return to->name && to->help && to->unit ? 0 : -ENOMEM;
}

static int join_series(struct plan *plan, const struct plan_join_item *items, uint32_t count)
{
	struct metric_family *families =
		arena__take_array(&plan->arena, count + 1, sizeof(*families));
	struct metric_series *series = arena__take_array(&plan->arena, count + 1, sizeof(*series));
	const struct metric_series *from;
	const struct metric_family *of;
	uint32_t used = 0, i;

	if (!families || !series)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		from = items[i].plan->series + items[i].series;
		of = items[i].plan->families + from->family;
		if (!used || strcmp(families[used - 1].name, of->name)) {
			if (copy_family(&plan->arena, of, i, &families[used]))
				return -ENOMEM;
			used++;
		}
		families[used - 1].series_count++;
		if (copy_series(&plan->arena, from, used - 1, &series[i]))
			return -ENOMEM;
	}
	plan->metrics.families = families;
	plan->metrics.family_count = used;
	plan->metrics.series = series;
	plan->metrics.series_count = count;
	return 0;
}

/* Finds the plans of the items; NULL fills the rest of @plans. */
static void find_plans(const struct plan_join_item *items, uint32_t count,
		       const struct metric_plan *plans[PLAN_JOIN_PLANS])
{
	uint32_t i, k;

	for (k = 0; k < PLAN_JOIN_PLANS; k++)
		plans[k] = NULL;
	for (i = 0; i < count; i++) {
		for (k = 0; plans[k] && plans[k] != items[i].plan; k++)
			;
		plans[k] = items[i].plan;
	}
}

/* The place of a series in the listing of its old plan. */
struct place {
	uint32_t family; /* in the new plan */
	uint32_t plan;
	uint32_t place;
	uint32_t series; /* in the new plan */
};

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->family != other->family)
		return one->family < other->family ? -1 : 1;
	if (one->plan != other->plan)
		return one->plan < other->plan ? -1 : 1;
	return (one->place > other->place) - (one->place < other->place);
}

/* Returns the places of all series of @plan in its listing; NULL if memory ran out. */
static uint32_t *places_of(const struct metric_plan *plan)
{
	uint32_t *places = calloc(plan->series_count + 1, sizeof(*places));
	uint32_t i;

	for (i = 0; places && i < plan->series_count; i++)
		places[plan->listing ? plan->listing[i] : i] = i;
	return places;
}

/* Sets the places of the items of one plan. */
static int place_items(const struct plan *plan, const struct metric_plan *source, uint32_t number,
		       const struct plan_join_item *items, uint32_t count, struct place *places)
{
	uint32_t *of_source = places_of(source), i;

	if (!of_source)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		if (items[i].plan == source)
			places[i] = (struct place){
				.family = plan->metrics.series[i].family,
				.plan = number,
				.place = of_source[items[i].series],
				.series = i,
			};
	free(of_source);
	return 0;
}

/* Keeps the buckets of one set of labels adjacent, as in the listing of their old plan. */
static int join_listing(struct plan *plan, const struct metric_plan *plans[PLAN_JOIN_PLANS],
			const struct plan_join_item *items, uint32_t count)
{
	struct place *places = calloc(count + 1, sizeof(*places));
	uint32_t *listing = arena__take_array(&plan->arena, count + 1, sizeof(*listing));
	int err = places && listing ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; !err && i < PLAN_JOIN_PLANS && plans[i]; i++)
		err = place_items(plan, plans[i], i, items, count, places);
	if (!err) {
		qsort(places, count, sizeof(*places), compare_places);
		for (i = 0; i < count; i++)
			listing[i] = places[i].series;
		plan->metrics.listing = listing;
	}
	free(places);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Joins the label names of the whole plans, so that the labels of a target keep their names. */
static int join_label_names(struct plan *plan, const struct metric_plan *plans[PLAN_JOIN_PLANS])
{
	uint32_t used = 0, kept = 0, i, k;
	const char **names;
	size_t count = 0;

	for (k = 0; k < PLAN_JOIN_PLANS && plans[k]; k++)
		count += plans[k]->label_name_count;
	names = arena__take_array(&plan->arena, count + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (k = 0; k < PLAN_JOIN_PLANS && plans[k]; k++)
		for (i = 0; i < plans[k]->label_name_count; i++)
			names[used++] = plans[k]->label_names[i];
	qsort(names, used, sizeof(*names), compare_names);
	for (i = 0; i < used; i++)
		if (!kept || strcmp(names[kept - 1], names[i]))
			names[kept++] = names[i];
	for (i = 0; i < kept; i++) {
		names[i] = copy(&plan->arena, names[i]);
		if (!names[i])
			return -ENOMEM;
	}
	plan->metrics.label_names = names;
	plan->metrics.label_name_count = kept;
	return 0;
}

int plan_join__new(struct plan_join_item *items, uint32_t count, struct metric_plan **metrics)
{
	const struct metric_plan *plans[PLAN_JOIN_PLANS];
	struct plan *plan = plan__new();

	if (!plan)
		return -ENOMEM;
	if (count)
		qsort(items, count, sizeof(*items), compare_items);
	count = drop_equal(items, count);
	find_plans(items, count, plans);
	if (join_series(plan, items, count) || join_listing(plan, plans, items, count) ||
	    join_label_names(plan, plans)) {
		metric_plan__put(&plan->metrics);
		return -ENOMEM;
	}
	*metrics = &plan->metrics;
	return 0;
}
