/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of a target's series, in memory: *chunks* of up to HISTORY_CHUNK_SCRAPES
 * scrapes with the same plan.  A chunk has a column of values for each series
 * (value_column.h), and columns of times, its *clocks* (time_column.h), which series share
 * as long as their times are equal: those that a host gathers at once have equal ones.
 * Clock 0 has the times of the scrapes themselves.
 *
 * The chunk that grows is the history's own.  Sealed ones are immutable and counted: a
 * *view* holds them, and is read without the lock of the history.  The caller locks the
 * history.
 */
#ifndef CONTROLLER_HISTORY_H
#define CONTROLLER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/controller/metrics/metric/metric.h"

#include "time_column.h"
#include "value_column.h"

#define HISTORY_CHUNK_SCRAPES 120

struct history_chunk;
struct history;

/* NULL: out of memory. */
struct history *history__new(void);
void history__free(struct history *history);

/*
 * Appends a scrape.  Returns 0; or -ENOMEM: then the chunk that grew is lost as well, and
 * the next scrape begins a new one.
 */
int history__append(struct history *history, const struct metric_scrape *scrape);
/*
 * Drops chunks, oldest first, that end before @oldest_us, and further ones until no more than
 * @bytes are left; if even the chunk that grows is larger, that one.
 */
void history__trim(struct history *history, size_t bytes, int64_t oldest_us);
/*
 * All that it has allocated, with plans that only its chunks hold; without the overhead of
 * malloc().
 */
size_t history__bytes(const struct history *history);
/* Points that it has, those of torn rows included. */
uint64_t history__points(const struct history *history);

struct history_view {
	struct history_chunk **chunks; /* oldest first */
	size_t count;
};

/*
 * The chunks with scrapes from @from_us to @to_us.  Returns 0 or -ENOMEM.  To be cleared
 * without or with the history's lock.
 */
int history__view(const struct history *history, int64_t from_us, int64_t to_us,
		  struct history_view *view);
void history_view__clear(struct history_view *view);

/* As long as the view holds the chunk. */
struct metric_plan *history_chunk__plan(const struct history_chunk *chunk);
uint32_t history_chunk__scrapes(const struct history_chunk *chunk);

/* The points of a series, as many as the chunk has scrapes. */
struct history_reader {
	struct time_reader times;
	struct value_reader values;
};

/* @series is an index of the chunk's plan. */
void history_reader__init(struct history_reader *reader, const struct history_chunk *chunk,
			  uint32_t series);
/*
 * False behind the last.  A point of a torn row has the value of value_column__gap().
 */
bool history_reader__next(struct history_reader *reader, int64_t *time_us, double *value);

#endif /* CONTROLLER_HISTORY_H */
