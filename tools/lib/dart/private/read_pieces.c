// SPDX-License-Identifier: LGPL-2.1-or-later
/* Splits READs into operations of the adapter. */
#include "read_pieces.h"

bool dart_read_pieces__have_ended(const struct dart_read_pieces *pieces)
{
	return pieces->next == pieces->count;
}

bool dart_read_pieces__take(struct dart_read_pieces *pieces, uint64_t room,
			    struct dart_read *piece)
{
	const struct dart_read *read = &pieces->reads[pieces->next];
	uint32_t length;

	if (dart_read_pieces__have_ended(pieces))
		return false;
	length = read->length - pieces->done;
	if (length > pieces->length_max)
		length = pieces->length_max;
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

uint32_t dart_read_pieces__count(const struct dart_read *reads, uint32_t count,
				 uint32_t length_max)
{
	uint32_t i, operations = 0;

	for (i = 0; i < count; i++)
		operations += 1 + (reads[i].length - 1) / length_max;
	return operations;
}
