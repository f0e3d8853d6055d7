/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values and rates as the cells of a libsmartcols table, which is filled cell
 * by cell: first the titles of the columns, then line by line.  The first
 * column is aligned left, the others right.
 */
#ifndef CONTROLLER_VALUE_TEXT_H
#define CONTROLLER_VALUE_TEXT_H

#include <libsmartcols.h>
#include <stdbool.h>
#include <stdio.h>

#include <libdart/table/value.h>

struct cells {
	struct libscols_table *table;
	struct libscols_line *line; /* NULL: cells are titles */
	size_t count; /* filled of the line */
	int ret; /* the first error, or 0 */
};

/* Returns 0 or -ENOMEM. */
int cells__open(struct cells *cells);
void cells__start_line(struct cells *cells);
void cells__add(struct cells *cells, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Prints lines of at most @width characters: if not all columns fit, only the
 * first @fixed, or with 0 as many as fit, at least one.  Returns 0 or -errno,
 * also of the calls before.
 */
int cells__print_close(struct cells *cells, size_t width, size_t fixed, FILE *out);

/* True if numbers of this kind add up and have a rate. */
static inline bool field__is_counted(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_COUNTER ||
	       field->kind == DART_CONTROL_FIELD_HISTOGRAM;
}

/* A number from dart_field__get() or dart_entry__sum(), as 12,345,678. */
void value_text__add(struct cells *cells, const struct dart_field *field, uint64_t value);

/* Element @index of @field, which may be a text, in the copy at @copy. */
void value_text__add_element(struct cells *cells, const struct dart_field *field, const void *copy,
			     uint32_t index);

/*
 * The increase per second from @before to @now; nanoseconds per second are
 * shown as a percentage.  Empty if the counter was reset.
 */
void value_text__add_rate(struct cells *cells, const struct dart_field *field, uint64_t before,
			  uint64_t now, double seconds);

/* "user (ns)", "bucket[3]"; @suffix comes last. */
void value_text__add_name(struct cells *cells, const struct dart_field *field, uint32_t index,
			  const char *suffix);

#endif /* CONTROLLER_VALUE_TEXT_H */
