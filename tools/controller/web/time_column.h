/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times in microseconds, packed as bytes: for each time the difference between its step and the
 * previous step, as a zigzag number, seven bits a byte and the lowest first.  All bytes of a number
 * except the last set the highest bit.  Time and step before the first are 0.
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

/* Appends any time, even an earlier one.  Returns 0 or -ENOMEM. */
int time_column__append(struct time_column *column, int64_t time_us);
/* Copies to @copy, which must be empty.  Returns 0 or -ENOMEM. */
int time_column__copy(struct time_column *copy, const struct time_column *column);
void time_column__clear(struct time_column *column);

/* Before the first time all members are zeros except @bytes and @length. */
struct time_reader {
	int64_t last;
	int64_t step;
	const uint8_t *bytes;
	size_t length;
	size_t at;
};

/* Returns false after the last time, or if the bytes are cut. */
bool time_reader__next(struct time_reader *reader, int64_t *time_us);

#endif /* CONTROLLER_TIME_COLUMN_H */
