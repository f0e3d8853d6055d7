/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The values of a series, packed as bits.  A code gives the difference to the previous value:
 *
 *   0                          the same bits as before
 *   10, N (4 bits), N nibbles  an integer: its step minus the previous step, in zigzag
 *   110, bits                  XOR with the previous value, within the previous window
 *   111, leading zeros (5), length - 1 (6), bits
 *                              the same with a new window
 *
 * The XOR codes are those of Pelkonen et al.: "Gorilla: A Fast, Scalable, In-Memory Time Series
 * Database", VLDB 2015.  The code for integers is ours, because most counters are integers that
 * grow by nearly the same step.  The writer takes the shorter code for each value.  The value
 * before the first is 0.
 */
#ifndef CONTROLLER_VALUE_COLUMN_H
#define CONTROLLER_VALUE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* State after a value, the same for writers and readers. */
struct value_state {
	uint64_t bits; /* of the previous double */
	int64_t step; /* between the last two values if both are integers, otherwise 0 */
	uint8_t leading; /* leading zeros of the window */
	uint8_t length; /* bits of the window; 0 before the first window */
};

/* Zeros before the first value. */
struct value_column {
	struct value_state state;
	uint16_t capacity; /* in bytes */
	uint32_t used; /* in bits */
	uint8_t *bytes;
};

/* Returns 0; -ENOMEM; or -E2BIG if the column is full.  After an error the column is unchanged. */
int value_column__append(struct value_column *column, double value);
static inline size_t value_column__bytes(const struct value_column *column)
{
	return (column->used + 7) / 8;
}

/* A value that stands for a missing one; other NaNs are values. */
double value_column__gap(void);
bool value_column__is_gap(double value);

void value_column__clear(struct value_column *column);

/* Before the first value all members are zeros except @bytes and @length. */
struct value_reader {
	struct value_state state;
	const uint8_t *bytes;
	size_t length; /* in bytes */
	size_t at; /* index of the next bit */
};

/* Returns false after the last value, or if the bytes are cut. */
bool value_reader__next(struct value_reader *reader, double *value);

#endif /* CONTROLLER_VALUE_COLUMN_H */
