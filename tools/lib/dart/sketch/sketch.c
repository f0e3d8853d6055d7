// SPDX-License-Identifier: LGPL-2.1-or-later
/* The geometry of sketches, their counters and their strips: see <dart/sketch.h>. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include <linux/types.h>

#include "sketch.h"

#define COUNTER sizeof(uint32_t)

_Static_assert(DART_SKETCH_ROWS_MAX == DART_STORE_REDUNDANCY_MAX, "each row has a polynomial");
_Static_assert(DART_SKETCH_STRIP_MAX ==
		       DART_SKETCH_STRIP_COUNTERS +
			       DART_SKETCH_STRIP_COLUMNS * COUNTER * DART_SKETCH_ROWS_MAX +
			       DART_SKETCH_STRIP_CRC,
	       "the longest strip");

static const char *const kinds[] = {
	[DART_SKETCH_COUNT_MIN] = "count-min",
	[DART_SKETCH_COUNT_SKETCH] = "count-sketch",
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

int dart_sketch_geometry__check(const struct dart_sketch_geometry *geometry)
{
	if (!geometry->parts || geometry->parts > DART_SKETCH_PARTS_MAX ||
	    geometry->kind >= KINDS || !geometry->rows || geometry->rows > DART_SKETCH_ROWS_MAX ||
	    geometry->columns_log2 < DART_SKETCH_COLUMNS_LOG2_MIN ||
	    geometry->columns_log2 > DART_SKETCH_COLUMNS_LOG2_MAX || !geometry->period ||
	    geometry->period > DART_SKETCH_PERIOD_MAX)
		return -EINVAL;
	return 0;
}

uint32_t dart_sketch_geometry__strips(const struct dart_sketch_geometry *geometry)
{
	return 1u << (geometry->columns_log2 - DART_SKETCH_STRIP_COLUMNS_LOG2);
}

uint32_t dart_sketch_geometry__strip_length(const struct dart_sketch_geometry *geometry)
{
	return DART_SKETCH_STRIP_COUNTERS + DART_SKETCH_STRIP_COLUMNS * COUNTER * geometry->rows +
	       DART_SKETCH_STRIP_CRC;
}

uint64_t dart_sketch_geometry__part(const struct dart_sketch_geometry *geometry)
{
	return (uint64_t)DART_SKETCH_BANKS * dart_sketch_geometry__strips(geometry) *
	       dart_sketch_geometry__strip_length(geometry);
}

uint64_t dart_sketch_geometry__length(const struct dart_sketch_geometry *geometry)
{
	return geometry->parts * dart_sketch_geometry__part(geometry);
}

uint64_t dart_sketch_geometry__offset(const struct dart_sketch_geometry *geometry, uint32_t period,
				      uint32_t number)
{
	const uint64_t strips = dart_sketch_geometry__strips(geometry);

	return (period % DART_SKETCH_BANKS * strips + number) *
	       dart_sketch_geometry__strip_length(geometry);
}

int dart_sketch_geometry__hash(const struct dart_sketch_geometry *geometry,
			       struct dart_store_hash **hash)
{
	/* The values of this store do not exist; its slots have all bits of the CRCs. */
	const struct dart_store_geometry store = {
		.slots = UINT64_C(1) << DART_STORE_SLOTS_LOG2_MAX,
		.value_length = DART_STORE_VALUE_MIN,
		.checksum_bits = 32,
		.redundancy = geometry->rows,
	};

	_Static_assert(DART_STORE_SLOTS_LOG2_MAX == 32, "a CRC has no more bits");
	if (dart_sketch_geometry__check(geometry))
		return -EINVAL;
	return dart_store_hash__new(&store, hash);
}

const char *dart_sketch_kind__name(uint32_t kind)
{
	return kind < KINDS ? kinds[kind] : NULL;
}

int dart_sketch_kind__find(const char *name)
{
	uint32_t kind;

	for (kind = 0; kind < KINDS; kind++)
		if (!strcmp(name, kinds[kind]))
			return kind;
	return -EINVAL;
}

