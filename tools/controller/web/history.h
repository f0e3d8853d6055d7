/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The history of a target's series, in memory: *chunks* of up to HISTORY_CHUNK_SCRAPES scrapes with
 * the same plan.  A chunk contains a column of values for each series (value_column.h), and columns
 * of times, its *clocks* (time_column.h).  Series share a clock as long as their times are equal,
 * like series that a host gathers at once.  Clock 0 contains the times of the scrapes themselves.
 *
 * The history alone uses the growing chunk.  Sealed chunks are immutable and reference-counted: a
 * *view* holds references, and is read without the lock of the history.  The caller locks the
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

/* Returns NULL if out of memory. */
struct history *history__new(void);
void history__free(struct history *history);

/*
 * Appends a scrape.  Returns 0; or -ENOMEM: then the growing chunk is lost, and the next scrape
 * begins a new one.
 */
int history__append(struct history *history, const struct metric_scrape *scrape);
/*
 * Drops chunks that end before @oldest_us, and further ones, the oldest first, until at most @bytes
 * remain.  If the growing chunk alone exceeds @bytes, it is dropped, too.
 */
void history__trim(struct history *history, size_t bytes, int64_t oldest_us);
/*
 * Returns the allocated bytes, including plans to which only chunks refer, without the overhead of
 * malloc().
 */
size_t history__bytes(const struct history *history);
/* Returns the number of points, including points of torn rows. */
uint64_t history__points(const struct history *history);

struct history_view {
	struct history_chunk **chunks; /* the oldest first */
	size_t count;
};

/*
 * Collects the chunks with scrapes from @from_us to @to_us.  Returns 0 or -ENOMEM.  The caller
 * clears the view, with or without the lock of the history.
 */
int history__view(const struct history *history, int64_t from_us, int64_t to_us,
		  struct history_view *view);
void history_view__clear(struct history_view *view);

/* Valid as long as the view holds the chunk. */
struct metric_plan *history_chunk__plan(const struct history_chunk *chunk);
uint32_t history_chunk__scrapes(const struct history_chunk *chunk);

/* Reads the points of a series, one for each scrape of the chunk. */
struct history_reader {
	struct time_reader times;
	struct value_reader values;
};

/* @series is an index in the plan of the chunk. */
void history_reader__init(struct history_reader *reader, const struct history_chunk *chunk,
			  uint32_t series);
/*
 * Returns false after the last point.  A point of a torn row gets the value of value_column__gap().
 */
bool history_reader__next(struct history_reader *reader, int64_t *time_us, double *value);

#endif /* CONTROLLER_HISTORY_H */
