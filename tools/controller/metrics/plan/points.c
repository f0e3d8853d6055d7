// SPDX-License-Identifier: GPL-2.0-only
/* Evaluates the rules of a plan. */
#include "points.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "plan_own.h"

/* Stored as the time of a torn row. */
#define ROW_TORN (-1)

/* The input of all rules of an evaluation. */
struct evaluation {
	const struct plan *plan;
	const struct sample *sample;
	const struct points *points;
	int64_t read_ns; /* when the READs began, by the controller's clock */
	int64_t latest_ns; /* when the values had landed */
};

int points__prepare(struct points *points, const struct metric_plan *metrics,
		    const struct sample *sample)
{
	const struct plan *plan = plan__of(metrics);
	struct metric_point *series = calloc((size_t)metrics->series_count + 1, sizeof(*series));
	int64_t *times = calloc((size_t)plan->row_count + 1, sizeof(*times));

	if (!series || !times ||
	    (plan->cpustat != PLAN_NONE &&
	     idle_times__prepare(&points->idle, sample, &sample->entries[plan->cpustat]))) {
		free(series);
		free(times);
		return -ENOMEM;
	}
	free(points->points);
	free(points->row_times);
	points->points = series;
	points->row_times = times;
	return 0;
}

void points__free(struct points *points)
{
	free(points->points);
	free(points->row_times);
	idle_times__free(&points->idle);
	*points = (struct points){};
}

static const void *copy_of(const struct sample_entry *entry, uint32_t copy)
{
	return (const char *)entry->copies + (size_t)copy * entry->entry->schema->length;
}

/*
 * Returns the time at which the host gathered a row, by the controller's clock. The host may lie in
 * the row, but cannot date a point in the future.
 */
static int64_t gathered_ns(const struct evaluation *evaluation, const void *row,
			   const struct dart_schema *schema)
{
	const uint64_t boot_ns = dart_row__time(schema, row);
	int64_t time_ns;

	if (!boot_ns || boot_ns > INT64_MAX ||
	    __builtin_sub_overflow((int64_t)boot_ns, evaluation->sample->clock.boot_ns, &time_ns) ||
	    __builtin_add_overflow(time_ns, evaluation->read_ns, &time_ns))
		return evaluation->read_ns;
	if (time_ns <= 0)
		return evaluation->read_ns;
	return time_ns < evaluation->latest_ns ? time_ns : evaluation->latest_ns;
}

static int64_t copy_time(const struct evaluation *evaluation, const struct sample_entry *entry,
			 uint32_t copy)
{
	const struct dart_schema *schema = entry->entry->schema;
	const void *row = copy_of(entry, copy);

	if (entry->entry->copies_are == DART_CONTROL_COPIES_CPU)
		return evaluation->read_ns;
	switch (dart_row__state(schema, row)) {
	case DART_ROW_WHOLE:
		return gathered_ns(evaluation, row, schema);
	case DART_ROW_TORN:
		return ROW_TORN;
	case DART_ROW_EMPTY:
		break;
	}
	return 0;
}

/*
 * Returns the time of a row; for a sum of rows, the latest; 0 if all are empty; ROW_TORN if any is
 * torn.
 */
static int64_t row_time(const struct evaluation *evaluation, const struct plan_row *row)
{
	const struct sample_entry *entry = &evaluation->sample->entries[row->entry];
	int64_t latest_ns = 0, time_ns;
	uint32_t i;

	if (row->copy != PLAN_NONE)
		return copy_time(evaluation, entry, row->copy);
	if (entry->entry->copies_are == DART_CONTROL_COPIES_CPU)
		return evaluation->read_ns;
	for (i = 0; i < entry->entry->copies; i++) {
		const enum dart_row_state state =
			dart_row__state(entry->entry->schema, copy_of(entry, i));

		if (state == DART_ROW_EMPTY)
			continue;
		if (state == DART_ROW_TORN)
			return ROW_TORN;
		time_ns = gathered_ns(evaluation, copy_of(entry, i), entry->entry->schema);
		if (time_ns > latest_ns)
			latest_ns = time_ns;
	}
	return latest_ns;
}

static __int128 number(const struct dart_field *field, uint64_t value)
{
	return field->is_signed ? (__int128)(int64_t)value : (__int128)value;
}

/* Adds up an element over all whole rows. */
static __int128 sum_of_rows(const struct sample_entry *entry, const struct dart_field *field,
			    uint32_t element)
{
	const struct dart_schema *schema = entry->entry->schema;
	__int128 sum = 0;
	uint32_t i;

	for (i = 0; i < entry->entry->copies; i++) {
		const void *row = copy_of(entry, i);

		if (dart_row__state(schema, row) == DART_ROW_WHOLE)
			sum += number(field, dart_field__get(field, row, element));
	}
	return sum;
}

static __int128 field_value(const struct evaluation *evaluation, const struct plan_row *row,
			    uint32_t index, uint32_t element)
{
	const struct sample_entry *entry = &evaluation->sample->entries[row->entry];
	const struct dart_field *field = &entry->entry->schema->fields[index];

	if (row->copy != PLAN_NONE)
		return number(field, dart_field__get(field, copy_of(entry, row->copy), element));
	if (entry->entry->copies_are != DART_CONTROL_COPIES_CPU)
		return sum_of_rows(entry, field, element);
	/* Counters wrap at their width, and so does their sum. */
	return number(field, dart_entry__sum(entry->entry, field, entry->copies, element));
}

static uint64_t idle_of(const struct idle_times *idle, uint32_t cpu, enum plan_term_kind kind)
{
	if (cpu >= idle->cpu_count)
		return 0;
	return kind == PLAN_TERM_IDLE ? idle->cpus[cpu].idle_ns : idle->cpus[cpu].iowait_ns;
}

