/* SPDX-License-Identifier: GPL-2.0-only */
/* The chunks of a history, growing and sealed: see history.h. */
#ifndef CONTROLLER_HISTORY_CHUNK_H
#define CONTROLLER_HISTORY_CHUNK_H

#include <stdatomic.h>

#include "history.h"

/* A sealed chunk, in one allocation with all its columns. */
struct history_chunk {
	atomic_uint references;
	struct history_chunk *next; /* next chunk of the history, protected by its lock */
	struct metric_plan *plan;
	uint32_t scrapes;
	uint32_t series_count;
	uint32_t clock_count;
	int64_t first_us, last_us; /* times of the first and the last scrape */
	size_t bytes;
	/* bytes of a plan to which only chunks refer; protected by the history's lock */
	size_t plan_bytes;
	uint8_t *columns;
	uint32_t *clock_of; /* clock of each series */
	uint32_t *times_at; /* offset in @columns of each clock, and of the end */
	uint32_t *values_at; /* offset in @columns of each series, and of the end */
};

struct history_chunk *history_chunk__get(struct history_chunk *chunk);
void history_chunk__put(struct history_chunk *chunk);
/* Estimates the bytes of a plan. */
size_t history_chunk__measure_plan(const struct metric_plan *plan);

struct history_clock {
	struct time_column times;
	int64_t now_us; /* time of the current scrape */
	uint64_t scrape; /* number of the scrape to which now_us belongs */
};

/* A growing chunk; zeros before the first scrape. */
struct history_open {
	struct metric_plan *plan;
	uint32_t scrapes;
	uint32_t series_count;
	uint32_t clock_count;
	uint32_t clock_capacity;
	int64_t first_us, last_us;
	size_t bytes; /* allocated bytes */
	uint32_t *clock_of;
	struct history_clock *clocks;
	struct value_column *values;
};

/* Returns 0, or -ENOMEM: then the caller must clear the chunk. */
int history_open__append(struct history_open *open, const struct metric_scrape *scrape);
/* Makes a sealed copy; NULL if out of memory. */
struct history_chunk *history_open__seal(const struct history_open *open);
void history_open__clear(struct history_open *open);

#endif /* CONTROLLER_HISTORY_CHUNK_H */
