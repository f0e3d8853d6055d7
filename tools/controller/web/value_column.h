/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of a series, packed as bits: each is told by its difference to the one before.
 *
 *   0                          the same bits as before
 *   10, N (4 bits), N nibbles  an integer: its step minus the step before, in zigzag
 *   110, bits                  XOR with the value before, within the window told last
 *   111, leading zeros (5), length - 1 (6), bits
 *                              the same with a window of its own
 *
 * The XOR codes are those of Pelkonen et al.: "Gorilla: A Fast, Scalable, In-Memory Time
 * Series Database", VLDB 2015.  The code for integers is ours, because most counters are
 * integers that grow by nearly the same step.  For each value the shorter code is taken.  The
 * value before the first is 0.
 */
#ifndef CONTROLLER_VALUE_COLUMN_H
#define CONTROLLER_VALUE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the last value left for the next one; the same for writers and readers. */
struct value_state {
	uint64_t bits; /* of the double */
	int64_t step; /* between the last two, if both are integers, or else 0 */
	uint8_t leading; /* zeros of the window */
	uint8_t length; /* of the window; 0: there is none */
};

/* Zeros before the first value. */
struct value_column {
	struct value_state state;
	uint16_t capacity; /* bytes */
	uint32_t used; /* bits */
	uint8_t *bytes;
};

/* Returns 0, -ENOMEM, or -E2BIG if the column is full; then nothing has changed. */
int value_column__append(struct value_column *column, double value);
static inline size_t value_column__bytes(const struct value_column *column)
{
	return (column->used + 7) / 8;
}

/* A value that stands for none; other NaNs are values. */
double value_column__gap(void);
bool value_column__is_gap(double value);

void value_column__clear(struct value_column *column);

/* Zeros but for @bytes and @length before the first value. */
struct value_reader {
	struct value_state state;
	const uint8_t *bytes;
	size_t length; /* bytes */
	size_t at; /* bit */
};

/* False: there is none, or the bytes are cut. */
bool value_reader__next(struct value_reader *reader, double *value);

#endif /* CONTROLLER_VALUE_COLUMN_H */
