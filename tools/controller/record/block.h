/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that are to become the next chunk of a recording. */
#ifndef CONTROLLER_RECORD_BLOCK_H
#define CONTROLLER_RECORD_BLOCK_H

#include "chunk.h"

/*
 * A chunk has more, or more than a quarter of what a file may have, only if a single scrape is
 * larger.
 */
#define BLOCK_BYTES (4U << 20)

struct block {
	uint8_t *bytes;
	size_t length;
	size_t room;
	size_t length_max;
	struct chunk_content content;
	uint64_t number; /* of the block, from 1; no other has it */
	/* Places of scrapes that are differences to earlier ones. */
	size_t *differences;
	size_t difference_count;
	size_t difference_room;
};

/* The first one, for files of @file_size bytes; block__close() also of zeros. */
void block__open(struct block *block, uint64_t file_size);
void block__close(struct block *block);

/* Is it to be packed before so many bytes are appended? */
bool block__is_full(const struct block *block, size_t length);
/* Appends a record of an event at @time_ns.  Sets its @place.  Returns 0 or -ENOMEM. */
int block__append(struct block *block, const void *record, size_t length, int64_t time_ns,
		  size_t *place);
/*
 * The scrape at @place becomes a difference to the one at @previous, which has the same
 * table and length, when the block is packed.  Without memory it stays as it is.
 */
void block__differ(struct block *block, size_t place, size_t previous);
/* As chunk_packer__pack(), of what there is. */
int block__pack(struct block *block, struct chunk_packer *packer, uint8_t **chunk, size_t *size);
/* The next one begins, empty. */
void block__next(struct block *block);

#endif /* CONTROLLER_RECORD_BLOCK_H */
