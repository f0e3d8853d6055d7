// SPDX-License-Identifier: GPL-2.0-only
/* Makes rates of samples, counts and checks them. */
#include "rate_sink.h"

#include <err.h>
#include <stdlib.h>

#include <libdart/table/value.h>

#include "gathered_hosts.h"

static const uint8_t *row_of(const struct sample_entry *entry, uint32_t row)
{
	return (const uint8_t *)entry->copies +
	       (size_t)row * entry->entry->schema->length;
}

static double seconds_between(const struct dart_schema *schema,
			      const uint8_t *before, const uint8_t *now)
{
	return (int64_t)(dart_row__time(schema, now) -
			 dart_row__time(schema, before)) /
	       1e9;
}

/* How much counter @index has grown in a row, or in the sums that the entry has instead. */
static uint64_t growth_of(const struct sample_entry *before,
			  const struct sample_entry *now, uint32_t row,
			  uint32_t index)
{
	const struct dart_field *field = &now->entry->schema->fields[index];

	if (now->sums)
		return now->sums[index] - before->sums[index];
	return dart_field__get(field, row_of(now, row), 0) -
	       dart_field__get(field, row_of(before, row), 0);
}

static void rate_tally__add_row(struct rate_tally *tally,
				const struct sample_entry *before,
				const struct sample_entry *now, uint32_t row)
{
	const struct dart_schema *schema = now->entry->schema;
	uint64_t rates = 0, growth;
	double sum = 0, seconds;
	uint32_t i;

	if (dart_row__state(schema, row_of(before, row)) != DART_ROW_WHOLE)
		return;
	seconds = seconds_between(schema, row_of(before, row),
				  row_of(now, row));
	if (seconds <= 0)
		return;
	for (i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind != DART_CONTROL_FIELD_COUNTER)
			continue;
		growth = growth_of(before, now, row, i);
		rates += growth > 0;
		sum += growth / seconds;
	}
	count__add(&tally->rates, rates);
	tally->sum += sum;
}

static void rate_tally__add_entry(struct rate_tally *tally,
				  const struct sample_entry *before,
				  const struct sample_entry *now)
{
	uint32_t i;

	for (i = 0; i < now->entry->copies; i++) {
		if (dart_row__state(now->entry->schema, row_of(now, i)) !=
		    DART_ROW_WHOLE)
			count__add(&tally->torn, 1);
		else if (before)
			rate_tally__add_row(tally, before, now, i);
	}
}

static int put_sample(struct sink *of, const struct target_settings *target,
		      const struct sample *sample,
		      const struct latency *decoded)
{
	struct rate_sink *sink = (struct rate_sink *)of;
	struct rate_tally *tally = &sink->tallies[target->index];
	const struct sample *previous = sample->previous;
	uint64_t number;
	uint32_t i;

	for (i = 0; i < sample->entry_count; i++)
		rate_tally__add_entry(tally,
				      previous ? &previous->entries[i] : NULL,
				      &sample->entries[i]);
	/* Another target each time, also if there are as many as samples between two. */
	number = count__add(&tally->samples, 1) * (sink->count + 1) +
		 target->index;
	if (number % sink->check_every)
		return 0;
	count__add(&tally->checked, 1);
	if (!gathered_hosts__are_values_of(target->index, sample))
		count__add(&tally->wrong, 1);
	return 0;
}

static int note_loss(struct sink *of, const struct target_settings *target,
		     const char *reason)
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
