// SPDX-License-Identifier: LGPL-2.1-or-later
/* From a table to the sections of a control region. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "table_builder.h"

#define BYTES_MIN 256

/* Room for @more elements of @section: then put() cannot fail. */
static int reserve(struct dart_builder *builder, enum dart_section section,
		   uint64_t more)
{
	const uint32_t size = dart_section_element[section];
	uint64_t room = builder->sections[section].room;
	uint64_t needed = builder->sections[section].count + more;
	struct dart_memory_region *memory_regions;
	uint8_t *bytes;

	if (needed > DART_CONTROL_LENGTH_MAX / size)
		return -EINVAL;
	if (needed <= room)
		return 0;
	room = 2 * needed + BYTES_MIN / size;

	bytes = realloc(builder->sections[section].bytes, room * size);
	if (!bytes)
		return -ENOMEM;
	builder->sections[section].bytes = bytes;
	if (section == DART_SECTION_MEMORY_REGIONS) {
		memory_regions = reallocarray(builder->memory_regions, room,
					      sizeof(*memory_regions));
		if (!memory_regions)
			return -ENOMEM;
		builder->memory_regions = memory_regions;
	}
	builder->sections[section].room = room;
	return 0;
}

static uint32_t count(const struct dart_builder *builder,
		      enum dart_section section)
{
	return builder->sections[section].count;
}

static void put(struct dart_builder *builder, enum dart_section section,
		const void *raw)
{
	const uint32_t size = dart_section_element[section];

	memcpy(builder->sections[section].bytes +
	       (size_t)builder->sections[section].count++ * size, raw, size);
}

/* Copies element @index of @section. */
static void get(const struct dart_builder *builder, enum dart_section section,
		uint32_t index, void *raw)
{
	const uint32_t size = dart_section_element[section];

	memcpy(raw, builder->sections[section].bytes + (size_t)index * size,
	       size);
}

static __le32 put_string(struct dart_builder *builder, const char *text)
{
	uint32_t offset = count(builder, DART_SECTION_STRINGS);
	size_t size = strlen(text) + 1;

	if (size == 1)
		return htole32(0);
	memcpy(builder->sections[DART_SECTION_STRINGS].bytes + offset, text,
	       size);
	builder->sections[DART_SECTION_STRINGS].count += size;
	return htole32(offset);
}

static const char *string_at(const struct dart_builder *builder,
			     __le32 reference)
{
	return (const char *)builder->sections[DART_SECTION_STRINGS].bytes +
	       le32toh(reference);
}

static int add_memory_regions(struct dart_builder *builder,
			      const struct dart_table *more, char *why)
{
	uint32_t i, index;
	int err;

	err = reserve(builder, DART_SECTION_MEMORY_REGIONS,
		      more->memory_region_count);
	for (i = 0; !err && i < more->memory_region_count; i++) {
		const struct dart_memory_region *region =
			&more->memory_regions[i];
		struct dart_control_memory_region raw = {
			.address = htole64(region->address),
			.length = htole64(region->length),
			.rkey = htole32(region->rkey),
		};

		index = count(builder, DART_SECTION_MEMORY_REGIONS);
		err = dart_check__memory_region(region, index, why);
		builder->memory_regions[index] = *region;
		put(builder, DART_SECTION_MEMORY_REGIONS, &raw);
	}
	return err;
}

static uint64_t hash_string(const char *text, uint64_t seed)
{
	return XXH64(text, strlen(text) + 1, seed);
}

static uint64_t hash_schema(const struct dart_schema *schema)
{
	uint64_t hash = hash_string(schema->name, schema->length);
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];
		const uint32_t numbers[] = {
			field->offset, field->width, field->count, field->kind,
			field->is_signed,
		};

		hash = XXH64(numbers, sizeof(numbers), hash);
		hash = hash_string(field->name, hash);
		hash = hash_string(field->unit, hash);
	}
	return hash;
}

