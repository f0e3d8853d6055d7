/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the text formats of text.h piece by piece: a family, its points, the next family.
 * After a want of memory nothing more is written, and text_writer__take() says so.
 */
#ifndef CONTROLLER_METRIC_TEXT_WRITER_H
#define CONTROLLER_METRIC_TEXT_WRITER_H

#include "text.h"
#include "text_index.h"

/* All zeros but for the first two is empty. */
struct text_writer {
	enum metric_text_format format;
	bool has_times;
	bool has_failed; /* out of memory */
	char *text;
	size_t length;
	size_t room;
	struct text_index families; /* that were printed */
};

/* The metadata of @family, whose name outlives the writer, and is none of those before. */
void text_writer__print_family(struct text_writer *writer, const struct metric_family *family);
/*
 * NAME{LABELS,TEXT} VALUE TIME, where both are as the text of struct metric_series; of @labels
 * @labels_length bytes count.
 */
void text_writer__print_point(struct text_writer *writer, const char *labels, size_t labels_length,
			      const char *name, const char *text, const struct metric_point *point);
/* Behind the last family. */
void text_writer__print_end(struct text_writer *writer);
/*
 * What was written since the last time; the caller frees it, and it has a NUL behind @length
 * bytes.  NULL if out of memory.
 */
char *text_writer__take(struct text_writer *writer, size_t *length);
void text_writer__clear(struct text_writer *writer);

#endif /* CONTROLLER_METRIC_TEXT_WRITER_H */
