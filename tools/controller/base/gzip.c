// SPDX-License-Identifier: GPL-2.0-only
/* Packs and unpacks bodies with zlib. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gzip.h"

/* Shrinks a text of metrics to a tenth, in a third of the time of zlib's default. */
#define LEVEL 1
/* For zlib: a window of 2^15 bytes, and 16 for the header of gzip. */
#define WINDOW (15 + 16)
#define MEMORY 8

int gzip__pack(const void *bytes, size_t length, char **packed, size_t *packed_length)
{
	z_stream stream = {};
	char *to;
	int ret;

	if (!length || length > UINT_MAX)
		return -E2BIG;
	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	to = malloc(length);
	if (!to) {
		deflateEnd(&stream);
		return -ENOMEM;
	}
	stream.next_in = (Bytef *)bytes;
	stream.avail_in = length;
	stream.next_out = (Bytef *)to;
	stream.avail_out = length;
	ret = deflate(&stream, Z_FINISH);
	*packed_length = stream.total_out;
	deflateEnd(&stream);
	if (ret != Z_STREAM_END) {
		free(to);
		return -E2BIG;
	}
	*packed = to;
	return 0;
}

int gzip_stream__open(struct gzip_stream *stream, bool unpacks)
{
	int ret;

	*stream = (struct gzip_stream){ .unpacks = unpacks };
	ret = unpacks ? inflateInit2(&stream->zlib, WINDOW) :
			deflateInit2(&stream->zlib, LEVEL, Z_DEFLATED, WINDOW, MEMORY,
				     Z_DEFAULT_STRATEGY);
	stream->is_open = ret == Z_OK;
	return stream->is_open ? 0 : -ENOMEM;
}

void gzip_stream__put(struct gzip_stream *stream, const void *bytes, size_t length)
{
	stream->zlib.next_in = (Bytef *)bytes;
	stream->zlib.avail_in = length;
}

ssize_t gzip_stream__take(struct gzip_stream *stream, char *buffer, size_t size, bool is_last)
{
	int ret;

	if (stream->has_ended)
		return 0;
	stream->zlib.next_out = (Bytef *)buffer;
	stream->zlib.avail_out = size < UINT_MAX ? size : UINT_MAX;
	size = stream->zlib.avail_out;
	ret = stream->unpacks ? inflate(&stream->zlib, Z_NO_FLUSH) :
				deflate(&stream->zlib, is_last ? Z_FINISH : Z_NO_FLUSH);
	/* Z_BUF_ERROR: zlib needs more input. */
	if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
		return -EBADMSG;
	stream->has_ended = ret == Z_STREAM_END;
	return size - stream->zlib.avail_out;
}

void gzip_stream__close(struct gzip_stream *stream)
{
	if (!stream->is_open)
		return;
	if (stream->unpacks)
		inflateEnd(&stream->zlib);
	else
		deflateEnd(&stream->zlib);
	stream->is_open = false;
}

/* True if @parameters, the text after the name of a coding, refuse it with "; q=0". */
static bool is_refused(const char *parameters, size_t length)
{
	const char *end = parameters + length, *q;

	for (q = parameters; q < end; q++) {
		if ((*q != 'q' && *q != 'Q') || q + 1 >= end || q[1] != '=')
			continue;
		for (q += 2; q < end && (*q == '0' || *q == '.'); q++)
			;
		return q == end || *q == ' ';
	}
	return false;
}

bool gzip__is_accepted(const char *accept_encoding)
{
	const char *coding = accept_encoding;
	size_t length, name;

	while (coding && *coding) {
		coding += strspn(coding, ", \t");
		length = strcspn(coding, ",");
		name = strcspn(coding, ",; \t");
		if ((name == 4 && !strncasecmp(coding, "gzip", 4)) || (name == 1 && *coding == '*'))
			return !is_refused(coding + name, length - name);
		coding += length;
	}
	return false;
}
