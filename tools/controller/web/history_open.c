// SPDX-License-Identifier: GPL-2.0-only
/* The growing chunk of a history. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history_chunk.h"

#define NONE UINT32_MAX

void history_open__clear(struct history_open *open)
{
	uint32_t i;

	for (i = 0; i < open->clock_count; i++)
		time_column__clear(&open->clocks[i].times);
	for (i = 0; open->values && i < open->series_count; i++)
		value_column__clear(&open->values[i]);
	free(open->clock_of);
	free(open->clocks);
	free(open->values);
	if (open->plan)
		metric_plan__put(open->plan);
	*open = (struct history_open){};
}

/* Adds a clock with the past times of @from.  Returns its index; NONE if out of memory. */
static uint32_t open__add_clock(struct history_open *open, uint32_t from)
{
	uint32_t capacity = open->clock_capacity;
	struct history_clock *clocks;

	if (open->clock_count == capacity) {
		capacity = capacity ? capacity * 2 : 4;
		clocks = realloc(open->clocks, capacity * sizeof(*clocks));
		if (!clocks)
			return NONE;
		open->bytes += (capacity - open->clock_capacity) * sizeof(*clocks);
		open->clocks = clocks;
		open->clock_capacity = capacity;
	}
	clocks = &open->clocks[open->clock_count];
	*clocks = (struct history_clock){};
	if (from != NONE && time_column__copy(&clocks->times, &open->clocks[from].times))
		return NONE;
	open->bytes += clocks->times.capacity;
	return open->clock_count++;
}

static int open__begin(struct history_open *open, struct metric_plan *plan)
{
	open->plan = metric_plan__get(plan);
	open->series_count = plan->series_count;
	open->clock_of = calloc(plan->series_count ?: 1, sizeof(*open->clock_of));
	open->values = calloc(plan->series_count ?: 1, sizeof(*open->values));
	if (!open->clock_of || !open->values || open__add_clock(open, NONE) == NONE)
		return -ENOMEM;
	open->bytes +=
		(size_t)plan->series_count * (sizeof(*open->clock_of) + sizeof(*open->values));
	return 0;
}

/*
 * Series that leave their clock in a scrape, because their time differs.  Series that leave the
 * same clock for the same time share the new one.  A hash table with open addressing, made when the
 * first series leaves.
 */
struct leave {
	int64_t time_us;
	uint32_t from;
	uint32_t to; /* the new clock; NONE: the place is free */
};

struct leaves {
	struct leave *places;
	uint32_t mask;
};

static int leaves__make(struct leaves *leaves, uint32_t series_count)
{
	uint32_t size = 16, i;

	while (size / 2 < series_count && size < UINT32_C(1) << 31)
		size *= 2;
	leaves->places = malloc(size * sizeof(*leaves->places));
	if (!leaves->places)
		return -ENOMEM;
	for (i = 0; i < size; i++)
		leaves->places[i].to = NONE;
	leaves->mask = size - 1;
	return 0;
}

/*
 * Finds the place of @from and @time_us, or a free one.  The table is larger than the number of
 * series.
 */
static struct leave *leaves__find(struct leaves *leaves, uint32_t from, int64_t time_us)
{
	uint64_t hash = ((uint64_t)time_us ^ (uint64_t)from << 40) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = hash >> 32;

	for (;; i++) {
		struct leave *place = &leaves->places[i & leaves->mask];

		if (place->to == NONE || (place->from == from && place->time_us == time_us))
			return place;
	}
}

/* Returns the new clock of a series whose time differs from the time of its clock. */
static uint32_t open__leave(struct history_open *open, struct leaves *leaves, uint32_t from,
			    int64_t time_us)
{
	struct leave *place;

	if (!leaves->places && leaves__make(leaves, open->series_count))
		return NONE;
	place = leaves__find(leaves, from, time_us);
	if (place->to == NONE) {
		*place = (struct leave){ time_us, from, open__add_clock(open, from) };
		if (place->to != NONE) {
			open->clocks[place->to].now_us = time_us;
			open->clocks[place->to].scrape = open->scrapes + 1;
		}
	}
	return place->to;
}

