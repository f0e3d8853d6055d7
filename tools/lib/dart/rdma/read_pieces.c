// SPDX-License-Identifier: LGPL-2.1-or-later
/* Splits READs into operations of the adapter. */
#include "read_pieces_internal.h"

bool dart_read_pieces__have_ended(const struct dart_read_pieces *pieces)
{
	return pieces->next == pieces->count;
}

/* Bytes of the next piece of @left ones at @address. */
static uint32_t piece_length(uint64_t address, uint32_t left, uint32_t length_max)
{
	if (length_max >= 2 * DART_READ_ALIGNMENT) {
		length_max -= length_max % DART_READ_ALIGNMENT;
		if (left > length_max)
			return length_max - address % DART_READ_ALIGNMENT;
	}
	return left < length_max ? left : length_max;
}

bool dart_read_pieces__take(struct dart_read_pieces *pieces, uint64_t room, struct dart_read *piece)
{
	const struct dart_read *read = &pieces->reads[pieces->next];
	uint32_t length;

	if (dart_read_pieces__have_ended(pieces))
		return false;
	length = piece_length(read->address + pieces->done,
			      read->length - pieces->done, pieces->length_max);
	if (length > room)
		return false;
	*piece = (struct dart_read){
		.address = read->address + pieces->done,
		.rkey = read->rkey,
		.length = length,
		.landing = read->landing + pieces->done,
	};
	pieces->done += length;
	if (pieces->done == read->length) {
		pieces->next++;
		pieces->done = 0;
	}
	return true;
}

static uint32_t count_pieces(const struct dart_read *read, uint32_t length_max)
{
	uint32_t first = piece_length(read->address, read->length, length_max);
	uint32_t left = read->length - first;

	/* All but the first and the last are as long as they may be. */
	if (length_max >= 2 * DART_READ_ALIGNMENT)
		length_max -= length_max % DART_READ_ALIGNMENT;
	return 1 + (left ? 1 + (left - 1) / length_max : 0);
}

uint32_t dart_read_pieces__count(const struct dart_read *reads, uint32_t count, uint32_t length_max)
{
	uint32_t i, operations = 0;

	for (i = 0; i < count; i++)
		operations += count_pieces(&reads[i], length_max);
	return operations;
}
