/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in microseconds, packed as bytes: for each the difference between its step and the
 * step before, in zigzag, seven bits a byte and the lowest first; all bytes of a number but
 * the last have the highest bit.  Time and step before the first are 0.
 */
#ifndef CONTROLLER_TIME_COLUMN_H
#define CONTROLLER_TIME_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeros before the first time. */
struct time_column {
	int64_t last;
	int64_t step;
	uint32_t length;
	uint32_t capacity;
	uint8_t *bytes;
};

/* Any time, also before the last; returns 0 or -ENOMEM. */
int time_column__append(struct time_column *column, int64_t time_us);
/* @copy is empty; returns 0 or -ENOMEM. */
int time_column__copy(struct time_column *copy, const struct time_column *column);
void time_column__clear(struct time_column *column);

/* Zeros but for @bytes and @length before the first time. */
struct time_reader {
	int64_t last;
	int64_t step;
	const uint8_t *bytes;
	size_t length;
	size_t at;
};

/* False: there is none, or the bytes are cut. */
bool time_reader__next(struct time_reader *reader, int64_t *time_us);

#endif /* CONTROLLER_TIME_COLUMN_H */
