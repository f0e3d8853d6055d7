/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values and rates as the cells of a libsmartcols table, filled cell by cell: first the titles of
 * the columns, then line by line. The first column is aligned left, the others right.
 */
#ifndef CONTROLLER_VALUE_TEXT_H
#define CONTROLLER_VALUE_TEXT_H

#include <libsmartcols.h>
#include <stdbool.h>
#include <stdio.h>

#include <libdart/table/value.h>

struct cells {
	struct libscols_table *table;
	struct libscols_line *line; /* NULL: cells__add() adds titles */
	size_t count; /* cells filled in this line */
	int ret; /* first error, or 0 */
};

/* Returns 0 or -ENOMEM. */
int cells__open(struct cells *cells);
void cells__start_line(struct cells *cells);
void cells__add(struct cells *cells, const char *format, ...) __attribute__((format(printf, 2, 3)));
/*
 * Prints lines of at most @width characters: if not all columns fit, only the first @fixed, or with
 * @fixed 0 as many as fit, at least one. Returns 0 or -errno, also if an earlier call failed.
 */
int cells__print_close(struct cells *cells, size_t width, size_t fixed, FILE *out);

/* True if numbers of this kind add up and have a rate. */
static inline bool field__is_counted(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_COUNTER ||
	       field->kind == DART_CONTROL_FIELD_HISTOGRAM;
}

/* Adds a number from dart_field__get() or dart_entry__sum(), formatted as 12,345,678. */
void value_text__add(struct cells *cells, const struct dart_field *field, uint64_t value);

/* Adds element @index of @field, which may be a text, in the copy at @copy. */
void value_text__add_element(struct cells *cells, const struct dart_field *field, const void *copy,
			     uint32_t index);

/*
 * Adds the increase per second from @before to @now; nanoseconds per second are shown as a
 * percentage. Adds an empty cell if the counter was reset.
 */
void value_text__add_rate(struct cells *cells, const struct dart_field *field, uint64_t before,
			  uint64_t now, double seconds);

/* Adds a name such as "user (ns)" or "bucket[3]", followed by @suffix. */
void value_text__add_name(struct cells *cells, const struct dart_field *field, uint32_t index,
			  const char *suffix);

#endif /* CONTROLLER_VALUE_TEXT_H */
