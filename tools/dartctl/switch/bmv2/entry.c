// SPDX-License-Identifier: GPL-2.0-only
/* Entries that consist of numbers, see entry.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "entry.h"

void switch_table__value_text(const struct switch_table *table, uint32_t index, uint64_t value,
			      char text[SWITCH_VALUE_TEXT])
{
	uint8_t bytes[8];
	int i;

	for (i = 0; i < 8; i++)
		bytes[i] = value >> (56 - 8 * i);
	switch (table->values[index].notation) {
	case SWITCH_MAC:
		snprintf(text, SWITCH_VALUE_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[2],
			 bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
		break;
	case SWITCH_IPV4:
		snprintf(text, SWITCH_VALUE_TEXT, "%u.%u.%u.%u", bytes[4], bytes[5], bytes[6],
			 bytes[7]);
		break;
	case SWITCH_HEX:
		snprintf(text, SWITCH_VALUE_TEXT, "0x%" PRIx64, value);
		break;
	case SWITCH_DECIMAL:
		snprintf(text, SWITCH_VALUE_TEXT, "%" PRIu64, value);
		break;
	}
}

uint64_t switch_mac__number(const uint8_t mac[static 6])
{
	uint64_t number = 0;
	int i;

	for (i = 0; i < 6; i++)
		number = number << 8 | mac[i];
	return number;
}

uint64_t switch_mac__of_ip(uint32_t ip)
{
	return UINT64_C(0x0200) << 32 | ip;
}

void switch_entry__set(struct switch_entry *entry, uint64_t value)
{
	*entry = (struct switch_entry){ .there = true, .values = { value } };
}

bool switch_entry__equal(const struct switch_entry *a, const struct switch_entry *b)
{
	return a->there == b->there &&
	       (!a->there || !memcmp(a->values, b->values, sizeof(a->values)));
}

void switch_entry__print(const struct switch_table *table, const struct switch_entry *entry)
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
