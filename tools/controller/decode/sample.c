// SPDX-License-Identifier: GPL-2.0-only
/* Counts the values of a sample. */
#include "sample.h"

uint32_t sample__elements(const struct dart_schema *schema)
{
	uint32_t i, elements = 0;

	for (i = 0; i < schema->field_count; i++)
		elements += schema->fields[i].count;
	return elements;
}