static int open__set_clocks(struct history_open *open, const struct metric_point *points)
{
	struct leaves leaves = {};
	struct history_clock *clock;
	uint32_t i, to;
	int64_t time_us;
	int ret = 0;

	for (i = 0; i < open->series_count && !ret; i++) {
		if (!points[i].time_ns)
			continue;
		time_us = points[i].time_ns / 1000;
		clock = &open->clocks[open->clock_of[i]];
		if (clock->scrape != open->scrapes + 1) {
			clock->now_us = time_us;
			clock->scrape = open->scrapes + 1;
		} else if (clock->now_us != time_us) {
			to = open__leave(open, &leaves, open->clock_of[i], time_us);
			if (to == NONE)
				ret = -ENOMEM;
			else
				open->clock_of[i] = to;
		}
	}
	free(leaves.places);
	return ret;
}

static int open__append_times(struct history_open *open)
{
	struct history_clock *clock;
	uint32_t i, capacity;
	int ret;

	for (i = 0; i < open->clock_count; i++) {
		clock = &open->clocks[i];
		capacity = clock->times.capacity;
		/* All series of this clock are torn, so no reader uses this time. */
		if (clock->scrape != open->scrapes + 1)
			clock->now_us = clock->times.last;
		ret = time_column__append(&clock->times, clock->now_us);
		if (ret)
			return ret;
		open->bytes += clock->times.capacity - capacity;
	}
	return 0;
}

static int open__append_values(struct history_open *open, const struct metric_point *points)
{
	struct value_column *column;
	uint32_t i, capacity;
	int ret;

	for (i = 0; i < open->series_count; i++) {
		column = &open->values[i];
		capacity = column->capacity;
		ret = value_column__append(column, points[i].time_ns ? points[i].value :
								       value_column__gap());
		if (ret)
			return ret;
		open->bytes += column->capacity - capacity;
	}
	return 0;
}

int history_open__append(struct history_open *open, const struct metric_scrape *scrape)
{
	int ret;

	if (!open->scrapes) {
		ret = open__begin(open, scrape->plan);
		if (ret)
			return ret;
		open->first_us = scrape->time_ns / 1000;
	}
	open->last_us = scrape->time_ns / 1000;
	open->clocks[0].now_us = open->last_us;
	open->clocks[0].scrape = open->scrapes + 1;
	ret = open__set_clocks(open, scrape->points);
	ret = ret ?: open__append_times(open);
	ret = ret ?: open__append_values(open, scrape->points);
	if (ret)
		return ret;
	open->scrapes++;
	return 0;
}

struct history_chunk *history_open__seal(const struct history_open *open)
{
	size_t numbers = (size_t)open->series_count * 2 + open->clock_count + 2;
	size_t bytes = sizeof(struct history_chunk) + numbers * 4;
	struct history_chunk *chunk;
	uint32_t i, at = 0, length;

	for (i = 0; i < open->clock_count; i++)
		bytes += open->clocks[i].times.length;
	for (i = 0; i < open->series_count; i++)
		bytes += value_column__bytes(&open->values[i]);
	if (bytes > UINT32_MAX)
		return NULL;
	chunk = malloc(bytes);
	if (!chunk)
		return NULL;
	*chunk = (struct history_chunk){
		.plan = metric_plan__get(open->plan),
		.scrapes = open->scrapes,
		.series_count = open->series_count,
		.clock_count = open->clock_count,
		.first_us = open->first_us,
		.last_us = open->last_us,
		.bytes = bytes,
		.clock_of = (uint32_t *)(chunk + 1),
	};
	atomic_init(&chunk->references, 1);
	chunk->times_at = chunk->clock_of + open->series_count;
	chunk->values_at = chunk->times_at + open->clock_count + 1;
	chunk->columns = (uint8_t *)(chunk->values_at + open->series_count + 1);
	memcpy(chunk->clock_of, open->clock_of, open->series_count * sizeof(*chunk->clock_of));
	for (i = 0; i < open->clock_count; i++) {
		chunk->times_at[i] = at;
		memcpy(chunk->columns + at, open->clocks[i].times.bytes,
		       open->clocks[i].times.length);
		at += open->clocks[i].times.length;
	}
	chunk->times_at[i] = at;
	for (i = 0; i < open->series_count; i++) {
		chunk->values_at[i] = at;
		length = value_column__bytes(&open->values[i]);
		memcpy(chunk->columns + at, open->values[i].bytes, length);
		at += length;
	}
	chunk->values_at[i] = at;
	return chunk;
}
