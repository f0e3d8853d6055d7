// SPDX-License-Identifier: GPL-2.0-only
/* Makes the key and the value of an entry, alike in each program. */
#include "table_entry.h"

static void fill(uint8_t *bytes, size_t length, uint64_t number)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = i < 8 ? number >> 8 * i : number * (2 * i + 1) >> 3;
}

void table_entry__make(const struct dart_tea_geometry *geometry, uint64_t number, uint64_t version,
		       uint8_t *key, uint8_t *value)
{
	fill(key, geometry->key_length, number);
	fill(value, geometry->value_length, (number << 16) ^ (version * 0x9e3779b97f4a7c15));
}
