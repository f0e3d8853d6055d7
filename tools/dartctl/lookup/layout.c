// SPDX-License-Identifier: GPL-2.0-only
/* The fields of the entries of a lookup table, see layout.h. */
#include <errno.h>
#include <string.h>

#include "layout.h"

_Static_assert(DART_STORE_KEY_MAX <= DART_TEA_KEY_MAX && DART_STORE_VALUE_MAX <= DART_TEA_VALUE_MAX,
	       "a table has room for keys and values of every schema");

/* Adds @fields to the layout.  Returns their total length in bytes. */
static uint32_t add_fields(struct lookup_layout *layout, const struct dart_key_fields *fields,
			   uint32_t offset)
{
	uint32_t i, begin = offset;

	for (i = 0; i < fields->count; i++) {
		layout->fields[layout->count++] =
			(struct lookup_field){ &fields->list[i], offset,
					    strlen(fields->list[i].name) };
		offset += dart_key_field__length(&fields->list[i]);
	}
	return offset - begin;
}

static int check(const struct dart_key_schema *schema, struct dart_error *error)
{
	const struct dart_key_fields *key = &schema->key, *value = &schema->value;
	uint32_t i, j;

	for (i = 0; i < key->count; i++) {
		const struct dart_key_field *field = &key->list[i];

		if (field->type->width_min != field->type->width_max)
			return dart_error__set(
				error, EINVAL,
				"the keys of a table all have the same length: field '%s' must be ipv4 or ipv6, not %s",
				field->name, field->type->name);
		for (j = 0; j < value->count; j++)
			if (!strcmp(field->name, value->list[j].name))
				return dart_error__set(
					error, EINVAL,
					"key and value both have a field '%s': rename one of them",
					field->name);
	}
	return 0;
}

int lookup_layout__init(struct lookup_layout *layout, struct dart_key_schema *schema,
		     struct dart_error *error)
{
	int ret = check(schema, error);

	if (ret)
		return ret;
	*layout = (struct lookup_layout){ .schema = schema };
	layout->key_length = add_fields(layout, &schema->key, 0);
	layout->key_count = layout->count;
	layout->value_length = add_fields(layout, &schema->value, layout->key_length);
	return 0;
}

int lookup_layout__init_raw(struct lookup_layout *layout, uint32_t key_length,
			 uint32_t value_length, struct dart_error *error)
{
	struct dart_key_schema *schema;
	char text[160];
	FILE *file;
	int ret;

	snprintf(text, sizeof(text),
		 "key: [{name: key, type: bytes, count: %u}]\n"
		 "value: [{name: value, type: bytes, count: %u}]\n",
		 key_length, value_length);
	file = fmemopen(text, strlen(text), "r");
	if (!file)
		return dart_error__no_memory(error);
	ret = dart_key_schema__load(file, "entries", &schema, error);
	fclose(file);
	if (ret)
		return ret;
	ret = lookup_layout__init(layout, schema, error);
	if (ret)
		dart_key_schema__free(schema);
	return ret;
}

void lookup_layout__free(struct lookup_layout *layout)
{
	dart_key_schema__free(layout->schema);
}

int lookup_layout__find(const struct lookup_layout *layout, const char *name, size_t length)
{
	uint32_t i;

	for (i = 0; i < layout->count; i++)
		if (layout->fields[i].name_length == length &&
		    !memcmp(layout->fields[i].is->name, name, length))
			return i;
	return -ENOENT;
}

void lookup_layout__names(const struct lookup_layout *layout, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < layout->count && used < size; i++)
		used += snprintf(text + used, size - used, "%s%s",
				 i ? ", " : "", layout->fields[i].is->name);
}
