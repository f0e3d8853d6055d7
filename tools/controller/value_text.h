/* SPDX-License-Identifier: GPL-2.0-only */
/* Single values and rates as cells of a grid. */
#ifndef CONTROLLER_VALUE_TEXT_H
#define CONTROLLER_VALUE_TEXT_H

#include <stdbool.h>

#include <libdart/table/value.h>

#include "grid.h"

/* Do numbers of this kind add up, and have a rate? */
static inline bool field__is_counted(const struct dart_field *field)
{
	return field->kind == DART_CONTROL_FIELD_COUNTER ||
	       field->kind == DART_CONTROL_FIELD_HISTOGRAM;
}

/* A number as dart_field__get() or dart_entry__sum() gives it. */
void value_text__add(struct grid *grid, const struct dart_field *field,
		     uint64_t value);

/* Element @index in the copy at @copy, also of a text. */
void value_text__add_element(struct grid *grid, const struct dart_field *field,
			     const void *copy, uint32_t index);

/*
 * From @before to @now, per second; nanoseconds per second are shown as a
 * percentage.  Empty if the counter was set back.
 */
void value_text__add_rate(struct grid *grid, const struct dart_field *field,
			  uint64_t before, uint64_t now, double seconds);

/* "user (ns)", "bucket[3]"; @suffix comes last. */
void value_text__add_name(struct grid *grid, const struct dart_field *field,
			  uint32_t index, const char *suffix);

#endif /* CONTROLLER_VALUE_TEXT_H */
