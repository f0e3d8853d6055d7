/* SPDX-License-Identifier: GPL-2.0-only */
/* Chunks of a recording: packed to be written, and unpacked. */
#ifndef CONTROLLER_RECORD_CHUNK_H
#define CONTROLLER_RECORD_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"

/* What the header says of the records. */
struct chunk_content {
	uint32_t flags;
	uint32_t records;
	int64_t first_ns;
	int64_t last_ns;
};

/*
 * The contexts of zstd and the memory of the frame that is packed or unpacked, kept from one
 * chunk to the next.  Of one thread; zeros are a valid beginning.
 */
struct chunk_packer {
	void *compressor;
	void *decompressor;
	uint8_t *bytes;
	size_t room;
};

void chunk_packer__close(struct chunk_packer *packer);

/*
 * Packs @length bytes of records, at most RECORD_CHUNK_MAX.  @chunk are the bytes to write,
 * @size of them, a multiple of 8, until the next call.  Returns 0 or -ENOMEM.
 */
int chunk_packer__pack(struct chunk_packer *packer, const void *records, size_t length,
		       const struct chunk_content *content, uint8_t **chunk, size_t *size);
/* Numbers a packed chunk, and with it seals its header. */
void chunk__number(uint8_t *chunk, uint64_t number);

/* Is it a whole header of a chunk, with lengths that the format allows? */
bool chunk__is_header(const struct record_chunk_header *header);
/* Bytes of the chunk behind its header. */
size_t chunk__stored_size(const struct record_chunk_header *header);

/*
 * Unpacks the stored bytes of a chunk with a header that chunk__is_header().  @records are
 * raw_length bytes until the next call.  Returns 0; -EBADMSG if they are damaged; -ENOMEM.
 */
int chunk_packer__unpack(struct chunk_packer *packer, const struct record_chunk_header *header,
			 const void *stored, uint8_t **records);

#endif /* CONTROLLER_RECORD_CHUNK_H */
