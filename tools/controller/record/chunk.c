// SPDX-License-Identifier: GPL-2.0-only
/* Packs and unpacks chunks: a header with checksums, and a frame of zstd. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "chunk.h"

/* The default of zstd. Lower levels save little time, because most bytes are 0. */
#define LEVEL 3

void chunk_packer__close(struct chunk_packer *packer)
{
	ZSTD_freeCCtx(packer->compressor);
	ZSTD_freeDCtx(packer->decompressor);
	free(packer->bytes);
	*packer = (struct chunk_packer){};
}

/* Reserves @size bytes, and discards the previous content. */
static int chunk_packer__reserve(struct chunk_packer *packer, size_t size)
{
	if (size <= packer->room)
		return 0;
	free(packer->bytes);
	packer->room = 0;
	packer->bytes = malloc(size);
	if (!packer->bytes)
		return -ENOMEM;
	packer->room = size;
	return 0;
}

int chunk_packer__pack(struct chunk_packer *packer, const void *records, size_t length,
		       const struct chunk_content *content, uint8_t **chunk, size_t *size)
{
	const size_t bound = ZSTD_compressBound(length);
	struct record_chunk_header header;
	size_t stored, end;

	if (!packer->compressor)
		packer->compressor = ZSTD_createCCtx();
	if (!packer->compressor ||
	    chunk_packer__reserve(packer, record__align(sizeof(header) + bound)))
		return -ENOMEM;
	stored = ZSTD_compressCCtx(packer->compressor, packer->bytes + sizeof(header), bound,
				   records, length, LEVEL);
	/* The buffer fits the worst case, so only memory can be missing. */
	if (ZSTD_isError(stored))
		return -ENOMEM;
	end = sizeof(header) + stored;
	*size = record__align(end);
	memset(packer->bytes + end, 0, *size - end);
	header = (struct record_chunk_header){
		.magic = htole32(RECORD_CHUNK_MAGIC),
		.flags = htole32(content->flags),
		.stored_length = htole32(stored),
		.raw_length = htole32(length),
		.records = htole32(content->records),
		.first_ns = htole64(content->first_ns),
		.last_ns = htole64(content->last_ns),
		.stored_checksum = htole64(XXH64(packer->bytes + sizeof(header), stored, 0)),
	};
	memcpy(packer->bytes, &header, sizeof(header));
	*chunk = packer->bytes;
	return 0;
}

static uint64_t checksum_of(const struct record_chunk_header *header)
{
	return XXH64(header, offsetof(struct record_chunk_header, checksum), 0);
}

void chunk__number(uint8_t *chunk, uint64_t number)
{
	struct record_chunk_header header;

	memcpy(&header, chunk, sizeof(header));
	header.number = htole64(number);
	header.checksum = htole64(checksum_of(&header));
	memcpy(chunk, &header, sizeof(header));
}

bool chunk__is_header(const struct record_chunk_header *header)
{
	const uint32_t raw = le32toh(header->raw_length);

	return le32toh(header->magic) == RECORD_CHUNK_MAGIC &&
	       le64toh(header->checksum) == checksum_of(header) && raw && raw <= RECORD_CHUNK_MAX &&
	       le32toh(header->stored_length) <= ZSTD_compressBound(raw);
}

size_t chunk__stored_size(const struct record_chunk_header *header)
{
	return record__align(le32toh(header->stored_length));
}

int chunk_packer__unpack(struct chunk_packer *packer, const struct record_chunk_header *header,
			 const void *stored, uint8_t **records)
{
	const size_t length = le32toh(header->stored_length);
	const size_t raw = le32toh(header->raw_length);
	size_t unpacked;

	if (XXH64(stored, length, 0) != le64toh(header->stored_checksum) ||
	    ZSTD_getFrameContentSize(stored, length) != raw)
		return -EBADMSG;
	if (!packer->decompressor)
		packer->decompressor = ZSTD_createDCtx();
	if (!packer->decompressor || chunk_packer__reserve(packer, raw))
		return -ENOMEM;
	unpacked = ZSTD_decompressDCtx(packer->decompressor, packer->bytes, raw, stored, length);
	if (ZSTD_isError(unpacked) || unpacked != raw)
		return -EBADMSG;
	*records = packer->bytes;
	return 0;
}
