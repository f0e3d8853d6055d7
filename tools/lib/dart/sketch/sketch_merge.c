// SPDX-License-Identifier: LGPL-2.1-or-later
/* Adds up the parts of a sketch, and decides what the sum says of a key: see <dart/sketch.h>. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "sketch_merge.h"

/* The sum of counters of which one is saturated. */
#define SATURATED INT64_MIN

/* The sum of a strip of all parts. */
struct sum {
	uint32_t reporters;
	uint32_t missing; /* parts, with those that are absent */
};

struct dart_sketch_merge {
	struct dart_sketch_geometry geometry;
	struct dart_store_hash *hash;
	struct dart_sketch_summary summary;
	struct dart_sketch_holes holes; /* of the part that is being added */
	uint32_t found; /* whole strips of the period in it */
	int64_t *counters; /* column by column */
	struct sum sums[];
};

int dart_sketch_merge__new(const struct dart_sketch_geometry *geometry, uint32_t period,
			   struct dart_sketch_merge **result)
{
	struct dart_sketch_merge *merge;
	uint32_t strips;
	int ret;

	if (dart_sketch_geometry__check(geometry) || !period)
		return -EINVAL;
	strips = dart_sketch_geometry__strips(geometry);
	merge = calloc(1, sizeof(*merge) + strips * sizeof(*merge->sums));
	if (!merge)
		return -ENOMEM;
	merge->geometry = *geometry;
	merge->summary.period = period;
	merge->summary.strips = strips;
	merge->counters =
		calloc((size_t)geometry->rows << geometry->columns_log2, sizeof(*merge->counters));
	ret = merge->counters ? dart_sketch_geometry__hash(geometry, &merge->hash) : -ENOMEM;
	if (ret)
		dart_sketch_merge__free(merge);
	else
		*result = merge;
	return ret;
}

void dart_sketch_merge__free(struct dart_sketch_merge *merge)
{
	if (!merge)
		return;
	dart_store_hash__free(merge->hash);
	free(merge->counters);
	free(merge);
}

/* ---- adding */

/* At most 64 parts of 32 bits: the sum does not overflow. */
static void add_counter(const struct dart_sketch_geometry *geometry, int64_t *sum, uint32_t counter)
{
	if (*sum == SATURATED || dart_sketch_counter__is_saturated(geometry->kind, counter))
		*sum = SATURATED;
	else if (geometry->kind == DART_SKETCH_COUNT_MIN)
		*sum += counter;
	else
		*sum += (int32_t)counter;
}

static void add_strip(struct dart_sketch_merge *merge, uint32_t number,
		      const struct dart_sketch_strip *strip)
{
	const struct dart_sketch_geometry *geometry = &merge->geometry;
	int64_t *sum =
		merge->counters + (size_t)number * DART_SKETCH_STRIP_COLUMNS * geometry->rows;
	uint32_t column, row;

	for (column = 0; column < DART_SKETCH_STRIP_COLUMNS; column++)
		for (row = 0; row < geometry->rows; row++)
			add_counter(geometry, sum++,
				    dart_sketch_strip__counter(geometry, strip, column, row));
	merge->sums[number].reporters += strip->reporters;
	merge->found++;
}

/* Where the hole is counted that takes the place of a strip. */
static uint64_t *hole_of(struct dart_sketch_holes *holes, enum dart_sketch_state state,
			 const struct dart_sketch_strip *strip, uint32_t period)
{
	if (state == DART_SKETCH_EMPTY)
		return &holes->empty;
	if (state == DART_SKETCH_TORN)
		return &holes->torn;
	if (strip->period == period)
		return NULL;
	return strip->period < period ? &holes->older : &holes->newer;
}

void dart_sketch_merge__add(struct dart_sketch_merge *merge, uint32_t first, uint32_t count,
			    const uint8_t *bytes)
{
	const uint32_t length = dart_sketch_geometry__strip_length(&merge->geometry);
	struct dart_sketch_strip strip;
	uint32_t number;

	for (number = first; number < first + count; number++, bytes += length) {
		const enum dart_sketch_state state =
			dart_sketch_strip__read(&merge->geometry, bytes, number, &strip);
		uint64_t *hole = hole_of(&merge->holes, state, &strip, merge->summary.period);

		if (!hole) {
			add_strip(merge, number, &strip);
			continue;
		}
		++*hole;
		merge->sums[number].missing++;
	}
}

void dart_sketch_merge__end_part(struct dart_sketch_merge *merge, bool is_silent)
{
	struct dart_sketch_summary *summary = &merge->summary;
	const struct dart_sketch_holes *holes = &merge->holes;

	if (merge->found) {
		summary->present++;
		summary->holes.empty += holes->empty;
		summary->holes.older += holes->older;
		summary->holes.newer += holes->newer;
		summary->holes.torn += holes->torn;
	} else if (is_silent && holes->empty == summary->strips) {
		summary->unused++;
	} else {
		summary->absent++;
	}
	merge->holes = (struct dart_sketch_holes){};
	merge->found = 0;
}

/* Parts that are not present miss each strip. */
static bool has_all_parts(const struct dart_sketch_merge *merge, const struct sum *sum)
{
	return sum->missing == merge->summary.absent + merge->summary.unused;
}

static bool has_hole(const struct dart_sketch_merge *merge, uint32_t number)
{
	const struct sum *sum = &merge->sums[number];

	return !has_all_parts(merge, sum) || sum->reporters != merge->summary.reporters;
}

/* Of a row: the sum of its counters, and of their squares. */
struct row_sums {
	double total, squares;
};

