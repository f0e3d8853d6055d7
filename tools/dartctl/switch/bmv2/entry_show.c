// SPDX-License-Identifier: GPL-2.0-only
/* Prints the values of an entry, see entry_show.h. */
#include <errno.h>
#include <stdio.h>

#include "entry_show.h"

void switch_entry__print(const struct switch_table *table,
			 const struct switch_entry *entry)
{
	char text[SWITCH_VALUE_TEXT];
	uint32_t i;

	for (i = 0; i < table->value_count; i++) {
		switch_table__value_text(table, i, entry->values[i], text);
		printf("%s %s %s", i ? "," : ":", table->values[i].name, text);
	}
}

int switch_entry__add_to(json_t *json, const struct switch_table *table,
			 const struct switch_entry *entry)
{
	char text[SWITCH_VALUE_TEXT];
	json_t *value;
	uint32_t i;

	for (i = 0; i < table->value_count; i++) {
		switch_table__value_text(table, i, entry->values[i], text);
		value = table->values[i].notation == SWITCH_DECIMAL ?
				json_integer(entry->values[i]) :
				json_string(text);
		if (json_object_set_new(json, table->values[i].name, value))
			return -ENOMEM;
	}
	return 0;
}
