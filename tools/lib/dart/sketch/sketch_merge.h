/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sum of all parts of a sketch in one period, and its answers: see <dart/sketch.h>. */
#ifndef DART_SKETCH_MERGE_H
#define DART_SKETCH_MERGE_H

#include "sketch.h"

/* Strips that are not there, of present parts. */
struct dart_sketch_holes {
	uint64_t empty;
	uint64_t older;
	uint64_t newer;
	uint64_t torn;
	uint64_t fewer; /* of the sum: the reporters of others, an eighth at least, are more */
	uint64_t more; /* of the sum: the reporters of nearly all others are fewer */
};

/* What the sum consists of. */
struct dart_sketch_summary {
	uint32_t period;
	uint32_t present, absent, unused; /* parts */
	uint32_t reporters; /* of a strip without a hole in the sum */
	uint32_t strips; /* of the sum */
	uint32_t without_hole; /* of these */
	struct dart_sketch_holes holes;
	uint64_t saturated; /* counters of the sum */
	uint64_t total; /* count-min: of all amounts in columns without a hole */
	uint64_t epsilon; /* of each row */
};

enum dart_sketch_outcome {
	DART_SKETCH_COUNTED,
	DART_SKETCH_HOLE, /* no row counts: each has a hole, or a saturated counter */
	DART_SKETCH_SATURATED, /* no row counts, and there is no hole */
};

struct dart_sketch_estimate {
	enum dart_sketch_outcome outcome;
	int64_t count; /* below 0 in a count sketch only */
	uint32_t rows; /* that count */
	double probability; /* that it is at most epsilon off */
};

struct dart_sketch_merge;

/* An empty sum for @period.  Returns 0, -EINVAL (the geometry, or period 0) or -ENOMEM. */
int dart_sketch_merge__new(const struct dart_sketch_geometry *geometry, uint32_t period,
			   struct dart_sketch_merge **merge);
/* @merge may be NULL. */
void dart_sketch_merge__free(struct dart_sketch_merge *merge);
/*
 * Adds the @count strips from number @first on at @bytes, the next ones of bank @period mod 2 of a
 * part; they may be hostile, but must not change meanwhile.
 */
void dart_sketch_merge__add(struct dart_sketch_merge *merge, uint32_t first, uint32_t count,
			    const uint8_t *bytes);
/* All strips of a part were added; @is_silent: there are only zeros in its other bank. */
void dart_sketch_merge__end_part(struct dart_sketch_merge *merge, bool is_silent);
/* All parts were added. */
void dart_sketch_merge__finish(struct dart_sketch_merge *merge);

const struct dart_sketch_summary *dart_sketch_merge__summary(const struct dart_sketch_merge *merge);
/* Asks for a key of 1 to DART_STORE_KEY_MAX bytes. */
void dart_sketch_merge__ask(const struct dart_sketch_merge *merge, const void *key, size_t length,
			    struct dart_sketch_estimate *estimate);

#endif /* DART_SKETCH_MERGE_H */
