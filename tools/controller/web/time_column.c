// SPDX-License-Identifier: GPL-2.0-only
/* Packs times: see time_column.h.  Steps are computed modulo 2^64, so none overflows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "time_column.h"

#define NUMBER_BYTES_MAX 10
#define CAPACITY_FIRST 32

int time_column__append(struct time_column *column, int64_t time_us)
{
	uint64_t step = (uint64_t)time_us - (uint64_t)column->last;
	int64_t change = (int64_t)(step - (uint64_t)column->step);
	uint64_t code = (uint64_t)change << 1 ^ (uint64_t)(change >> 63);
	uint32_t capacity = column->capacity;
	uint8_t *bytes;

	if (column->length + NUMBER_BYTES_MAX > capacity) {
		capacity = capacity ? capacity * 2 : CAPACITY_FIRST;
		bytes = realloc(column->bytes, capacity);
		if (!bytes)
			return -ENOMEM;
		column->bytes = bytes;
		column->capacity = capacity;
	}
	for (; code >= 0x80; code >>= 7)
		column->bytes[column->length++] = code | 0x80;
	column->bytes[column->length++] = code;
	column->last = time_us;
	column->step = (int64_t)step;
	return 0;
}

int time_column__copy(struct time_column *copy, const struct time_column *column)
{
	*copy = *column;
	if (!column->capacity)
		return 0;
	copy->bytes = malloc(column->capacity);
	if (!copy->bytes) {
		*copy = (struct time_column){};
		return -ENOMEM;
	}
	memcpy(copy->bytes, column->bytes, column->length);
	return 0;
}

void time_column__clear(struct time_column *column)
{
	free(column->bytes);
	*column = (struct time_column){};
}

bool time_reader__next(struct time_reader *reader, int64_t *time_us)
{
	unsigned int shift = 0;
	uint64_t code = 0, change;
	uint8_t byte;

	do {
		if (reader->at >= reader->length || shift > 63)
			return false;
		byte = reader->bytes[reader->at++];
		code |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	change = code >> 1 ^ -(code & 1);
	reader->step = (int64_t)((uint64_t)reader->step + change);
	reader->last = (int64_t)((uint64_t)reader->last + (uint64_t)reader->step);
	*time_us = reader->last;
	return true;
}
