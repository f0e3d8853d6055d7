/* SPDX-License-Identifier: GPL-2.0-only */
/* The chunks of a history, as they grow and as they are kept: see history.h. */
#ifndef CONTROLLER_HISTORY_CHUNK_H
#define CONTROLLER_HISTORY_CHUNK_H

#include <stdatomic.h>

#include "history.h"

/* Sealed; in one allocation with all columns. */
struct history_chunk {
	atomic_uint references;
	struct history_chunk *next; /* of the history, under its lock */
	struct metric_plan *plan;
	uint32_t scrapes;
	uint32_t series_count;
	uint32_t clock_count;
	int64_t first_us, last_us; /* of the scrapes */
	size_t bytes;
	size_t plan_bytes; /* of a plan that is only held by chunks; under the history's lock */
	uint8_t *columns;
	uint32_t *clock_of; /* of each series */
	uint32_t *times_at; /* of each clock, and the end: offset in columns */
	uint32_t *values_at; /* of each series, and the end */
};

struct history_chunk *history_chunk__get(struct history_chunk *chunk);
void history_chunk__put(struct history_chunk *chunk);
/* About the bytes of a plan. */
size_t history_chunk__measure_plan(const struct metric_plan *plan);

struct history_clock {
	struct time_column times;
	int64_t now_us; /* in this scrape */
	uint64_t scrape; /* that now_us is of */
};

/* One that grows; zeros before the first scrape. */
struct history_open {
	struct metric_plan *plan;
	uint32_t scrapes;
	uint32_t series_count;
	uint32_t clock_count;
	uint32_t clock_capacity;
	int64_t first_us, last_us;
	size_t bytes; /* allocated */
	uint32_t *clock_of;
	struct history_clock *clocks;
	struct value_column *values;
};

/* 0; or -ENOMEM: it must be cleared then. */
int history_open__append(struct history_open *open, const struct metric_scrape *scrape);
/* A copy; NULL: out of memory. */
struct history_chunk *history_open__seal(const struct history_open *open);
void history_open__clear(struct history_open *open);

#endif /* CONTROLLER_HISTORY_CHUNK_H */
