// SPDX-License-Identifier: GPL-2.0-only
/* Packs bodies by snappy and zlib: see compression.h. */
#include "compression.h"

#include <errno.h>
#include <snappy-c.h>

#include "tools/controller/base/gzip.h"

/* Of header and trailer of gzip; compressBound() counts those of zlib's own format. */
#define GZIP_FRAME 18
#define GZIP_PIECE 65536

static int pack_snappy(const void *bytes, size_t length, uint8_t *to, size_t *room)
{
	/* Only a lack of room makes it fail. */
	snappy_compress(bytes, length, (char *)to, room);
	return 0;
}

static int unpack_snappy(const void *packed, size_t length, struct bytes *bytes)
{
	size_t unpacked;
	uint8_t *to;

	if (snappy_uncompressed_length(packed, length, &unpacked) ||
	    unpacked > COMPRESSION_UNPACKED_MAX)
		return -EINVAL;
	to = bytes__reserve(bytes, unpacked + 1);
	if (!to)
		return -ENOMEM;
	if (snappy_uncompress(packed, length, (char *)to, &unpacked))
		return -EINVAL;
	bytes->length += unpacked;
	return 0;
}

const struct compression compression_snappy = {
	.bound = snappy_max_compressed_length,
	.pack = pack_snappy,
	.unpack = unpack_snappy,
};

static size_t bound_gzip(size_t length)
{
	return compressBound(length) + GZIP_FRAME;
}

static int pack_gzip(const void *bytes, size_t length, uint8_t *to, size_t *room)
{
	struct gzip_stream stream;
	ssize_t packed;

	if (gzip_stream__open(&stream, false))
		return -ENOMEM;
	gzip_stream__put(&stream, bytes, length);
	packed = gzip_stream__take(&stream, (char *)to, *room, true);
	gzip_stream__close(&stream);
	if (packed <= 0 || !stream.has_ended)
		return -ENOMEM;
	*room = packed;
	return 0;
}

static int unpack_gzip(const void *packed, size_t length, struct bytes *bytes)
{
	const size_t before = bytes->length;
	struct gzip_stream stream;
	ssize_t count;
	uint8_t *to;
	int ret = 0;

	if (gzip_stream__open(&stream, true))
		return -ENOMEM;
	gzip_stream__put(&stream, packed, length);
	do {
		to = bytes__reserve(bytes, GZIP_PIECE);
		count = to ? gzip_stream__take(&stream, (char *)to, GZIP_PIECE, true) : -ENOMEM;
		if (count > 0)
			bytes->length += count;
		if (bytes->length - before > COMPRESSION_UNPACKED_MAX)
			count = -EINVAL;
	} while (count > 0);
	if (count == -ENOMEM)
		ret = -ENOMEM;
	else if (count || !stream.has_ended)
		ret = -EINVAL;
	gzip_stream__close(&stream);
	return ret;
}

const struct compression compression_gzip = {
	.bound = bound_gzip,
	.pack = pack_gzip,
	.unpack = unpack_gzip,
};
