// SPDX-License-Identifier: LGPL-2.1-or-later
/* Adds schemas, each once, to the sections of a control region. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "table_builder_internal.h"

uint64_t dart_string__hash(const char *text, uint64_t seed)
{
	return XXH64(text, strlen(text) + 1, seed);
}

static uint64_t hash_schema(const struct dart_schema *schema)
{
	uint64_t hash = dart_string__hash(schema->name, schema->length);
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];
		const uint32_t numbers[] = {
			field->offset, field->width, field->count, field->kind,
			field->is_signed, field->lags,
		};

		hash = XXH64(numbers, sizeof(numbers), hash);
		hash = dart_string__hash(field->name, hash);
		hash = dart_string__hash(field->unit, hash);
	}
	return hash;
}

static __le16 field_flags(const struct dart_field *field)
{
	return htole16((field->is_signed ? DART_CONTROL_FIELD_SIGNED : 0) |
		       (field->lags ? DART_CONTROL_FIELD_LAGS : 0));
}

static bool is_field(const struct dart_sections *sections, uint32_t index,
		     const struct dart_field *field)
{
	struct dart_control_field raw;

	dart_sections__get(sections, DART_SECTION_FIELDS, index, &raw);
	return le32toh(raw.offset) == field->offset && le32toh(raw.width) == field->width &&
	       le32toh(raw.count) == field->count && le16toh(raw.kind) == field->kind &&
	       raw.flags == field_flags(field) &&
	       !strcmp(dart_sections__string(sections, raw.name), field->name) &&
	       !strcmp(dart_sections__string(sections, raw.unit), field->unit);
}

static bool is_schema(const void *context, uint32_t number)
{
	const struct dart_wanted *wanted = context;
	const struct dart_sections *sections = &wanted->builder->sections;
	const struct dart_schema *schema = wanted->thing;
	struct dart_control_schema raw;
	uint32_t i;

	if (number >= sections->of[DART_SECTION_SCHEMAS].count)
		return false;
	dart_sections__get(sections, DART_SECTION_SCHEMAS, number, &raw);
	if (le32toh(raw.length) != schema->length || le32toh(raw.fields) != schema->field_count ||
	    strcmp(dart_sections__string(sections, raw.name), schema->name))
		return false;
	for (i = 0; i < schema->field_count; i++) {
		if (!is_field(sections, le32toh(raw.first_field) + i, &schema->fields[i]))
			return false;
	}
	return true;
}

static int check_schema(const struct dart_builder *builder, const struct dart_schema *schema,
			struct dart_error *error)
{
	const char **names;
	int ret;

	if (!dart_text__is_valid(schema->name))
		return -EINVAL;
	names = calloc((size_t)schema->field_count + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	ret = dart_check__schema(schema, builder->sections.of[DART_SECTION_SCHEMAS].count, names,
				 error);
	free(names);
	return ret;
}

static int reserve_schema(struct dart_builder *builder, const struct dart_schema *schema)
{
	struct dart_sections *sections = &builder->sections;
	uint64_t strings = strlen(schema->name) + 1;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++)
		strings += strlen(schema->fields[i].name) + 1 + strlen(schema->fields[i].unit) + 1;
	return dart_sections__reserve(sections, DART_SECTION_SCHEMAS, 1)			  ?:
		       dart_sections__reserve(sections, DART_SECTION_FIELDS, schema->field_count) ?:
		       dart_sections__reserve(sections, DART_SECTION_STRINGS, strings);
}

static void put_schema(struct dart_sections *sections, const struct dart_schema *schema)
{
	struct dart_control_schema raw = {
		.name = dart_sections__put_string(sections, schema->name),
		.length = htole32(schema->length),
		.first_field = htole32(sections->of[DART_SECTION_FIELDS].count),
		.fields = htole32(schema->field_count),
	};
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];
		struct dart_control_field raw_field = {
			.name = dart_sections__put_string(sections,
							  field->name),
			.unit = dart_sections__put_string(sections,
							  field->unit),
			.offset = htole32(field->offset),
			.width = htole32(field->width),
			.count = htole32(field->count),
			.kind = htole16(field->kind),
			.flags = field_flags(field),
		};

		dart_sections__put(sections, DART_SECTION_FIELDS, &raw_field);
	}
	dart_sections__put(sections, DART_SECTION_SCHEMAS, &raw);
}

int dart_builder__add_schema(struct dart_builder *builder, const struct dart_schema *schema,
			     uint32_t *index, struct dart_error *error)
{
	const struct dart_wanted wanted = { builder, schema };
	uint64_t hash = hash_schema(schema);
	int ret;

	*index = dart_index__find(&builder->schemas, hash, is_schema, &wanted);
	if (*index != DART_INDEX_NONE)
		return 0;

	*index = builder->sections.of[DART_SECTION_SCHEMAS].count;
	ret = check_schema(builder, schema, error) ?:
	      reserve_schema(builder, schema) ?:
	      dart_index__add(&builder->schemas, hash, *index);
	if (!ret)
		put_schema(&builder->sections, schema);
	return ret;
}