/* What the functions that compare for an index are given. */
struct wanted {
	const struct dart_builder *builder;
	const void *thing;
};

static __le16 field_flags(const struct dart_field *field)
{
	return htole16(field->is_signed ? DART_CONTROL_FIELD_SIGNED : 0);
}

static bool is_field(const struct dart_builder *builder, uint32_t index,
		     const struct dart_field *field)
{
	struct dart_control_field raw;

	get(builder, DART_SECTION_FIELDS, index, &raw);
	return le32toh(raw.offset) == field->offset &&
	       le32toh(raw.width) == field->width &&
	       le32toh(raw.count) == field->count &&
	       le16toh(raw.kind) == field->kind &&
	       raw.flags == field_flags(field) &&
	       !strcmp(string_at(builder, raw.name), field->name) &&
	       !strcmp(string_at(builder, raw.unit), field->unit);
}

static bool is_schema(const void *context, uint32_t number)
{
	const struct wanted *wanted = context;
	const struct dart_builder *builder = wanted->builder;
	const struct dart_schema *schema = wanted->thing;
	struct dart_control_schema raw;
	uint32_t i;

	if (number >= count(builder, DART_SECTION_SCHEMAS))
		return false;
	get(builder, DART_SECTION_SCHEMAS, number, &raw);
	if (le32toh(raw.length) != schema->length ||
	    le32toh(raw.fields) != schema->field_count ||
	    strcmp(string_at(builder, raw.name), schema->name))
		return false;
	for (i = 0; i < schema->field_count; i++) {
		if (!is_field(builder, le32toh(raw.first_field) + i,
			      &schema->fields[i]))
			return false;
	}
	return true;
}

static int check_schema(const struct dart_builder *builder,
			const struct dart_schema *schema, char *why)
{
	const char **names;
	uint32_t i;
	int err;

	if (!dart_text__is_valid(schema->name))
		return -EINVAL;
	for (i = 0; i < schema->field_count; i++) {
		if (!dart_text__is_valid(schema->fields[i].name) ||
		    !dart_text__is_valid(schema->fields[i].unit))
			return -EINVAL;
	}

	names = calloc((size_t)schema->field_count + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	err = dart_check__schema(schema, count(builder, DART_SECTION_SCHEMAS),
				 names, why);
	free(names);
	return err;
}

static int reserve_schema(struct dart_builder *builder,
			  const struct dart_schema *schema)
{
	uint64_t strings = strlen(schema->name) + 1;
	uint32_t i;
	int err;

	for (i = 0; i < schema->field_count; i++)
		strings += strlen(schema->fields[i].name) + 1 +
			   strlen(schema->fields[i].unit) + 1;
	err = reserve(builder, DART_SECTION_SCHEMAS, 1);
	if (!err)
		err = reserve(builder, DART_SECTION_FIELDS,
			      schema->field_count);
	if (!err)
		err = reserve(builder, DART_SECTION_STRINGS, strings);
	return err;
}

static void put_schema(struct dart_builder *builder,
		       const struct dart_schema *schema)
{
	struct dart_control_schema raw = {
		.name = put_string(builder, schema->name),
		.length = htole32(schema->length),
		.first_field = htole32(count(builder, DART_SECTION_FIELDS)),
		.fields = htole32(schema->field_count),
	};
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		const struct dart_field *field = &schema->fields[i];
		struct dart_control_field raw_field = {
			.name = put_string(builder, field->name),
			.unit = put_string(builder, field->unit),
			.offset = htole32(field->offset),
			.width = htole32(field->width),
			.count = htole32(field->count),
			.kind = htole16(field->kind),
			.flags = field_flags(field),
		};

		put(builder, DART_SECTION_FIELDS, &raw_field);
	}
	put(builder, DART_SECTION_SCHEMAS, &raw);
}

