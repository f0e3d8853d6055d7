/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sketches: their geometry, strips of counters, and a sketcher's banks: see <dart/sketch.h>. */
#ifndef DART_SKETCH_H
#define DART_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/sketch.h>
#include <libdart/store/store_hash.h>

/* The parameters that all sketchers and readers of a sketch share. */
struct dart_sketch_geometry {
	uint32_t parts; /* of the memory, one for each sketcher */
	uint32_t kind; /* DART_SKETCH_COUNT_MIN or DART_SKETCH_COUNT_SKETCH */
	uint32_t rows;
	uint32_t columns_log2;
	uint32_t period; /* s */
};

/* Returns 0, or -EINVAL if a sketch cannot have this geometry. */
int dart_sketch_geometry__check(const struct dart_sketch_geometry *geometry);
/* Strips of a bank, and bytes of a strip. */
uint32_t dart_sketch_geometry__strips(const struct dart_sketch_geometry *geometry);
uint32_t dart_sketch_geometry__strip_length(const struct dart_sketch_geometry *geometry);
/* Bytes of a sketcher's part, and of all parts. */
uint64_t dart_sketch_geometry__part(const struct dart_sketch_geometry *geometry);
uint64_t dart_sketch_geometry__length(const struct dart_sketch_geometry *geometry);
/* Where strip @number of @period begins in the part of its sketcher. */
uint64_t dart_sketch_geometry__offset(const struct dart_sketch_geometry *geometry, uint32_t period,
				      uint32_t number);
/*
 * A hash whose slots are the CRCs of a key, one for each row.  The caller frees it.  Returns 0,
 * -EINVAL or -ENOMEM.
 */
int dart_sketch_geometry__hash(const struct dart_sketch_geometry *geometry,
			       struct dart_store_hash **hash);

/* "count-min" or "count-sketch"; NULL if there is no such kind. */
const char *dart_sketch_kind__name(uint32_t kind);
/* Returns the kind, or -EINVAL if @name is none. */
int dart_sketch_kind__find(const char *name);

/* ---- counters */

/* The sum of two counters, which stays at the last value; -2^31 of a count sketch is saturated. */
uint32_t dart_sketch_counter__add(uint32_t kind, uint32_t counter, uint32_t other);
bool dart_sketch_counter__is_saturated(uint32_t kind, uint32_t counter);
/* Does row @crc of a count sketch subtract?  Always false in count-min. */
static inline bool dart_sketch__is_negative(uint32_t kind, uint64_t crc)
{
	return kind == DART_SKETCH_COUNT_SKETCH && crc >> 31 & 1;
}

/* ---- strips */

/* What a strip says, apart from its number. */
struct dart_sketch_strip {
	uint32_t period;
	uint32_t reporters;
	const uint8_t *counters; /* in the bytes of the strip */
};

enum dart_sketch_state {
	DART_SKETCH_WHOLE,
	DART_SKETCH_EMPTY, /* all bytes are zeros */
	DART_SKETCH_TORN, /* anything else */
};

/*
 * Reads the strip at @bytes, which was found in place of strip @number; the bytes may be hostile,
 * but must not change meanwhile.  Sets @strip if the strip is whole.
 */
enum dart_sketch_state dart_sketch_strip__read(const struct dart_sketch_geometry *geometry,
					       const uint8_t *bytes, uint32_t number,
					       struct dart_sketch_strip *strip);
/* The counter of @column, 0 to 15, in @row. */
uint32_t dart_sketch_strip__counter(const struct dart_sketch_geometry *geometry,
				    const struct dart_sketch_strip *strip, uint32_t column,
				    uint32_t row);
/*
 * Writes strip @number with @counters, DART_SKETCH_STRIP_COLUMNS times the rows of the sketch, in
 * host byte order, to @bytes.
 */
void dart_sketch_strip__write(const struct dart_sketch_geometry *geometry, uint32_t period,
			      uint32_t reporters, uint32_t number, const uint32_t *counters,
			      uint8_t *bytes);

/* ---- the sketcher's side */

/* A WRITE of a strip to the part of the sketcher. */
struct dart_sketch_write {
	uint64_t offset; /* in the part */
	uint32_t number; /* of the strip */
	uint32_t length; /* bytes */
	const uint8_t *bytes; /* valid until the next call */
};

struct dart_sketcher_counts {
	uint64_t periods; /* whole ones, whose strips were due */
	uint64_t dropped; /* periods that were not whole, of which no strip was due */
	uint64_t lost; /* strips that were not sent before the next period ended */
	uint64_t strips; /* given out by dart_sketcher__next() */
};

/* Counts in one bank, and gives the strips of the other one out. */
struct dart_sketcher;

/* Returns 0, -EINVAL (the geometry) or -ENOMEM. */
int dart_sketcher__new(const struct dart_sketch_geometry *geometry,
		       struct dart_sketcher **sketcher);
/* Forgets counters that were not sent; @sketcher may be NULL. */
void dart_sketcher__free(struct dart_sketcher *sketcher);

/*
 * Tells the time, in ns of CLOCK_REALTIME and of CLOCK_MONOTONIC: a period may have ended, and its
 * strips be due.  The caller does so before it counts, and in each period: a period in which it did
 * not is not sent, nor is the one before.
 */
void dart_sketcher__turn(struct dart_sketcher *sketcher, uint64_t realtime, uint64_t monotonic);
/* Is the present period counted from its begin?  What is counted in another one is not sent. */
bool dart_sketcher__is_whole(const struct dart_sketcher *sketcher);
/* ns of CLOCK_REALTIME when the present period ends. */
uint64_t dart_sketcher__end(const struct dart_sketcher *sketcher);
/* Counts @amount of a key of 1 to DART_STORE_KEY_MAX bytes. */
void dart_sketcher__count(struct dart_sketcher *sketcher, const void *key, size_t length,
			  uint32_t amount);
/*
 * Counts what another program counted: @sums has a sum for each counter of a bank, column by column
 * with its rows; no sum of count-min is below 0.
 */
void dart_sketcher__add(struct dart_sketcher *sketcher, const int64_t *sums);
/* Strips that are due. */
uint32_t dart_sketcher__due(const struct dart_sketcher *sketcher);
/* Takes the next strip that is due and clears its counters.  Returns false if none is due. */
bool dart_sketcher__next(struct dart_sketcher *sketcher, struct dart_sketch_write *write);
const struct dart_sketcher_counts *dart_sketcher__counts(const struct dart_sketcher *sketcher);

#endif /* DART_SKETCH_H */
