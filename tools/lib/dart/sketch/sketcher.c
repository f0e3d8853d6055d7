// SPDX-License-Identifier: LGPL-2.1-or-later
/* Counts keys in one bank, and gives the strips of the other one out: see <dart/sketch.h>. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sketch.h"

#define NS_PER_S UINT64_C(1000000000)

/* A clock that was set by more than this part of a period makes the period incomplete. */
#define SET_SHARE 10

struct dart_sketcher {
	struct dart_sketch_geometry geometry;
	struct dart_store_hash *hash;
	uint32_t *counters[DART_SKETCH_BANKS]; /* column by column */
	uint32_t period; /* that is counted; 0: none yet */
	bool is_whole; /* counted from its begin */
	uint64_t offset; /* of the clock to CLOCK_MONOTONIC, when the period began */
	uint32_t due_period;
	uint32_t due; /* strips of it that were not sent */
	struct dart_sketcher_counts counts;
	uint8_t strip[DART_SKETCH_STRIP_MAX];
};

static size_t bank_bytes(const struct dart_sketch_geometry *geometry)
{
	return sizeof(uint32_t) * geometry->rows << geometry->columns_log2;
}

int dart_sketcher__new(const struct dart_sketch_geometry *geometry, struct dart_sketcher **result)
{
	struct dart_sketcher *sketcher;
	int ret = -ENOMEM, i;

	if (dart_sketch_geometry__check(geometry))
		return -EINVAL;
	sketcher = calloc(1, sizeof(*sketcher));
	if (!sketcher)
		return -ENOMEM;
	sketcher->geometry = *geometry;
	for (i = 0; i < DART_SKETCH_BANKS; i++) {
		sketcher->counters[i] = calloc(1, bank_bytes(geometry));
		if (!sketcher->counters[i])
			goto fail;
	}
	ret = dart_sketch_geometry__hash(geometry, &sketcher->hash);
	if (ret)
		goto fail;
	*result = sketcher;
	return 0;
fail:
	dart_sketcher__free(sketcher);
	return ret;
}

void dart_sketcher__free(struct dart_sketcher *sketcher)
{
	int i;

	if (!sketcher)
		return;
	for (i = 0; i < DART_SKETCH_BANKS; i++)
		free(sketcher->counters[i]);
	dart_store_hash__free(sketcher->hash);
	free(sketcher);
}

static uint32_t *bank_of(const struct dart_sketcher *sketcher, uint32_t period)
{
	return sketcher->counters[period % DART_SKETCH_BANKS];
}

static void clear(struct dart_sketcher *sketcher, uint32_t period)
{
	memset(bank_of(sketcher, period), 0, bank_bytes(&sketcher->geometry));
}

/* The difference of two offsets, either of which may be greater. */
static bool was_set(const struct dart_sketcher *sketcher, uint64_t offset)
{
	const uint64_t ahead = offset - sketcher->offset, behind = sketcher->offset - offset;
	const uint64_t by = ahead < behind ? ahead : behind;

	return by > sketcher->geometry.period * NS_PER_S / SET_SHARE;
}

/* The counted period has ended, and the next one begins. */
static void end_period(struct dart_sketcher *sketcher)
{
	sketcher->counts.lost += sketcher->due;
	if (sketcher->due)
		clear(sketcher, sketcher->due_period);
	sketcher->due = 0;
	if (sketcher->is_whole) {
		sketcher->counts.periods++;
		sketcher->due_period = sketcher->period;
		sketcher->due = dart_sketch_geometry__strips(&sketcher->geometry);
	} else {
		sketcher->counts.dropped++;
		clear(sketcher, sketcher->period);
	}
}

