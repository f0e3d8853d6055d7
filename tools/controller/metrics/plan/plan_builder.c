// SPDX-License-Identifier: GPL-2.0-only
/* Collects the families and series of a plan. */
#include "plan_builder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/base/number_text.h"

int plan_builder__open(struct plan_builder *builder, struct names *names,
		       const struct sample *sample)
{
	uint32_t i;

	*builder = (struct plan_builder){ .sample = sample };
	builder->plan = plan__new();
	if (!builder->plan)
		return -ENOMEM;
	builder->plan->names = names__get(names);
	builder->plan->instance = sample->table->instance;
	builder->plan->generation = sample->table->generation;
	builder->plan->entry_count = sample->entry_count;
	builder->plan->cpustat = PLAN_NONE;
	for (i = 0; i < PLAN_OWN_COUNT; i++)
		builder->plan->own[i] = PLAN_NONE;
	builder->sets.arena = &builder->plan->arena;
	return 0;
}

void plan_builder__close(struct plan_builder *builder)
{
	if (builder->plan)
		metric_plan__put(&builder->plan->metrics);
	label_sets__free(&builder->sets);
	text_index__free(&builder->by_name);
	free(builder->families);
	free(builder->series);
}

/*
 * Makes room for @more elements after @count; false if memory ran out, which the builder remembers.
 */
static bool reserve(struct plan_builder *builder, void *array, uint32_t *room, uint32_t count,
		    uint32_t more, size_t size)
{
	uint64_t wanted = *room ? *room : 64;
	void *old, *larger;

	while (wanted < (uint64_t)count + more)
		wanted *= 2;
	if (wanted == *room)
		return true;
	/* @array is the address of a pointer of any type. */
	memcpy(&old, array, sizeof(old));
	larger = wanted < PLAN_NONE ? reallocarray(old, wanted, size) : NULL;
	if (!larger) {
		builder->has_failed = true;
		return false;
	}
	memcpy(array, &larger, sizeof(larger));
	*room = wanted;
	return true;
}

const char *plan_builder__keep(struct plan_builder *builder, const char *text)
{
	const char *copy = arena__copy(&builder->plan->arena, text, strlen(text));

	builder->has_failed |= !copy;
	return copy;
}

uint32_t plan_builder__family(struct plan_builder *builder, const struct built_family *family)
{
	const uint32_t found = text_index__find(&builder->by_name, family->name);

	if (found != TEXT_INDEX_NONE)
		return builder->families[found].type == family->type ? found : PLAN_NONE;
	if (!reserve(builder, &builder->families, &builder->family_room, builder->family_count, 1,
		     sizeof(*family)))
		return PLAN_NONE;
	if (text_index__add(&builder->by_name, family->name, builder->family_count)) {
		builder->has_failed = true;
		return PLAN_NONE;
	}
	builder->families[builder->family_count] = *family;
	return builder->family_count++;
}

uint32_t plan_builder__row(struct plan_builder *builder, uint32_t entry, uint32_t copy)
{
	struct plan *plan = builder->plan;

	if (!reserve(builder, &plan->rows, &builder->row_room, plan->row_count, 1,
		     sizeof(*plan->rows)))
		return PLAN_NONE;
	plan->rows[plan->row_count] = (struct plan_row){ entry, copy };
	return plan->row_count++;
}

const struct row_watch *plan_builder__watch(struct plan_builder *builder, uint32_t entry)
{
	const struct sample_entry *of = &builder->sample->entries[entry];
	struct plan *plan = builder->plan;

	if (!row_watch__is_needed(of->entry) ||
	    !reserve(builder, &plan->watches, &builder->watch_room, plan->watch_count, 1,
		     sizeof(*plan->watches)))
		return NULL;
	if (row_watch__init(&plan->watches[plan->watch_count], &plan->arena, of, entry)) {
		builder->has_failed = true;
		return NULL;
	}
	return &plan->watches[plan->watch_count++];
}

bool plan_builder__add_series(struct plan_builder *builder, const struct built_series *series)
{
	if (builder->series_count == PLAN_SERIES_MAX) {
		builder->dropped++;
		return false;
	}
	if (!reserve(builder, &builder->series, &builder->series_room, builder->series_count, 1,
		     sizeof(*series)))
		return false;
	builder->series[builder->series_count++] = *series;
	return true;
}

/*
 * A scale such as 1e-9 is not a binary number: the value divided by 1e9 is the nearest number to
 * the decimal value, and the product with 1e-9 is not.
 */
static void rule__set_scale(struct plan_rule *rule, double scale)
{
	const double divisor = round(1 / scale);

	rule->factor = 1;
	rule->divisor = 1;
	if (scale < 1 && divisor < 1e15 && 1 / divisor == scale)
		rule->divisor = divisor;
	else
		rule->factor = scale;
}

