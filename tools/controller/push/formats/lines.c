// SPDX-License-Identifier: GPL-2.0-only
/* Messages of lines: see lines.h. */
#include "lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <xxhash.h>

#include "tools/controller/base/number_text.h"

/* Of a blank, a time, a line feed and the NUL. */
#define TIME_TEXT_MAX 24

size_t lines__put(struct bytes *lines, size_t start, const struct metric_point *points,
		  size_t count, int64_t unit_ns)
{
	const size_t head = lines->length - start;
	char tail[NUMBER_TEXT_MAX + TIME_TEXT_MAX];
	size_t written = 0, length, i;
	uint8_t *to;

	for (i = 0; i < count; i++) {
		if (!isfinite(points[i].value))
			continue;
		length = number_text__print(points[i].value, tail);
		length += snprintf(tail + length, TIME_TEXT_MAX, " %" PRId64 "\n",
				   (int64_t)(points[i].time_ns / unit_ns));
		to = bytes__reserve(lines, head + length);
		if (!to)
			break;
		/* The caller wrote the head of the first line. */
		if (written++) {
			memcpy(to, lines->data + start, head);
			lines->length += head;
		}
		bytes__put(lines, tail, length);
	}
	if (!written)
		lines->length = start;
	return written;
}

int lines__read(struct pieces *pieces, lines_find_host find_host)
{
	const uint8_t *at = pieces->bytes.data, *line_end;
	const uint8_t *const end = at + pieces->bytes.length;
	struct found_series found;
	int ret = 0;

	while (!ret && at < end) {
		line_end = memchr(at, '\n', end - at);
		line_end = line_end ? line_end + 1 : end;
		found = (struct found_series){
			.hash = XXH3_64bits(at, line_end - at),
			.samples = 1,
		};
		find_host(&found, at, line_end);
		ret = pieces__add(pieces, &found, at, line_end);
		at = line_end;
	}
	return ret;
}
