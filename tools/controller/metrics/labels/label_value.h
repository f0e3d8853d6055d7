/* SPDX-License-Identifier: GPL-2.0-only */
/* Values of labels: what fields of rows have, as UTF-8. */
#ifndef CONTROLLER_LABEL_VALUE_H
#define CONTROLLER_LABEL_VALUE_H

#include <stddef.h>

#include <libdart/table/table.h>
#include <libdart/table/value.h>

#define LABEL_VALUE_MAX 512	/* bytes, with the NUL */

/*
 * The @width bytes of a text, or those before its first NUL, as DART_ESCAPE_NAME makes them: the
 * bytes may be hostile.  A longer text is cut off between characters.
 */
void label_value__of_text(const void *bytes, size_t width,
			  char value[static LABEL_VALUE_MAX]);
/* The name of a host, which its agent has escaped already. */
void label_value__of_node(const struct dart_table *table,
			  char value[static LABEL_VALUE_MAX]);
/* A text, an address or the first number of @field. */
void label_value__of_field(const struct dart_field *field, const void *copy,
			   char value[static LABEL_VALUE_MAX]);

#endif /* CONTROLLER_LABEL_VALUE_H */