static void sum_rows(struct dart_sketch_merge *merge, struct row_sums sums[DART_SKETCH_ROWS_MAX])
{
	const struct dart_sketch_geometry *geometry = &merge->geometry;
	const int64_t last = geometry->kind == DART_SKETCH_COUNT_MIN ? UINT32_MAX : INT32_MAX;
	const int64_t *counter = merge->counters;
	uint32_t column, row;

	for (column = 0; column < 1u << geometry->columns_log2; column++) {
		if (has_hole(merge, column >> DART_SKETCH_STRIP_COLUMNS_LOG2)) {
			counter += geometry->rows;
			continue;
		}
		for (row = 0; row < geometry->rows; row++, counter++) {
			const double value = *counter == SATURATED ? last : *counter;

			merge->summary.saturated += *counter == SATURATED;
			sums[row].total += value;
			sums[row].squares += value * value;
		}
	}
}

/* Strips without a hole in any part that have @reporters at least. */
static uint32_t count_strips(const struct dart_sketch_merge *merge, uint32_t reporters)
{
	uint32_t i, count = 0;

	for (i = 0; i < merge->summary.strips; i++)
		count += has_all_parts(merge, &merge->sums[i]) &&
			 merge->sums[i].reporters >= reporters;
	return count;
}

/*
 * The most reporters that an eighth of the strips have: others may have more by a lie or a damaged
 * count of one sketcher, and would make all strips holes.
 */
static uint32_t find_reporters(const struct dart_sketch_merge *merge)
{
	const uint32_t all = count_strips(merge, 0);
	uint32_t low = 0, high = DART_SKETCH_PARTS_MAX * UINT16_MAX, middle;

	while (low < high) {
		middle = low + (high - low + 1) / 2;
		if (8 * count_strips(merge, middle) >= all && count_strips(merge, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

void dart_sketch_merge__finish(struct dart_sketch_merge *merge)
{
	struct dart_sketch_summary *summary = &merge->summary;
	struct row_sums rows[DART_SKETCH_ROWS_MAX] = {};
	double total = 0, squares = 0, columns;
	uint32_t i;

	summary->reporters = find_reporters(merge);
	summary->holes.more = count_strips(merge, summary->reporters + 1);
	for (i = 0; i < summary->strips; i++) {
		summary->holes.fewer += has_all_parts(merge, &merge->sums[i]) &&
					merge->sums[i].reporters < summary->reporters;
		summary->without_hole += !has_hole(merge, i);
	}
	if (!summary->present || !summary->without_hole)
		return;
	sum_rows(merge, rows);
	for (i = 0; i < merge->geometry.rows; i++) {
		total = fmax(total, rows[i].total);
		squares = fmax(squares, rows[i].squares);
	}
	columns = (double)summary->without_hole * DART_SKETCH_STRIP_COLUMNS;
	if (merge->geometry.kind == DART_SKETCH_COUNT_MIN) {
		summary->total = total;
		summary->epsilon = 2 * total / columns;
	} else {
		summary->epsilon = 2 * sqrt(squares / columns);
	}
}

const struct dart_sketch_summary *dart_sketch_merge__summary(const struct dart_sketch_merge *merge)
{
	return &merge->summary;
}

/* ---- asking */

static int compare(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* The minimum, or the median, of @count sorted rows. */
static int64_t decide(uint32_t kind, const int64_t *rows, uint32_t count)
{
	if (kind == DART_SKETCH_COUNT_MIN)
		return rows[0];
	if (count % 2)
		return rows[count / 2];
	return (rows[count / 2 - 1] + rows[count / 2]) / 2;
}

/* The probability that @count rows together are at most epsilon off. */
static double probability_of(uint32_t kind, uint32_t count)
{
	double each = pow(0.75, count), wrong = 0;
	uint32_t off;

	if (kind == DART_SKETCH_COUNT_MIN)
		return 1 - ldexp(1, -(int)count);
	/* @each: that certain @off rows are off by more, and the others are not, in any order */
	for (off = 0; off <= count; off++) {
		if (2 * off >= count)
			wrong += each;
		each = each * (count - off) / (off + 1) / 3;
	}
	return 1 - wrong;
}

void dart_sketch_merge__ask(const struct dart_sketch_merge *merge, const void *key, size_t length,
			    struct dart_sketch_estimate *estimate)
{
	const struct dart_sketch_geometry *geometry = &merge->geometry;
	const uint64_t mask = (1u << geometry->columns_log2) - 1;
	int64_t rows[DART_SKETCH_ROWS_MAX];
	struct dart_store_place place;
	bool has_holes = false;
	uint32_t row, count = 0;

	dart_store_hash__place(merge->hash, key, length, &place);
	for (row = 0; row < geometry->rows; row++) {
		const uint64_t crc = place.slots[row], column = crc & mask;
		const int64_t counter = merge->counters[column * geometry->rows + row];

		if (!merge->summary.present ||
		    has_hole(merge, column >> DART_SKETCH_STRIP_COLUMNS_LOG2))
			has_holes = true;
		else if (counter != SATURATED)
			rows[count++] = dart_sketch__is_negative(geometry->kind, crc) ? -counter :
											counter;
	}
	*estimate = (struct dart_sketch_estimate){ .rows = count };
	if (!count) {
		estimate->outcome = has_holes ? DART_SKETCH_HOLE : DART_SKETCH_SATURATED;
		return;
	}
	qsort(rows, count, sizeof(*rows), compare);
	estimate->count = decide(geometry->kind, rows, count);
	estimate->probability = probability_of(geometry->kind, count);
}
