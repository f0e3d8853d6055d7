/* SPDX-License-Identifier: GPL-2.0-only */
/* Packs and unpacks the chunks of a recording. */
#ifndef CONTROLLER_RECORD_CHUNK_H
#define CONTROLLER_RECORD_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

/* The description of the records in the header. */
struct chunk_content {
	uint32_t flags;
	uint32_t records;
	int64_t first_ns;
	int64_t last_ns;
};

/*
 * The contexts of zstd and the memory of the frame that is packed or unpacked, kept from one chunk
 * to the next.  For one thread; zeros are a valid beginning.
 */
struct chunk_packer {
	void *compressor;
	void *decompressor;
	uint8_t *bytes;
	size_t room;
};

void chunk_packer__close(struct chunk_packer *packer);

/*
 * Packs @length bytes of records, at most RECORD_CHUNK_MAX.  @chunk points to the @size bytes to
 * write, a multiple of 8, valid until the next call.  Returns 0 or -ENOMEM.
 */
int chunk_packer__pack(struct chunk_packer *packer, const void *records, size_t length,
		       const struct chunk_content *content, uint8_t **chunk, size_t *size);
/* Sets the number in the header of a packed chunk, and seals the header with its checksum. */
void chunk__number(uint8_t *chunk, uint64_t number);

/* Is this an intact header of a chunk, with lengths that the format allows? */
bool chunk__is_header(const struct record_chunk_header *header);
/* Returns the bytes of the chunk after its header, padding included. */
size_t chunk__stored_size(const struct record_chunk_header *header);

/*
 * Unpacks the stored bytes of a chunk, whose header passed chunk__is_header().  @records points to
 * raw_length bytes, valid until the next call.  Returns 0; -EBADMSG if the bytes are damaged;
 * -ENOMEM.
 */
int chunk_packer__unpack(struct chunk_packer *packer, const struct record_chunk_header *header,
			 const void *stored, uint8_t **records);

#endif /* CONTROLLER_RECORD_CHUNK_H */
