// SPDX-License-Identifier: GPL-2.0-only
/* Counts packets by key, in the manner of a switch. */
#include "tea_sketch.h"

#include <string.h>

bool tea_sketch__packet(struct tea_sketch *sketch,
			const struct tea_sketch_key *key, uint32_t threshold)
{
	const uint16_t slots[DART_TEA_SKETCH_ROWS] = {
		key->row_0, key->row_0 >> 16, key->row_1, key->row_1 >> 16,
	};
	bool *const bits[DART_TEA_REPORTED_ROWS] = {
		&sketch->reported[0][slots[1]], &sketch->reported[1][slots[2]],
	};
	uint32_t estimate = DART_TEA_SKETCH_MAX;
	bool is_new;
	uint32_t i;

	for (i = 0; i < DART_TEA_SKETCH_ROWS; i++) {
		uint16_t *counter = &sketch->counters[i][slots[i]];

		if (*counter < DART_TEA_SKETCH_MAX)
			++*counter;
		if (*counter < estimate)
			estimate = *counter;
	}
	if (!threshold || estimate < threshold)
		return false;
	is_new = !*bits[0] || !*bits[1];
	*bits[0] = true;
	*bits[1] = true;
	return is_new;
}

void tea_sketch__clear(struct tea_sketch *sketch)
{
	memset(sketch, 0, sizeof(*sketch));
}
