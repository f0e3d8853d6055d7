// SPDX-License-Identifier: GPL-2.0-only
/* Encodes series as lines for InfluxDB: see influx.h. */
#include "influx.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <zlib.h>

/* The window of deflate, with the header of gzip: see deflateInit2() in zlib.h. */
#define GZIP_WINDOW (15 + 16)
#define EXACT_MAX 9007199254740992.0 /* 2^53: integers below it are exact */

/*
 * Names and values of tags: a backslash before each of @special.  Values have neither a line
 * feed, which would end the line, nor a backslash at the end or before one of @special,
 * which would hide a separator: escape.h of libdart has replaced them.
 */
static void put_escaped(struct bytes *lines, const char *text,
			const char *special)
{
	uint8_t *to = bytes__reserve(lines, 2 * strlen(text));
	const char *c;

	if (!to)
		return;
	for (c = text; *c; c++) {
		if (strchr(special, *c))
			*to++ = '\\';
		*to++ = *c;
	}
	lines->length = to - lines->data;
}

/* The shortest of the usual texts that is the same number again. */
static size_t print_value(char *text, size_t size, double value)
{
	if (value > -EXACT_MAX && value < EXACT_MAX && value == trunc(value))
		return snprintf(text, size, "%" PRId64, (int64_t)value);
	snprintf(text, size, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, size, "%.17g", value);
	return strlen(text);
}

size_t influx__put(struct bytes *lines, const struct merged_labels *labels,
		   const char *name, const struct metric_point *points,
		   size_t count)
{
	const size_t start = lines->length;
	size_t prefix, written = 0, length, i;
	char value[64];
	uint8_t *to;

	put_escaped(lines, name, ", ");
	for (i = 0; i < labels->count; i++) {
		if (!strcmp(labels->labels[i].name, "__name__"))
			continue;
		bytes__put_byte(lines, ',');
		put_escaped(lines, labels->labels[i].name, ", =");
		bytes__put_byte(lines, '=');
		put_escaped(lines, labels->labels[i].value, ", =");
	}
	bytes__put(lines, " value=", 7);
	prefix = lines->length - start;

	for (i = 0; i < count; i++) {
		if (!isfinite(points[i].value))
			continue;
		length = print_value(value, sizeof(value), points[i].value);
		length += snprintf(value + length, sizeof(value) - length,
				   " %" PRId64 "\n", points[i].time_ns);
		/* The first has the prefix already. */
		to = bytes__reserve(lines, prefix + length);
		if (!to)
			break;
		if (written++) {
			memcpy(to, lines->data + start, prefix);
			lines->length += prefix;
		}
		bytes__put(lines, value, length);
	}
	if (!written)
		lines->length = start;
	return written;
}

int influx__compress(const struct bytes *lines, struct bytes *body)
{
	z_stream stream = {
		.next_in = lines->data,
		.avail_in = lines->length,
	};
	int ret = -ENOMEM;
	uLong bound;

	if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	bound = deflateBound(&stream, lines->length);
	stream.next_out = bytes__reserve(body, bound);
	stream.avail_out = bound;
	if (stream.next_out && deflate(&stream, Z_FINISH) == Z_STREAM_END) {
		body->length += stream.total_out;
		ret = 0;
	}
	deflateEnd(&stream);
	return ret;
}
