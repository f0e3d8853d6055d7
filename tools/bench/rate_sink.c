// SPDX-License-Identifier: GPL-2.0-only
/* Makes rates of samples, counts and checks them. */
#include "rate_sink.h"

#include <err.h>
#include <stdlib.h>

#include <libdart/table/value.h>

#include "gathered_hosts.h"

static const uint8_t *row_of(const struct sample_entry *entry, uint32_t row)
{
	return (const uint8_t *)entry->copies + (size_t)row * entry->entry->schema->length;
}

static double seconds_between(const struct dart_schema *schema,
			      const uint8_t *before, const uint8_t *now)
{
	return (int64_t)(dart_row__time(schema, now) - dart_row__time(schema, before)) / 1e9;
}

/* The growth of a counter in a row. */
static uint64_t growth_of(const struct dart_field *field, const uint8_t *before, const uint8_t *now)
{
	return dart_field__get(field, now, 0) - dart_field__get(field, before, 0);
}

static void rate_tally__add(struct rate_tally *tally, uint64_t rates, double sum)
{
	count__add(&tally->rates, rates);
	tally->sum += sum;
}

static void rate_tally__add_row(struct rate_tally *tally, const struct dart_schema *schema,
				const uint8_t *before, const uint8_t *now)
{
	uint64_t rates = 0, growth;
	double sum = 0, seconds;
	uint32_t i;

	if (dart_row__state(schema, before) != DART_ROW_WHOLE)
		return;
	seconds = seconds_between(schema, before, now);
	if (seconds <= 0)
		return;
	for (i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind != DART_CONTROL_FIELD_COUNTER)
			continue;
		growth = growth_of(&schema->fields[i], before, now);
		rates += growth > 0;
		sum += growth / seconds;
	}
	rate_tally__add(tally, rates, sum);
}

static void rate_tally__add_rows(struct rate_tally *tally, const struct sample_entry *before,
				 const struct sample_entry *now)
{
	const struct dart_schema *schema = now->entry->schema;
	uint32_t i;

	for (i = 0; i < now->entry->copies; i++) {
		if (dart_row__state(schema, row_of(now, i)) != DART_ROW_WHOLE)
			count__add(&tally->torn, 1);
		else if (before)
			rate_tally__add_row(tally, schema, row_of(before, i), row_of(now, i));
	}
}

/* Adds up all CPUs; each element of a field is a counter. */
static void rate_tally__add_sums(struct rate_tally *tally, const struct sample_entry *before,
				 const struct sample_entry *now, double seconds)
{
	const struct dart_schema *schema = now->entry->schema;
	uint64_t rates = 0, growth;
	double sum = 0;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		growth = now->sums[i] - before->sums[i];
		rates += growth > 0;
		sum += growth / seconds;
	}
	rate_tally__add(tally, rates, sum);
}

static void rate_tally__add_sample(struct rate_tally *tally, const struct sample *sample)
{
	const struct sample *previous = sample->previous;
	const struct sample_entry *before = NULL, *now;
	double seconds = 0;
	uint32_t i;

	if (previous)
		seconds = (sample->head.start_ns - previous->head.start_ns) / 1e9;
	for (i = 0; i < sample->entry_count; i++) {
		now = &sample->entries[i];
		if (previous)
			before = &previous->entries[i];
		if (!now->sums)
			rate_tally__add_rows(tally, before, now);
		else if (seconds > 0)
			rate_tally__add_sums(tally, before, now, seconds);
	}
}

static int put_sample(struct sink *of, const struct target_settings *target,
		      const struct sample *sample, const struct latency *decoded)
{
	struct rate_sink *sink = (struct rate_sink *)of;
	struct rate_tally *tally = &sink->tallies[target->index];
	uint64_t number;

	rate_tally__add_sample(tally, sample);
	/* Another target each time, also if there are as many as samples between two. */
	number = count__add(&tally->samples, 1) * (sink->count + 1) + target->index;
	if (number % sink->check_every)
		return 0;
	count__add(&tally->checked, 1);
	if (!gathered_hosts__are_values_of(target->index, sample))
		count__add(&tally->wrong, 1);
	return 0;
}

static int note_loss(struct sink *of, const struct target_settings *target, const char *reason)
{
	struct rate_sink *sink = (struct rate_sink *)of;

	count__add(&sink->tallies[target->index].lost, 1);
	warnx("%s is lost: %s", target->name, reason);
	return 0;
}

static const struct sink_operations operations = {
	.sample = put_sample,
	.lost = note_loss,
};

struct rate_sink *rate_sink__new(uint32_t targets, uint32_t check_every)
{
	struct rate_sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		err(EXIT_FAILURE, "memory");
	*sink = (struct rate_sink){
		.sink.operations = &operations,
		.sink.compares = true,
		/* Messages about each connection are not of interest. */
		.sink.owns_terminal = true,
		.check_every = check_every,
		.count = targets,
		.tallies = aligned_alloc(64, targets * sizeof(*sink->tallies)),
	};
	if (!sink->tallies)
		err(EXIT_FAILURE, "memory");
	for (uint32_t i = 0; i < targets; i++)
		sink->tallies[i] = (struct rate_tally){};
	return sink;
}

void rate_sink__free(struct rate_sink *sink)
{
	free(sink->tallies);
	free(sink);
}

struct rate_sums rate_sink__sums(const struct rate_sink *sink)
{
	const struct rate_tally *tally = sink->tallies;
	struct rate_sums sums = {};

	for (; tally < sink->tallies + sink->count; tally++) {
		sums.started += count__of(&tally->samples) > 0;
		sums.samples += count__of(&tally->samples);
		sums.checked += count__of(&tally->checked);
		sums.wrong += count__of(&tally->wrong);
		sums.torn += count__of(&tally->torn);
		sums.rates += count__of(&tally->rates);
		sums.lost += count__of(&tally->lost);
	}
	return sums;
}