/*
 * Returns the idle time of a CPU, or of all CPUs: an offline CPU keeps its time, so that the sum
 * does not fall.
 */
static __int128 idle_value(const struct evaluation *evaluation, uint32_t copy,
			   enum plan_term_kind kind)
{
	__int128 sum = 0;
	uint32_t i;

	if (copy != PLAN_NONE)
		return idle_of(&evaluation->points->idle, copy, kind);
	for (i = 0; i < evaluation->points->idle.cpu_count; i++)
		sum += idle_of(&evaluation->points->idle, i, kind);
	return sum;
}

static __int128 convert(const struct name_series *named, __int128 sum)
{
	if (named->mask != UINT64_MAX)
		sum = (uint64_t)sum & named->mask;
	if (named->has_equals)
		return sum == (__int128)named->equals;
	if (named->has_above)
		return sum > (__int128)named->above;
	if (named->has_zero_from && sum >= (__int128)named->zero_from)
		return 0;
	return sum;
}

static double rule_value(const struct evaluation *evaluation, const struct plan_rule *rule)
{
	const struct plan_row *row = &evaluation->plan->rows[rule->row];
	const struct plan_term *term = evaluation->plan->terms + rule->first_term;
	const struct plan_term *end = term + rule->term_count;
	__int128 sum = 0, value;

	for (; term < end; term++) {
		switch (term->kind) {
		case PLAN_TERM_FIELD:
			value = field_value(evaluation, row, term->field, term->element);
			break;
		case PLAN_TERM_CONSTANT:
			value = term->field;
			break;
		default:
			value = idle_value(evaluation, row->copy, term->kind);
		}
		sum += term->is_minus ? -value : value;
	}
	if (sum < 0 && rule->is_unsigned)
		sum = 0;
	if (rule->named)
		sum = convert(rule->named, sum);
	if (rule->per != PLAN_NONE)
		return sum * rule->factor / rule->divisor /
		       field_value(evaluation, row, rule->per, 0);
	return sum * rule->factor / rule->divisor;
}

/* True if the object that the series describes exists. */
static bool is_there(const struct evaluation *evaluation, const struct plan_rule *rule)
{
	const struct plan_row *row = &evaluation->plan->rows[rule->row];
	__int128 value;

	if (rule->when != PLAN_NONE) {
		value = field_value(evaluation, row, rule->when, 0);
		if (rule->named->has_when_equals ? value != (__int128)rule->named->when_equals :
						   value <= 0)
			return false;
	}
	return (rule->per == PLAN_NONE || field_value(evaluation, row, rule->per, 0) > 0);
}

/* Buckets are cumulative: each also counts the values of the buckets below it. */
static void put_histogram(const struct evaluation *evaluation, const struct plan_rule *rule,
			  int64_t time_ns, struct metric_point *points)
{
	const struct plan *plan = evaluation->plan;
	const uint32_t field = plan->terms[rule->first_term].field;
	uint64_t sum = 0;
	uint32_t i, series;

	for (i = 0; i < rule->bucket_count; i++) {
		if (time_ns)
			sum += field_value(evaluation, &plan->rows[rule->row], field, i);
		series = plan->buckets[rule->series + i];
		if (series != PLAN_NONE)
			points[series] = (struct metric_point){ sum, time_ns };
	}
}

static void put_own(const struct evaluation *evaluation, struct metric_point *points)
{
	const struct plan *plan = evaluation->plan;
	double value;
	int own;

	for (own = 0; own < PLAN_OWN_COUNT; own++) {
		if (plan->own[own] == PLAN_NONE)
			continue;
		value = plan_own__value(own, plan, evaluation->sample, evaluation->points->torn);
		points[plan->own[own]] = (struct metric_point){
			.value = value,
			.time_ns = isnan(value) ? 0 : evaluation->read_ns,
		};
	}
}

/* Counts the series of a rule that the plan contains. */
static uint32_t count_series(const struct plan *plan, const struct plan_rule *rule)
{
	uint32_t count = 0, i;

	if (!rule->bucket_count)
		return rule->series != PLAN_NONE;
	for (i = 0; i < rule->bucket_count; i++)
		count += plan->buckets[rule->series + i] != PLAN_NONE;
	return count;
}

void points__evaluate(struct points *points, const struct metric_plan *metrics,
		      const struct sample *sample)
{
	const struct plan *plan = plan__of(metrics);
	const struct sample_head *head = &sample->head;
	const struct evaluation evaluation = {
		.plan = plan,
		.sample = sample,
		.points = points,
		.read_ns = head->time_ns,
		.latest_ns = head->time_ns + (int64_t)(head->landed_ns - head->start_ns),
	};
	const struct plan_rule *rule;
	int64_t time_ns;
	uint32_t i;

	if (plan->cpustat != PLAN_NONE)
		idle_times__update(&points->idle, sample, &sample->entries[plan->cpustat]);
	for (i = 0; i < plan->row_count; i++)
		points->row_times[i] = row_time(&evaluation, &plan->rows[i]);
	for (i = 0; i < plan->rule_count; i++) {
		rule = &plan->rules[i];
		time_ns = points->row_times[rule->row];
		if (time_ns == ROW_TORN) {
			points->torn += count_series(plan, rule);
			time_ns = 0;
		}
		if (time_ns && !is_there(&evaluation, rule))
			time_ns = 0;
		if (rule->bucket_count)
			put_histogram(&evaluation, rule, time_ns, points->points);
		else if (rule->series != PLAN_NONE)
			points->points[rule->series] = (struct metric_point){
				.value = time_ns ? rule_value(&evaluation, rule) : 0,
				.time_ns = time_ns,
			};
	}
	put_own(&evaluation, points->points);
}
