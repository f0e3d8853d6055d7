// SPDX-License-Identifier: GPL-2.0-only
/* Packs a body by zlib. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "gzip.h"

/* A text of metrics becomes a tenth even so, in a third of the time of the default. */
#define LEVEL 1
/* zlib: a window of 2^15 bytes, and the header of gzip. */
#define WINDOW (15 + 16)
#define MEMORY 8

int gzip__pack(const void *bytes, size_t length, char **packed,
	       size_t *packed_length)
{
	z_stream stream = { };
	char *to;
	int ret;

	if (!length || length > UINT_MAX)
		return -E2BIG;
	if (deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
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

/* Of a coding, behind its name: "; q=0" refuses it. */
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
		if ((name == 4 && !strncasecmp(coding, "gzip", 4)) ||
		    (name == 1 && *coding == '*'))
			return !is_refused(coding + name, length - name);
		coding += length;
	}
	return false;
}
