/* SPDX-License-Identifier: GPL-2.0-only */
/* The events that will form the next chunk of a recording. */
#ifndef CONTROLLER_RECORD_BLOCK_H
#define CONTROLLER_RECORD_BLOCK_H

#include "chunk.h"

/* A chunk exceeds this, or a quarter of the size of a file, only if a single scrape is larger. */
#define BLOCK_BYTES (4U << 20)

struct block {
	uint8_t *bytes;
	size_t length;
	size_t room;
	size_t length_max;
	struct chunk_content content;
	uint64_t number; /* of the block, from 1, and unique */
	/* Places of the scrapes that become differences to earlier ones. */
	size_t *differences;
	size_t difference_count;
	size_t difference_room;
};

/* Begins the first block, for files of @file_size bytes. block__close() also takes zeros. */
void block__open(struct block *block, uint64_t file_size);
void block__close(struct block *block);

/* True if the block must be packed before @length bytes are appended. */
bool block__is_full(const struct block *block, size_t length);
/*
 * Appends a record of an event at @time_ns, and sets @place to its offset.  Returns 0 or -ENOMEM.
 */
int block__append(struct block *block, const void *record, size_t length, int64_t time_ns,
		  size_t *place);
/*
 * Makes the scrape at @place a difference to the scrape at @previous, which belongs to the same
 * table and is of the same length, when the block is packed.  Without memory the scrape stays
 * complete.
 */
void block__differ(struct block *block, size_t place, size_t previous);
/* Packs all events: see chunk_packer__pack(). */
int block__pack(struct block *block, struct chunk_packer *packer, uint8_t **chunk, size_t *size);
/* Begins the next block, which is empty. */
void block__next(struct block *block);

#endif /* CONTROLLER_RECORD_BLOCK_H */
