/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the text formats of text.h piece by piece: a family, its points, the next family. Once
 * memory runs out, the writer writes nothing more, and text_writer__take() reports it.
 */
#ifndef CONTROLLER_METRIC_TEXT_WRITER_H
#define CONTROLLER_METRIC_TEXT_WRITER_H

#include "text.h"
#include "text_index.h"

/* A struct whose members are zeroed, except the first two, is an empty writer. */
struct text_writer {
	enum metric_text_format format;
	bool has_times;
	bool has_failed; /* memory ran out */
	char *text;
	size_t length;
	size_t room;
	struct text_index families; /* families printed so far */
};

/*
 * Prints the metadata of @family, whose name outlives the writer and differs from the names of all
 * earlier families.
 */
void text_writer__print_family(struct text_writer *writer, const struct metric_family *family);
/*
 * Prints NAME{LABELS,TEXT} VALUE TIME, where LABELS and TEXT are in the form of the text of struct
 * metric_series; LABELS are the first @labels_length bytes of @labels.
 */
void text_writer__print_point(struct text_writer *writer, const char *labels, size_t labels_length,
			      const char *name, const char *text, const struct metric_point *point);
/* Prints the end of the page, after the last family. */
void text_writer__print_end(struct text_writer *writer);
/*
 * Returns the text written since the last call, for the caller to free, with a NUL after @length
 * bytes. NULL if memory ran out.
 */
char *text_writer__take(struct text_writer *writer, size_t *length);
void text_writer__clear(struct text_writer *writer);

#endif /* CONTROLLER_METRIC_TEXT_WRITER_H */
