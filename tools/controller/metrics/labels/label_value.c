// SPDX-License-Identifier: GPL-2.0-only
/* Makes UTF-8 without control characters of any bytes: see escape.h of libdart. */
#include "label_value.h"

#include <inttypes.h>
#include <stdio.h>

#include <libdart/escape.h>

void label_value__of_text(const void *text, size_t width,
			  char value[static LABEL_VALUE_MAX])
{
	dart_escape__text(text, width, DART_ESCAPE_NAME, value,
			  LABEL_VALUE_MAX);
}

void label_value__of_node(const struct dart_table *table,
			  char value[static LABEL_VALUE_MAX])
{
	dart_escape__text(table->node_name, sizeof(table->node_name),
			  DART_ESCAPE_SENTENCE, value, LABEL_VALUE_MAX);
}

void label_value__of_field(const struct dart_field *field, const void *copy,
			   char value[static LABEL_VALUE_MAX])
{
	uint64_t number;

	if (field->kind == DART_CONTROL_FIELD_TEXT) {
		label_value__of_text((const char *)copy + field->offset,
				     field->width, value);
	} else if (field->kind == DART_CONTROL_FIELD_ADDRESS) {
		dart_field__address(field, copy, value);
	} else {
		number = dart_field__get(field, copy, 0);
		if (field->is_signed)
			snprintf(value, LABEL_VALUE_MAX, "%" PRId64,
				 (int64_t)number);
		else
			snprintf(value, LABEL_VALUE_MAX, "%" PRIu64, number);
	}
}