/* ---- counters */

bool dart_sketch_counter__is_saturated(uint32_t kind, uint32_t counter)
{
	const int32_t value = (int32_t)counter;

	if (kind == DART_SKETCH_COUNT_MIN)
		return counter == UINT32_MAX;
	return value >= INT32_MAX || value <= -INT32_MAX;
}

static uint32_t limit(int64_t sum)
{
	if (sum > INT32_MAX)
		sum = INT32_MAX;
	if (sum < -INT32_MAX)
		sum = -INT32_MAX;
	return (uint32_t)sum;
}

uint32_t dart_sketch_counter__add(uint32_t kind, uint32_t counter, uint32_t other)
{
	if (kind == DART_SKETCH_COUNT_MIN)
		return other > UINT32_MAX - counter ? UINT32_MAX : counter + other;
	if (dart_sketch_counter__is_saturated(kind, counter))
		return limit((int32_t)counter);
	if (dart_sketch_counter__is_saturated(kind, other))
		return limit((int32_t)other);
	return limit((int64_t)(int32_t)counter + (int32_t)other);
}

/* ---- strips */

static uint32_t read_word(const uint8_t *bytes)
{
	__be32 word;

	memcpy(&word, bytes, sizeof(word));
	return be32toh(word);
}

static void write_word(uint8_t *bytes, uint32_t value)
{
	const __be32 word = htobe32(value);

	memcpy(bytes, &word, sizeof(word));
}

static bool is_zero(const uint8_t *bytes, size_t length)
{
	return !*bytes && !memcmp(bytes, bytes + 1, length - 1);
}

/* The reporters and the number share a word. */
#define NUMBER_MASK 0xffff
#define REPORTERS_SHIFT 16

enum dart_sketch_state dart_sketch_strip__read(const struct dart_sketch_geometry *geometry,
					       const uint8_t *bytes, uint32_t number,
					       struct dart_sketch_strip *strip)
{
	const uint32_t length = dart_sketch_geometry__strip_length(geometry);
	const uint32_t end = length - DART_SKETCH_STRIP_CRC;
	const uint32_t period = read_word(bytes + DART_SKETCH_STRIP_PERIOD);
	const uint32_t both = read_word(bytes + DART_SKETCH_STRIP_REPORTERS);

	if (is_zero(bytes, length))
		return DART_SKETCH_EMPTY;
	if (!period || !(both >> REPORTERS_SHIFT) || (both & NUMBER_MASK) != number ||
	    crc32(0, bytes, end) != read_word(bytes + end))
		return DART_SKETCH_TORN;
	*strip = (struct dart_sketch_strip){
		.period = period,
		.reporters = both >> REPORTERS_SHIFT,
		.counters = bytes + DART_SKETCH_STRIP_COUNTERS,
	};
	return DART_SKETCH_WHOLE;
}

uint32_t dart_sketch_strip__counter(const struct dart_sketch_geometry *geometry,
				    const struct dart_sketch_strip *strip, uint32_t column,
				    uint32_t row)
{
	return read_word(strip->counters + COUNTER * (column * geometry->rows + row));
}

void dart_sketch_strip__write(const struct dart_sketch_geometry *geometry, uint32_t period,
			      uint32_t reporters, uint32_t number, const uint32_t *counters,
			      uint8_t *bytes)
{
	const uint32_t count = DART_SKETCH_STRIP_COLUMNS * geometry->rows;
	const uint32_t end = dart_sketch_geometry__strip_length(geometry) - DART_SKETCH_STRIP_CRC;
	uint32_t i;

	write_word(bytes + DART_SKETCH_STRIP_PERIOD, period);
	write_word(bytes + DART_SKETCH_STRIP_REPORTERS, reporters << REPORTERS_SHIFT | number);
	for (i = 0; i < count; i++)
		write_word(bytes + DART_SKETCH_STRIP_COUNTERS + COUNTER * i, counters[i]);
	write_word(bytes + end, crc32(0, bytes, end));
}
