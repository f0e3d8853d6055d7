/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For formats whose messages are lines of text: a line is a point, with the labels of its series,
 * the value and the time.  A receiver takes or refuses single lines, so each counts as a series.
 */
#ifndef CONTROLLER_PUSH_LINES_H
#define CONTROLLER_PUSH_LINES_H

#include "bytes.h"
#include "pieces.h"

/*
 * Makes a line of each finite point: the head, the value, a blank, the time in units of @unit_ns.
 * The caller has appended the head, up to the value, to @lines, where it begins at @start.  Without
 * a finite point the head is removed.  Returns the number of lines.
 */
size_t lines__put(struct bytes *lines, size_t start, const struct metric_point *points,
		  size_t count, int64_t unit_ns);

/* Finds the host in a line, which ends at @end; leaves @found as it is if the line names none. */
typedef void (*lines_find_host)(struct found_series *found, const uint8_t *line,
				const uint8_t *end);

/* Does the work of read(): see format.h. */
int lines__read(struct pieces *pieces, lines_find_host find_host);

#endif /* CONTROLLER_PUSH_LINES_H */
