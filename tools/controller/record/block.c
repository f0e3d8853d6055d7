// SPDX-License-Identifier: GPL-2.0-only
/* Collects events, and turns scrapes into differences once the block is complete. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "record.h"

void block__open(struct block *block, uint64_t file_size)
{
	*block = (struct block){
		.number = 1,
		.length_max = file_size / 4 < BLOCK_BYTES ? file_size / 4 : BLOCK_BYTES,
	};
}

void block__close(struct block *block)
{
	free(block->bytes);
	free(block->differences);
	*block = (struct block){};
}

bool block__is_full(const struct block *block, size_t length)
{
	return block->length &&
	       (length > block->length_max || block->length > block->length_max - length);
}

static int block__reserve(struct block *block, size_t length)
{
	const size_t needed = block->length + length;
	const size_t room = needed > block->length_max ? needed : block->length_max;
	uint8_t *bytes;

	if (needed <= block->room)
		return 0;
	bytes = realloc(block->bytes, room);
	if (!bytes)
		return -ENOMEM;
	block->bytes = bytes;
	block->room = room;
	return 0;
}

int block__append(struct block *block, const void *record, size_t length, int64_t time_ns,
		  size_t *place)
{
	struct chunk_content *content = &block->content;

	if (block__reserve(block, length))
		return -ENOMEM;
	memcpy(block->bytes + block->length, record, length);
	*place = block->length;
	block->length += length;
	if (!content->records || time_ns < content->first_ns)
		content->first_ns = time_ns;
	if (!content->records || time_ns > content->last_ns)
		content->last_ns = time_ns;
	content->records++;
	return 0;
}

void block__differ(struct block *block, size_t place, size_t previous)
{
	struct record_scrape *scrape = (struct record_scrape *)(block->bytes + place);
	const size_t room = block->difference_room ? 2 * block->difference_room : 64;
	size_t *differences;

	if (block->difference_count == block->difference_room) {
		differences = reallocarray(block->differences, room, sizeof(*differences));
		if (!differences)
			return;
		block->differences = differences;
		block->difference_room = room;
	}
	block->differences[block->difference_count++] = place;
	scrape->previous = htole32(place - previous);
}

int block__pack(struct block *block, struct chunk_packer *packer, uint8_t **chunk, size_t *size)
{
	const struct record_scrape *scrape;
	uint8_t *place;

	/* From the last one to the first, so that the scrape before each is still unchanged. */
	while (block->difference_count) {
		place = block->bytes + block->differences[--block->difference_count];
		scrape = (const struct record_scrape *)place;
		record__xor(place + sizeof(*scrape),
			    place + sizeof(*scrape) - le32toh(scrape->previous),
			    le32toh(scrape->landing_length));
	}
	return chunk_packer__pack(packer, block->bytes, block->length, &block->content, chunk,
				  size);
}

void block__next(struct block *block)
{
	block->length = 0;
	block->difference_count = 0;
	block->content = (struct chunk_content){};
	block->number++;
	/* Free the extra memory of a single large scrape. */
	if (block->room > block->length_max) {
		free(block->bytes);
		block->bytes = NULL;
		block->room = 0;
	}
}