void dart_sketcher__turn(struct dart_sketcher *sketcher, uint64_t realtime, uint64_t monotonic)
{
	const uint32_t period = realtime / NS_PER_S / sketcher->geometry.period;
	const uint64_t offset = realtime - monotonic;

	if (sketcher->period && was_set(sketcher, offset)) {
		sketcher->is_whole = false;
		sketcher->offset = offset;
	}
	if (period == sketcher->period)
		return;
	if (period && period - 1 == sketcher->period) {
		end_period(sketcher);
		sketcher->is_whole = true;
	} else {
		/* The first one, or one after a gap or before the last: what is due is lost. */
		sketcher->is_whole = false;
		if (sketcher->period)
			end_period(sketcher);
		clear(sketcher, period);
	}
	sketcher->period = period;
	sketcher->offset = offset;
}

bool dart_sketcher__is_whole(const struct dart_sketcher *sketcher)
{
	return sketcher->is_whole;
}

uint64_t dart_sketcher__end(const struct dart_sketcher *sketcher)
{
	return (sketcher->period + UINT64_C(1)) * sketcher->geometry.period * NS_PER_S;
}

void dart_sketcher__count(struct dart_sketcher *sketcher, const void *key, size_t length,
			  uint32_t amount)
{
	const struct dart_sketch_geometry *geometry = &sketcher->geometry;
	const uint64_t mask = (1u << geometry->columns_log2) - 1;
	uint32_t *bank = bank_of(sketcher, sketcher->period);
	struct dart_store_place place;
	uint32_t row;

	if (geometry->kind == DART_SKETCH_COUNT_SKETCH && amount > INT32_MAX)
		amount = INT32_MAX;
	dart_store_hash__place(sketcher->hash, key, length, &place);
	for (row = 0; row < geometry->rows; row++) {
		const uint64_t crc = place.slots[row];
		uint32_t *counter = &bank[(crc & mask) * geometry->rows + row];
		const uint32_t change = dart_sketch__is_negative(geometry->kind, crc) ? -amount :
											amount;

		*counter = dart_sketch_counter__add(geometry->kind, *counter, change);
	}
}

/* The counter after @sum alone. */
static uint32_t saturate(uint32_t kind, int64_t sum)
{
	if (kind == DART_SKETCH_COUNT_MIN)
		return sum < UINT32_MAX ? sum : UINT32_MAX;
	if (sum > INT32_MAX)
		return INT32_MAX;
	return sum < -INT32_MAX ? -INT32_MAX : sum;
}

void dart_sketcher__add(struct dart_sketcher *sketcher, const int64_t *sums)
{
	const struct dart_sketch_geometry *geometry = &sketcher->geometry;
	const size_t count = (size_t)geometry->rows << geometry->columns_log2;
	uint32_t *bank = bank_of(sketcher, sketcher->period);
	size_t i;

	for (i = 0; i < count; i++)
		if (sums[i])
			bank[i] = dart_sketch_counter__add(geometry->kind, bank[i],
							   saturate(geometry->kind, sums[i]));
}

uint32_t dart_sketcher__due(const struct dart_sketcher *sketcher)
{
	return sketcher->due;
}

bool dart_sketcher__next(struct dart_sketcher *sketcher, struct dart_sketch_write *write)
{
	const struct dart_sketch_geometry *geometry = &sketcher->geometry;
	const uint32_t count = DART_SKETCH_STRIP_COLUMNS * geometry->rows;
	uint32_t number, *counters;

	if (!sketcher->due)
		return false;
	number = dart_sketch_geometry__strips(geometry) - sketcher->due--;
	counters = bank_of(sketcher, sketcher->due_period) + (size_t)number * count;
	dart_sketch_strip__write(geometry, sketcher->due_period, 1, number, counters,
				 sketcher->strip);
	memset(counters, 0, count * sizeof(*counters));
	sketcher->counts.strips++;
	*write = (struct dart_sketch_write){
		.offset = dart_sketch_geometry__offset(geometry, sketcher->due_period, number),
		.number = number,
		.length = dart_sketch_geometry__strip_length(geometry),
		.bytes = sketcher->strip,
	};
	return true;
}

const struct dart_sketcher_counts *dart_sketcher__counts(const struct dart_sketcher *sketcher)
{
	return &sketcher->counts;
}