static int add_schema(struct dart_builder *builder,
		      const struct dart_schema *schema, uint32_t *index,
		      char *why)
{
	const struct wanted wanted = { builder, schema };
	uint64_t hash = hash_schema(schema);
	int err;

	*index = dart_index__find(&builder->schemas, hash, is_schema, &wanted);
	if (*index != DART_INDEX_NONE)
		return 0;

	err = check_schema(builder, schema, why);
	if (!err)
		err = reserve_schema(builder, schema);
	*index = count(builder, DART_SECTION_SCHEMAS);
	if (!err)
		err = dart_index__add(&builder->schemas, hash, *index);
	if (!err)
		put_schema(builder, schema);
	return err;
}

static bool is_entry(const void *context, uint32_t number)
{
	const struct wanted *wanted = context;
	struct dart_control_entry raw;

	if (number >= count(wanted->builder, DART_SECTION_ENTRIES))
		return false;
	get(wanted->builder, DART_SECTION_ENTRIES, number, &raw);
	return raw.kind != htole32(DART_CONTROL_ENTRY_GONE) &&
	       !strcmp(string_at(wanted->builder, raw.name), wanted->thing);
}

static uint32_t find_entry(const struct dart_builder *builder,
			   const char *name, uint64_t hash)
{
	const struct wanted wanted = { builder, name };

	return dart_index__find(&builder->names, hash, is_entry, &wanted);
}

static int check_entry(struct dart_builder *builder,
		       const struct dart_entry *entry, char *why)
{
	const struct dart_table table = {
		.memory_regions = builder->memory_regions,
		.memory_region_count =
			count(builder, DART_SECTION_MEMORY_REGIONS),
	};

	if (!dart_text__is_valid(entry->name))
		return -EINVAL;
	return dart_check__entry(&table, entry,
				 count(builder, DART_SECTION_ENTRIES),
				 &builder->data, why);
}

static int reserve_entry(struct dart_builder *builder,
			 const struct dart_entry *entry)
{
	int err;

	err = reserve(builder, DART_SECTION_ENTRIES, 1);
	if (!err)
		err = reserve(builder, DART_SECTION_RANGES,
			      entry->range_count);
	if (!err)
		err = reserve(builder, DART_SECTION_STRINGS,
			      strlen(entry->name) + 1);
	return err;
}

static void put_ranges(struct dart_builder *builder,
		       const struct dart_entry *entry)
{
	uint32_t i;

	for (i = 0; i < entry->range_count; i++) {
		const struct dart_range *range = &entry->ranges[i];
		struct dart_control_range raw = {
			.address = htole64(range->address),
			.stride = htole64(range->stride),
			.memory_region = htole32(range->memory_region),
			.first_copy = htole32(range->first_copy),
			.copies = htole32(range->copies),
			.offset = htole32(range->offset),
			.length = htole32(range->length),
		};

		put(builder, DART_SECTION_RANGES, &raw);
	}
}

static void put_entry(struct dart_builder *builder,
		      const struct dart_entry *entry, uint32_t schema)
{
	struct dart_control_entry raw = {
		.name = put_string(builder, entry->name),
		.schema = htole32(schema),
		.kind = htole32(entry->kind),
		.lifetime = htole32(entry->lifetime),
		.copies_are = htole32(entry->copies_are),
		.copies = htole32(entry->copies),
		.first_range = htole32(count(builder, DART_SECTION_RANGES)),
		.ranges = htole32(entry->range_count),
	};

	put_ranges(builder, entry);
	put(builder, DART_SECTION_ENTRIES, &raw);
}

