// SPDX-License-Identifier: GPL-2.0-only
/* Sealed chunks of a history. */
#include <stdlib.h>
#include <string.h>

#include "history_chunk.h"

struct history_chunk *history_chunk__get(struct history_chunk *chunk)
{
	atomic_fetch_add_explicit(&chunk->references, 1, memory_order_relaxed);
	return chunk;
}

void history_chunk__put(struct history_chunk *chunk)
{
	if (atomic_fetch_sub_explicit(&chunk->references, 1, memory_order_acq_rel) != 1)
		return;
	metric_plan__put(chunk->plan);
	free(chunk);
}

size_t history_chunk__measure_plan(const struct metric_plan *plan)
{
	size_t bytes = sizeof(*plan), i;
	const struct metric_series *series;

	bytes += plan->family_count * sizeof(*plan->families) +
		 plan->series_count * sizeof(*plan->series);
	for (i = 0; i < plan->family_count; i++)
		bytes += strlen(plan->families[i].name) + strlen(plan->families[i].help) + 2;
	for (i = 0; i < plan->series_count; i++) {
		series = &plan->series[i];
		bytes += 2 * strlen(series->text) + 2 +
			 series->label_count * sizeof(*series->labels);
	}
	return bytes;
}

struct metric_plan *history_chunk__plan(const struct history_chunk *chunk)
{
	return chunk->plan;
}

uint32_t history_chunk__scrapes(const struct history_chunk *chunk)
{
	return chunk->scrapes;
}

void history_reader__init(struct history_reader *reader, const struct history_chunk *chunk,
			  uint32_t series)
{
	uint32_t clock = chunk->clock_of[series];

	*reader = (struct history_reader){
		.times = {
			.bytes = chunk->columns + chunk->times_at[clock],
			.length = chunk->times_at[clock + 1] -
				  chunk->times_at[clock],
		},
		.values = {
			.bytes = chunk->columns + chunk->values_at[series],
			.length = chunk->values_at[series + 1] -
				  chunk->values_at[series],
		},
	};
}

bool history_reader__next(struct history_reader *reader, int64_t *time_us, double *value)
{
	/*
	 * The bits after the last value could be taken for more values, so the times decide the
	 * end.
	 */
	return time_reader__next(&reader->times, time_us) &&
	       value_reader__next(&reader->values, value);
}
