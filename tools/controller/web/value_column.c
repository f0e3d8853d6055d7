// SPDX-License-Identifier: GPL-2.0-only
/* Packs doubles: see value_column.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "value_column.h"

#define CAPACITY_FIRST 8
/* The longest code: 111, 5, 6 and 64 bits. */
#define CODE_BITS_MAX 78
#define LEADING_MAX 31
/* Doubles are exact up to here, and differences of steps fit 14 nibbles. */
#define INTEGER_MAX (INT64_C(1) << 53)

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Is this an integer whose double is exactly these bits? -0.0 does not count as an integer. */
static bool as_integer(uint64_t bits, int64_t *integer)
{
	double value = double_of(bits);

	if (!(value >= -(double)INTEGER_MAX && value <= (double)INTEGER_MAX))
		return false;
	*integer = (int64_t)value;
	return bits_of((double)*integer) == bits;
}

/* A NaN that arithmetic never produces; Prometheus' stale marker. */
#define GAP UINT64_C(0x7ff0000000000002)

double value_column__gap(void)
{
	return double_of(GAP);
}

bool value_column__is_gap(double value)
{
	return bits_of(value) == GAP;
}

static void state__take(struct value_state *state, uint64_t bits)
{
	int64_t before, now;

	state->step = as_integer(state->bits, &before) && as_integer(bits, &now) ? now - before : 0;
	state->bits = bits;
}

static int column__reserve(struct value_column *column)
{
	size_t needed = (column->used + CODE_BITS_MAX + 7) / 8, capacity;
	uint8_t *bytes;

	/* A first value of 0 takes one bit, so the first allocation is small. */
	capacity = column->capacity ?: CAPACITY_FIRST;
	while (capacity < needed)
		capacity += capacity / 2;
	if (capacity == column->capacity)
		return 0;
	if (capacity > UINT16_MAX)
		return -E2BIG;
	bytes = realloc(column->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	memset(bytes + column->capacity, 0, capacity - column->capacity);
	column->bytes = bytes;
	column->capacity = capacity;
	return 0;
}

/* Appends the @count lowest bits of @bits, the highest of them first. The caller reserved room. */
static void column__put(struct value_column *column, uint64_t bits, unsigned int count)
{
	unsigned int room, part;
	uint8_t *byte;

	while (count) {
		byte = &column->bytes[column->used / 8];
		room = 8 - column->used % 8;
		part = count < room ? count : room;
		*byte |= (bits >> (count - part) & ((1U << part) - 1)) << (room - part);
		column->used += part;
		count -= part;
	}
}

static unsigned int nibbles_of(uint64_t number)
{
	return number ? (67 - __builtin_clzll(number)) / 4 : 0;
}

static uint64_t zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}

static int64_t unzigzag(uint64_t number)
{
	return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/* Returns the bits of the code for an integer; for other values more than any code needs. */
static unsigned int integer_cost(const struct value_state *state, uint64_t bits, uint64_t *code)
{
	int64_t before, now;

	if (!as_integer(state->bits, &before) || !as_integer(bits, &now))
		return CODE_BITS_MAX + 1;
	*code = zigzag(now - before - state->step);
	return 2 + 4 + 4 * nibbles_of(*code);
}

static void put_difference(struct value_column *column, uint64_t difference)
{
	struct value_state *state = &column->state;
	unsigned int leading = __builtin_clzll(difference), length;
	unsigned int trailing = __builtin_ctzll(difference);
	unsigned int kept = 64 - state->leading - state->length;

	if (leading > LEADING_MAX)
		leading = LEADING_MAX;
	length = 64 - leading - trailing;
	if (state->length && leading >= state->leading && trailing >= kept &&
	    state->length <= length + 11) {
		column__put(column, 6, 3);
		column__put(column, difference >> kept, state->length);
		return;
	}
	column__put(column, 7, 3);
	column__put(column, leading, 5);
	column__put(column, length - 1, 6);
	column__put(column, difference >> trailing, length);
	state->leading = leading;
	state->length = length;
}

/* Returns the bits that put_difference() appends. */
static unsigned int difference_cost(const struct value_state *state, uint64_t difference)
{
	unsigned int leading = __builtin_clzll(difference), length;
	unsigned int trailing = __builtin_ctzll(difference);

	if (leading > LEADING_MAX)
		leading = LEADING_MAX;
	length = 64 - leading - trailing;
	if (state->length && leading >= state->leading &&
	    trailing >= 64U - state->leading - state->length && state->length <= length + 11)
		return 3 + state->length;
	return 3 + 11 + length;
}

int value_column__append(struct value_column *column, double value)
{
	uint64_t bits = bits_of(value), code = 0, difference;
	unsigned int cost;
	int ret;

	ret = column__reserve(column);
	if (ret)
		return ret;
	difference = bits ^ column->state.bits;
	if (!difference) {
		column__put(column, 0, 1);
	} else {
		cost = integer_cost(&column->state, bits, &code);
		if (cost <= difference_cost(&column->state, difference)) {
			column__put(column, 2, 2);
			column__put(column, nibbles_of(code), 4);
			column__put(column, code, 4 * nibbles_of(code));
		} else {
			put_difference(column, difference);
		}
	}
	state__take(&column->state, bits);
	return 0;
}

void value_column__clear(struct value_column *column)
{
	free(column->bytes);
	*column = (struct value_column){};
}

static bool reader__get(struct value_reader *reader, unsigned int count, uint64_t *bits)
{
	unsigned int room, part;

	if (reader->at + count > reader->length * 8)
		return false;
	*bits = 0;
	while (count) {
		room = 8 - reader->at % 8;
		part = count < room ? count : room;
		*bits = *bits << part |
			(reader->bytes[reader->at / 8] >> (room - part) & ((1U << part) - 1));
		reader->at += part;
		count -= part;
	}
	return true;
}

static bool get_integer(struct value_reader *reader, uint64_t *bits)
{
	int64_t before, now;
	uint64_t count, code;

	if (!as_integer(reader->state.bits, &before) || !reader__get(reader, 4, &count) ||
	    !reader__get(reader, 4 * count, &code))
		return false;
	/* Bytes that this writer did not make must not overflow. */
	if (__builtin_add_overflow(before, reader->state.step, &now) ||
	    __builtin_add_overflow(now, unzigzag(code), &now) || now < -INTEGER_MAX ||
	    now > INTEGER_MAX)
		return false;
	*bits = bits_of((double)now);
	return true;
}

static bool get_difference(struct value_reader *reader, bool has_window, uint64_t *bits)
{
	struct value_state *state = &reader->state;
	uint64_t leading, length, difference;

	if (has_window) {
		if (!reader__get(reader, 5, &leading) || !reader__get(reader, 6, &length) ||
		    leading + length + 1 > 64)
			return false;
		state->leading = leading;
		state->length = length + 1;
	}
	if (!state->length || !reader__get(reader, state->length, &difference))
		return false;
	*bits = state->bits ^ difference << (64 - state->leading - state->length);
	return true;
}

bool value_reader__next(struct value_reader *reader, double *value)
{
	uint64_t bit, bits = reader->state.bits;
	bool is_there = true;
	unsigned int ones;

	for (ones = 0; ones < 3; ones++) {
		if (!reader__get(reader, 1, &bit))
			return false;
		if (!bit)
			break;
	}
	if (ones == 1)
		is_there = get_integer(reader, &bits);
	else if (ones > 1)
		is_there = get_difference(reader, ones == 3, &bits);
	if (!is_there)
		return false;
	state__take(&reader->state, bits);
	*value = double_of(bits);
	return true;
}
