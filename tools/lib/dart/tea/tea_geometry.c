// SPDX-License-Identifier: LGPL-2.1-or-later
/* Computes the sizes of a lookup table: see <dart/tea.h>. */
#include <errno.h>

#include <dart/tea_access.h>

#include "tea_geometry.h"

#define WORD		4	/* cells are whole words */
#define SEQUENCE	4	/* bytes, in front of a row and after it */
#define HEAD		8	/* bytes before the bucket */

static size_t round_up(size_t length, size_t unit)
{
	return (length + unit - 1) / unit * unit;
}

static size_t view_row_length(const struct dart_tea_geometry *geometry)
{
	return dart_tea_geometry__row_length(geometry) + DART_TEA_TAG_LENGTH +
	       geometry->packet_length;
}

int dart_tea_geometry__check(const struct dart_tea_geometry *geometry)
{
	const size_t room = (size_t)1 << DART_TEA_ROW_LOG2_MAX;

	if (geometry->rows_log2 > DART_TEA_ROWS_LOG2_MAX || !geometry->cells ||
	    geometry->cells > DART_TEA_CELLS_MAX || !geometry->key_length ||
	    geometry->key_length > DART_TEA_KEY_MAX || !geometry->value_length ||
	    geometry->value_length > DART_TEA_VALUE_MAX ||
	    geometry->packet_length < DART_TEA_PACKET_MIN ||
	    geometry->packet_length > room || view_row_length(geometry) > room)
		return -EINVAL;
	return 0;
}

size_t dart_tea_geometry__cell_length(const struct dart_tea_geometry *geometry)
{
	return round_up(sizeof(uint32_t) + geometry->key_length + geometry->value_length, WORD);
}

size_t dart_tea_geometry__row_length(const struct dart_tea_geometry *geometry)
{
	return HEAD + 2 * geometry->cells * dart_tea_geometry__cell_length(geometry) + SEQUENCE;
}

uint32_t dart_tea_geometry__row_log2(const struct dart_tea_geometry *geometry)
{
	const size_t length = view_row_length(geometry);
	uint32_t log2 = DART_TEA_ROW_LOG2_MIN;

	while ((size_t)1 << log2 < length)
		log2++;
	return log2;
}

uint64_t dart_tea_geometry__rows(const struct dart_tea_geometry *geometry)
{
	return UINT64_C(1) << geometry->rows_log2;
}

size_t dart_tea_geometry__stride(const struct dart_tea_geometry *geometry)
{
	return round_up(dart_tea_geometry__row_length(geometry), 8);
}

uint64_t dart_tea_geometry__stash(const struct dart_tea_geometry *geometry)
{
	return dart_tea_geometry__rows(geometry) * dart_tea_geometry__stride(geometry);
}

uint64_t dart_tea_geometry__length(const struct dart_tea_geometry *geometry)
{
	return dart_tea_geometry__stash(geometry) +
	       dart_tea_geometry__stash_cells(geometry) * dart_tea_geometry__cell_length(geometry);
}

uint64_t dart_tea_geometry__stash_places(const struct dart_tea_geometry *geometry)
{
	const uint32_t cells_log2 = geometry->rows_log2 + 3;

	if (cells_log2 < DART_TEA_STASH_LOG2 + DART_TEA_STASH_LOG2_MIN)
		return UINT64_C(1) << DART_TEA_STASH_LOG2_MIN;
	return UINT64_C(1) << (cells_log2 - DART_TEA_STASH_LOG2);
}

uint64_t dart_tea_geometry__stash_cells(const struct dart_tea_geometry *geometry)
{
	return dart_tea_geometry__stash_places(geometry) + DART_TEA_STASH_WINDOW - 1;
}

uint64_t dart_tea_geometry__view_length(const struct dart_tea_geometry *geometry)
{
	return dart_tea_geometry__rows(geometry) << dart_tea_geometry__row_log2(geometry);
}
