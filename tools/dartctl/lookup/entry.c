// SPDX-License-Identifier: GPL-2.0-only
/* An entry on the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "text.h"
#include "tools/dartctl/cli/message.h"
#include "tools/dartctl/cli/schemas.h"

static bool fits(const struct lookup_layout *layout, const struct dart_tea_geometry *geometry)
{
	return layout->key_length == geometry->key_length &&
	       layout->value_length == geometry->value_length;
}

/*
 * Makes the layout of @schema, which it takes over.  Returns 0, or sets @error and returns
 * -EINVAL if the table cannot have such entries.
 */
static int take_schema(const struct lookup_named *named, const struct dart_tea_geometry *geometry,
		       struct dart_key_schema *schema, struct lookup_layout *layout,
		       struct dart_error *error)
{
	int ret;

	ret = lookup_layout__init(layout, schema, error);
	if (ret) {
		dart_key_schema__free(schema);
		return ret;
	}
	if (fits(layout, geometry))
		return 0;
	ret = dart_error__set(
		error, EINVAL,
		"its entries have %u + %u bytes, but those of table '%s' %u + %u (see dartctl table show)",
		layout->key_length, layout->value_length, named->table,
		geometry->key_length, geometry->value_length);
	lookup_layout__free(layout);
	return ret;
}

int lookup_entry__layout(const struct lookup_named *named, const struct dart_tea_geometry *geometry,
		      struct lookup_layout *layout)
{
	struct dart_key_schema *schema;
	struct dart_error error;
	const char *name = named->schema;
	int ret;

	if (!name && !named->key && schemas__has(named->table))
		name = named->table;
	if (name) {
		schema = schemas__load(name);
		if (!schema)
			return EXIT_FAILURE;
		ret = take_schema(named, geometry, schema, layout, &error);
		if (!ret)
			return EXIT_SUCCESS;
		if (named->schema)
			return fail(-ret, "schema '%s': %s", name, error.text);
	}
	ret = lookup_layout__init_raw(layout, geometry->key_length, geometry->value_length, &error);
	return ret ? fail(-ret, "%s", error.text) : EXIT_SUCCESS;
}

static int take_text(const struct lookup_layout *layout, int index, const char *text,
		     uint8_t *entry)
{
	const struct lookup_field *field = &layout->fields[index];
	struct dart_error error;

	if (lookup_text__parse(field->is, text, strlen(text), entry + field->offset, &error))
		return misuse("%s", error.text);
	return EXIT_SUCCESS;
}

static int refuse_field(const struct lookup_layout *layout, const char *text, size_t length)
{
	char names[256];

	lookup_layout__names(layout, names, sizeof(names));
	return misuse("'%.*s' is not a field of the entries: these are %s",
		      (int)length, text, names);
}

static int take_field(const struct lookup_layout *layout, const char *text,
		      bool has_value, bool *is_given, uint8_t *entry)
{
	const char *sign = strchr(text, '=');
	int index;

	if (!sign)
		return misuse("'%s' is not FIELD=VALUE", text);
	index = lookup_layout__find(layout, text, sign - text);
	if (index < 0)
		return refuse_field(layout, text, sign - text);
	if (!has_value && index >= (int)layout->key_count)
		return misuse("'%s' is a field of the value: only the key is needed",
			      layout->fields[index].is->name);
	if (is_given[index])
		return misuse("'%s' is given twice", layout->fields[index].is->name);
	is_given[index] = true;
	return take_text(layout, index, sign + 1, entry);
}

/* Takes the digits of a whole key or value, whatever its fields are. */
static int take_raw(const struct lookup_named *named, const struct lookup_layout *layout,
		    bool has_value, uint8_t *entry)
{
	struct dart_error error;
	struct lookup_layout raw;
	int ret, status;

	if (named->field_count)
		return misuse("'%s' and --key exclude each other", named->fields[0]);
	if (has_value && !named->value)
		return misuse("'--value' is missing");
	ret = lookup_layout__init_raw(&raw, layout->key_length, layout->value_length, &error);
	if (ret)
		return fail(-ret, "%s", error.text);
	status = take_text(&raw, 0, named->key, entry);
	if (!status && has_value)
		status = take_text(&raw, raw.key_count, named->value, entry);
	lookup_layout__free(&raw);
	return status;
}

/* "src=IPV4 dst=IPV4 ..." */
static void describe(const struct lookup_layout *layout, uint32_t count, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < count && used < size; i++)
		used += snprintf(text + used, size - used, " %s=%s", layout->fields[i].is->name,
				 layout->fields[i].is->type->name);
}

int lookup_entry__take(const struct lookup_named *named, const struct lookup_layout *layout,
		       bool has_value, uint8_t entry[static LOOKUP_ENTRY_MAX])
{
	const uint32_t count = has_value ? layout->count : layout->key_count;
	bool is_given[LOOKUP_FIELDS_MAX] = { false };
	char all[1024] = "";
	uint32_t i;
	int j, status;

	if (named->key)
		return take_raw(named, layout, has_value, entry);
	if (named->value)
		return misuse("'--value' needs --key");
	for (j = 0; j < named->field_count; j++) {
		status = take_field(layout, named->fields[j], has_value, is_given, entry);
		if (status)
			return status;
	}
	describe(layout, count, all, sizeof(all));
	for (i = 0; i < count; i++)
		if (!is_given[i])
			return misuse("'%s' is missing: %s of table '%s' is%s",
				      layout->fields[i].is->name, has_value ? "an entry" : "a key",
				      named->table, all);
	return EXIT_SUCCESS;
}
