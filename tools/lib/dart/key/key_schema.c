// SPDX-License-Identifier: LGPL-2.1-or-later
/* Key schemas: values as JSON. */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>
#include <libdart/table/value.h>

#include "key_schema.h"

uint32_t dart_key_field__length(const struct dart_key_field *field)
{
	return field->count * field->type->width_max;
}

static void free_fields(struct dart_key_fields *fields)
{
	uint32_t i;

	for (i = 0; i < fields->count; i++) {
		free(fields->list[i].unit);
		free(fields->list[i].description);
		free(fields->list[i].names);
	}
}

void dart_key_schema__free(struct dart_key_schema *schema)
{
	if (!schema)
		return;
	free_fields(&schema->key);
	free_fields(&schema->value);
	free(schema->description);
	free(schema);
}

static json_t *number(const struct dart_key_field *field, const uint8_t *bytes)
{
	uint64_t value = 0;
	uint32_t i;

	for (i = 0; i < field->type->width_max; i++)
		value = value << 8 | bytes[i];
	for (i = 0; i < field->name_count; i++)
		if (field->names[i].number == value)
			return json_string(field->names[i].name);
	return dart_json__unsigned(value);
}

static json_t *address(const struct dart_key_field *field, const uint8_t *bytes)
{
	const int family = field->type->width_max == 4 ? AF_INET : AF_INET6;
	char text[INET6_ADDRSTRLEN];

	inet_ntop(family, bytes, text, sizeof(text));
	return json_string(text);
}

/* Hexadecimal digits, with @separator between two bytes. */
static json_t *digits(const uint8_t *bytes, uint32_t length, const char *separator)
{
	char text[DART_STORE_VALUE_MAX * 3 + 1] = "";
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < length; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%02x",
				 i ? separator : "", bytes[i]);
	return json_string(text);
}

static json_t *element(const struct dart_key_field *field, const uint8_t *bytes)
{
	switch (field->type->kind) {
	case DART_KEY_NUMBER:
		return number(field, bytes);
	case DART_KEY_ADDRESS:
		return address(field, bytes);
	case DART_KEY_MAC:
		return digits(bytes, field->type->width_max, ":");
	case DART_KEY_BYTES:
		return digits(bytes, field->count, "");
	case DART_KEY_TEXT:
		return dart_text__to_json(bytes, field->count);
	}
	return NULL;
}

static bool is_zero(const uint8_t *bytes, uint32_t length)
{
	while (length--)
		if (*bytes++)
			return false;
	return true;
}

static json_t *elements(const struct dart_key_field *field, const uint8_t *bytes)
{
	const uint32_t width = field->type->width_max;
	uint32_t count = field->count, i;
	json_t *list = json_array();

	while (field->is_stack && count && is_zero(bytes + (count - 1) * width, width))
		count--;
	for (i = 0; i < count; i++) {
		uint32_t index = field->is_stack ? count - 1 - i : i;

		if (json_array_append_new(list, element(field, bytes + index * width))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static bool is_list(const struct dart_key_field *field)
{
	return field->count > 1 && field->type->kind != DART_KEY_BYTES &&
	       field->type->kind != DART_KEY_TEXT;
}

json_t *dart_key_schema__value(const struct dart_key_schema *schema, const uint8_t *value)
{
	json_t *object = json_object();
	uint32_t i;

	for (i = 0; i < schema->value.count; i++) {
		const struct dart_key_field *field = &schema->value.list[i];

		if (json_object_set_new(object, field->name,
					is_list(field) ? elements(field, value) :
							 element(field, value))) {
			json_decref(object);
			return NULL;
		}
		value += dart_key_field__length(field);
	}
	return object;
}