/* @schema is where that of @before, the entry added last, is; perhaps NULL. */
static int add_entry(struct dart_builder *builder,
		     const struct dart_entry *entry,
		     const struct dart_entry *before, uint32_t *schema,
		     char *why)
{
	uint64_t hash = hash_string(entry->name, 0);
	int err = 0;

	if (find_entry(builder, entry->name, hash) != DART_INDEX_NONE)
		return -EINVAL;
	if (!before || before->schema != entry->schema)
		err = add_schema(builder, entry->schema, schema, why);
	if (!err)
		err = check_entry(builder, entry, why);
	if (!err)
		err = reserve_entry(builder, entry);
	if (!err)
		err = dart_index__add(&builder->names, hash,
				      count(builder, DART_SECTION_ENTRIES));
	if (!err)
		put_entry(builder, entry, *schema);
	return err;
}

int dart_builder__add(struct dart_builder *builder,
		      const struct dart_table *more)
{
	const struct dart_builder_mark mark = dart_builder__mark(builder);
	const struct dart_entry *entries = more->entries;
	char why[DART_WHY_MAX];
	uint32_t i, schema;
	int err;

	err = dart_check__header(more, why);
	if (!err)
		err = add_memory_regions(builder, more, why);
	for (i = 0; !err && i < more->entry_count; i++)
		err = add_entry(builder, &entries[i],
				i ? &entries[i - 1] : NULL, &schema, why);
	if (!err)
		return 0;
	dart_builder__rollback(builder, &mark);
	return err == -ENOMEM ? -ENOMEM : -EINVAL;
}

int dart_builder__remove(struct dart_builder *builder, const char *name,
			 uint32_t *index)
{
	struct dart_control_entry raw, gone = {
		.kind = htole32(DART_CONTROL_ENTRY_GONE),
	};
	struct dart_control_schema schema;
	uint32_t ranges;

	*index = find_entry(builder, name, hash_string(name, 0));
	if (*index == DART_INDEX_NONE)
		return -ENOENT;
	get(builder, DART_SECTION_ENTRIES, *index, &raw);
	ranges = builder->gone_ranges + le32toh(raw.ranges);
	if (builder->gone_entries + 1 >
	    count(builder, DART_SECTION_ENTRIES) / 2 ||
	    ranges > count(builder, DART_SECTION_RANGES) / 2)
		return -EAGAIN;

	get(builder, DART_SECTION_SCHEMAS, le32toh(raw.schema), &schema);
	builder->data -= (uint64_t)le32toh(raw.copies) *
			 le32toh(schema.length);
	builder->gone_entries++;
	builder->gone_ranges = ranges;
	gone.first_range = raw.first_range;
	gone.ranges = raw.ranges;
	memcpy(builder->sections[DART_SECTION_ENTRIES].bytes +
	       (size_t)*index * sizeof(gone), &gone, sizeof(gone));
	return 0;
}

struct dart_builder_mark dart_builder__mark(const struct dart_builder *builder)
{
	struct dart_builder_mark mark = { .data = builder->data };
	int i;

	for (i = 0; i < DART_SECTIONS; i++)
		mark.counts[i] = builder->sections[i].count;
	return mark;
}

void dart_builder__rollback(struct dart_builder *builder,
			    const struct dart_builder_mark *mark)
{
	int i;

	for (i = 0; i < DART_SECTIONS; i++)
		builder->sections[i].count = mark->counts[i];
	dart_index__forget(&builder->names, mark->counts[DART_SECTION_ENTRIES]);
	dart_index__forget(&builder->schemas,
			   mark->counts[DART_SECTION_SCHEMAS]);
	builder->data = mark->data;
}

int dart_builder__init(struct dart_builder *builder)
{
	const uint8_t empty_string = 0;
	int err;

	*builder = (struct dart_builder) { };
	err = reserve(builder, DART_SECTION_STRINGS, sizeof(empty_string));
	if (!err)
		put(builder, DART_SECTION_STRINGS, &empty_string);
	return err;
}

void dart_builder__release(struct dart_builder *builder)
{
	int i;

	for (i = 0; i < DART_SECTIONS; i++)
		free(builder->sections[i].bytes);
	free(builder->memory_regions);
	dart_index__free(&builder->names);
	dart_index__free(&builder->schemas);
}