/* Adds a rule; PLAN_NONE if memory ran out. */
static uint32_t plan_builder__rule(struct plan_builder *builder, const struct built_value *value)
{
	struct plan *plan = builder->plan;
	struct plan_rule *rule;

	if (!reserve(builder, &plan->rules, &builder->rule_room, plan->rule_count, 1,
		     sizeof(*plan->rules)) ||
	    !reserve(builder, &plan->terms, &builder->term_room, plan->term_count,
		     value->term_count, sizeof(*plan->terms)))
		return PLAN_NONE;
	rule = &plan->rules[plan->rule_count];
	*rule = (struct plan_rule){
		.row = value->row,
		.first_term = plan->term_count,
		.term_count = value->term_count,
		.when = value->when,
		.per = value->per,
		.named = value->named,
		.is_unsigned = value->is_unsigned,
		.series = PLAN_NONE,
	};
	rule__set_scale(rule, value->scale);
	memcpy(plan->terms + plan->term_count, value->terms,
	       value->term_count * sizeof(*value->terms));
	plan->term_count += value->term_count;
	return plan->rule_count++;
}

static uint32_t plan_builder__set(struct plan_builder *builder, const struct label_list *labels)
{
	const uint32_t set = label_sets__find(&builder->sets, labels);

	builder->has_failed |= set == TEXT_INDEX_NONE;
	return set;
}

void plan_builder__add(struct plan_builder *builder, uint32_t family,
		       const struct label_list *labels, const struct built_value *value)
{
	struct built_series series = {
		.family = family,
		.priority = value->priority,
	};

	if (family == PLAN_NONE || value->row == PLAN_NONE) {
		builder->dropped += !builder->has_failed;
		return;
	}
	series.set = plan_builder__set(builder, labels);
	series.base = series.set;
	series.rule = plan_builder__rule(builder, value);
	if (series.set != TEXT_INDEX_NONE && series.rule != PLAN_NONE)
		plan_builder__add_series(builder, &series);
}

void plan_builder__add_own(struct plan_builder *builder, uint32_t family,
			   const struct label_list *labels, uint32_t *place)
{
	struct built_series series = {
		.family = family,
		.place = place,
		.priority = PLAN_PRIORITY_OWN,
		.rule = PLAN_NONE,
	};

	if (family == PLAN_NONE)
		return;
	series.set = plan_builder__set(builder, labels);
	series.base = series.set;
	if (series.set != TEXT_INDEX_NONE)
		plan_builder__add_series(builder, &series);
}

/* Prints the greatest value of a bucket, inclusive: element i ends with 2^(i+1) - 1. */
static void print_bound(const struct plan_rule *rule, uint32_t bucket, uint32_t buckets,
			char text[static NUMBER_TEXT_MAX])
{
	double bound = INFINITY;

	if (bucket < buckets - 1)
		bound = (ldexp(1, bucket + 1) - 1) * rule->factor / rule->divisor;
	number_text__print(bound, text);
}

void plan_builder__add_histogram(struct plan_builder *builder, uint32_t family,
				 const struct label_list *labels, const struct built_value *value,
				 const struct dart_field *field)
{
	struct plan *plan = builder->plan;
	struct built_series series = {
		.family = family,
		.priority = value->priority,
	};
	char bound[NUMBER_TEXT_MAX];
	struct label_list list;
	uint32_t i;

	if (family == PLAN_NONE || value->row == PLAN_NONE) {
		builder->dropped += builder->has_failed ? 0 : field->count;
		return;
	}
	series.base = plan_builder__set(builder, labels);
	series.rule = plan_builder__rule(builder, value);
	if (series.base == TEXT_INDEX_NONE || series.rule == PLAN_NONE ||
	    !reserve(builder, &plan->buckets, &builder->bucket_room, plan->bucket_count,
		     field->count, sizeof(*plan->buckets)))
		return;
	plan->rules[series.rule].bucket_count = field->count;
	plan->rules[series.rule].series = plan->bucket_count;
	for (i = 0; i < field->count; i++) {
		plan->buckets[plan->bucket_count + i] = PLAN_NONE;
		print_bound(&plan->rules[series.rule], i, field->count, bound);
		label_list__copy(&list, labels);
		label_list__add(&list, "le", bound);
		series.set = plan_builder__set(builder, &list);
		series.bucket = i;
		if (series.set == TEXT_INDEX_NONE || !plan_builder__add_series(builder, &series))
			break;
	}
	for (; i < field->count; i++)
		plan->buckets[plan->bucket_count + i] = PLAN_NONE;
	plan->bucket_count += field->count;
}
