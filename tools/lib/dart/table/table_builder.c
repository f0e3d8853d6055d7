// SPDX-License-Identifier: LGPL-2.1-or-later
/* Adds memory regions and entries to the sections of a control region. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table_builder_internal.h"

/* Keeps as much room as their section has. */
static int reserve_memory_regions(struct dart_builder *builder, uint64_t more)
{
	const uint32_t *room = &builder->sections.of[DART_SECTION_MEMORY_REGIONS].room;
	struct dart_memory_region *all;
	int ret;

	ret = dart_sections__reserve(&builder->sections, DART_SECTION_MEMORY_REGIONS, more);
	if (ret || *room == builder->memory_region_room)
		return ret;
	all = reallocarray(builder->memory_regions, *room, sizeof(*all));
	if (!all)
		return -ENOMEM;
	builder->memory_regions = all;
	builder->memory_region_room = *room;
	return 0;
}

static int add_memory_regions(struct dart_builder *builder, const struct dart_table *more,
			      struct dart_error *error)
{
	uint32_t i, index;
	int ret;

	ret = reserve_memory_regions(builder, more->memory_region_count);
	for (i = 0; !ret && i < more->memory_region_count; i++) {
		const struct dart_memory_region *region = &more->memory_regions[i];
		struct dart_control_memory_region raw = {
			.address = htole64(region->address),
			.length = htole64(region->length),
			.rkey = htole32(region->rkey),
		};

		index = builder->sections.of[DART_SECTION_MEMORY_REGIONS].count;
		ret = dart_check__memory_region(region, index, error);
		builder->memory_regions[index] = *region;
		dart_sections__put(&builder->sections, DART_SECTION_MEMORY_REGIONS, &raw);
	}
	return ret;
}

static bool is_entry(const void *context, uint32_t number)
{
	const struct dart_wanted *wanted = context;
	const struct dart_sections *sections = &wanted->builder->sections;
	struct dart_control_entry raw;

	if (number >= sections->of[DART_SECTION_ENTRIES].count)
		return false;
	dart_sections__get(sections, DART_SECTION_ENTRIES, number, &raw);
	return raw.kind != htole32(DART_CONTROL_ENTRY_GONE) &&
	       !strcmp(dart_sections__string(sections, raw.name), wanted->thing);
}

static uint32_t find_entry(const struct dart_builder *builder, const char *name, uint64_t hash)
{
	const struct dart_wanted wanted = { builder, name };

	return dart_index__find(&builder->names, hash, is_entry, &wanted);
}

static int check_entry(struct dart_builder *builder,
		       const struct dart_entry *entry, struct dart_error *error)
{
	const struct dart_table table = {
		.memory_regions = builder->memory_regions,
		.memory_region_count = builder->sections.of[DART_SECTION_MEMORY_REGIONS].count,
	};

	return dart_check__entry(&table, entry, builder->sections.of[DART_SECTION_ENTRIES].count,
				 &builder->data, error);
}

static int reserve_entry(struct dart_builder *builder, const struct dart_entry *entry)
{
	struct dart_sections *sections = &builder->sections;

	return dart_sections__reserve(sections, DART_SECTION_ENTRIES, 1)			 ?:
		       dart_sections__reserve(sections, DART_SECTION_RANGES, entry->range_count) ?:
		       dart_sections__reserve(sections, DART_SECTION_STRINGS,
					      strlen(entry->name) + 1);
}

static void put_ranges(struct dart_builder *builder, const struct dart_entry *entry)
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

		dart_sections__put(&builder->sections, DART_SECTION_RANGES, &raw);
	}
}

static void put_entry(struct dart_builder *builder, const struct dart_entry *entry, uint32_t schema,
		      uint64_t generation)
{
	struct dart_control_entry raw = {
		.since = htole64(entry->since ?: generation),
		.name = dart_sections__put_string(&builder->sections, entry->name),
		.schema = htole32(schema),
		.kind = htole32(entry->kind),
		.lifetime = htole32(entry->lifetime),
		.copies_are = htole32(entry->copies_are),
		.copies = htole32(entry->copies),
		.first_range = htole32(builder->sections.of[DART_SECTION_RANGES].count),
		.ranges = htole32(entry->range_count),
	};

	put_ranges(builder, entry);
	dart_sections__put(&builder->sections, DART_SECTION_ENTRIES, &raw);
}

/* @before: the entry added last, whose schema is at @schema; or NULL. */
static int add_entry(struct dart_builder *builder, const struct dart_entry *entry,
		     const struct dart_entry *before, uint32_t *schema, uint64_t generation,
		     struct dart_error *error)
{
	const uint32_t index = builder->sections.of[DART_SECTION_ENTRIES].count;
	uint64_t hash = dart_string__hash(entry->name, 0);
	int ret = 0;

	if (find_entry(builder, entry->name, hash) != DART_INDEX_NONE)
		return -EINVAL;
	if (!before || before->schema != entry->schema)
		ret = dart_builder__add_schema(builder, entry->schema, schema,
					       error);
	ret = ret ?: check_entry(builder, entry, error) ?:
	      reserve_entry(builder, entry) ?:
	      dart_index__add(&builder->names, hash, index);
	if (!ret)
		put_entry(builder, entry, *schema, generation);
	return ret;
}

/* Word @index of both sets of @table, one after the other. */
static __le64 cpu_word(const struct dart_table *table, uint32_t index)
{
	const uint32_t words = dart_table__cpu_words(table);
	const uint32_t cpus = table->cpus - 64 * index;

	if (index >= words)
		return table->nohz_full ? htole64(table->nohz_full[index - words]) : 0;
	if (table->online)
		return htole64(table->online[index]);
	return htole64(cpus < 64 ? (1ULL << cpus) - 1 : UINT64_MAX);
}

/* True if the CPU sets equal the sets of @table. */
static bool dart_builder__has_cpu_sets(const struct dart_builder *builder,
				       const struct dart_table *table)
{
	const uint32_t count = builder->sections.of[DART_SECTION_CPU_SETS].count;
	uint32_t i;
	__le64 raw;

	if (count != 2 * dart_table__cpu_words(table))
		return false;
	for (i = 0; i < count; i++) {
		dart_sections__get(&builder->sections, DART_SECTION_CPU_SETS, i, &raw);
		if (raw != cpu_word(table, i))
			return false;
	}
	return true;
}

/* The first call adds the sets, which never change afterwards. */
static int add_cpu_sets(struct dart_builder *builder, const struct dart_table *table)
{
	const uint32_t words = 2 * dart_table__cpu_words(table);
	uint32_t i;
	__le64 raw;
	int ret;

	if (builder->sections.of[DART_SECTION_CPU_SETS].count)
		return dart_builder__has_cpu_sets(builder, table) ? 0 : -EAGAIN;
	ret = dart_sections__reserve(&builder->sections, DART_SECTION_CPU_SETS, words);
	for (i = 0; !ret && i < words; i++) {
		raw = cpu_word(table, i);
		dart_sections__put(&builder->sections, DART_SECTION_CPU_SETS, &raw);
	}
	return ret;
}

int dart_builder__add(struct dart_builder *builder, const struct dart_table *more)
{
	const struct dart_builder_mark mark = dart_builder__mark(builder);
	const struct dart_entry *entries = more->entries;
	struct dart_error error;
	uint32_t i, schema;
	int ret;

	ret = dart_check__header(more, &error) ?: add_cpu_sets(builder, more) ?:
	      add_memory_regions(builder, more, &error);
	for (i = 0; !ret && i < more->entry_count; i++)
		ret = add_entry(builder, &entries[i], i ? &entries[i - 1] : NULL, &schema,
				more->generation, &error);
	if (!ret)
		return 0;
	dart_builder__rollback(builder, &mark);
	return ret == -ENOMEM || ret == -EAGAIN ? ret : -EINVAL;
}

int dart_builder__remove(struct dart_builder *builder, const char *name,
			 uint64_t generation, struct dart_builder_removal *removal)
{
	struct dart_sections *sections = &builder->sections;
	struct dart_control_entry raw, gone = {
		.kind = htole32(DART_CONTROL_ENTRY_GONE),
		.since = htole64(generation),
	};
	uint32_t gone_entries = builder->gone_entries + 1, gone_ranges, index;
	struct dart_control_schema schema;

	index = find_entry(builder, name, dart_string__hash(name, 0));
	if (index == DART_INDEX_NONE)
		return -ENOENT;
	dart_sections__get(sections, DART_SECTION_ENTRIES, index, &raw);
	gone_ranges = builder->gone_ranges + le32toh(raw.ranges);
	if (gone_entries > sections->of[DART_SECTION_ENTRIES].count / 2 ||
	    gone_ranges > sections->of[DART_SECTION_RANGES].count / 2)
		return -EAGAIN;

	dart_sections__get(sections, DART_SECTION_SCHEMAS, le32toh(raw.schema), &schema);
	builder->data -= (uint64_t)le32toh(raw.copies) * le32toh(schema.length);
	builder->gone_entries = gone_entries;
	builder->gone_ranges = gone_ranges;

	gone.schema = raw.schema;
	gone.first_range = raw.first_range;
	gone.ranges = raw.ranges;
	dart_sections__replace(sections, DART_SECTION_ENTRIES, index, &gone);
	*removal = (struct dart_builder_removal){ index, raw };
	return 0;
}

void dart_builder__undo_removal(struct dart_builder *builder,
				const struct dart_builder_removal *removal)
{
	const struct dart_control_entry *raw = &removal->entry;
	struct dart_control_schema schema;

	dart_sections__get(&builder->sections, DART_SECTION_SCHEMAS, le32toh(raw->schema), &schema);
	builder->data += (uint64_t)le32toh(raw->copies) * le32toh(schema.length);
	builder->gone_entries--;
	builder->gone_ranges -= le32toh(raw->ranges);
	dart_sections__replace(&builder->sections, DART_SECTION_ENTRIES, removal->index, raw);
}

struct dart_builder_mark dart_builder__mark(const struct dart_builder *builder)
{
	struct dart_builder_mark mark = { .data = builder->data };
	int i;

	for (i = 0; i < DART_SECTIONS; i++)
		mark.counts[i] = builder->sections.of[i].count;
	return mark;
}

void dart_builder__rollback(struct dart_builder *builder, const struct dart_builder_mark *mark)
{
	int i;

	for (i = 0; i < DART_SECTIONS; i++)
		builder->sections.of[i].count = mark->counts[i];
	dart_index__forget(&builder->names, mark->counts[DART_SECTION_ENTRIES]);
	dart_index__forget(&builder->schemas, mark->counts[DART_SECTION_SCHEMAS]);
	builder->data = mark->data;
}

int dart_builder__init(struct dart_builder *builder)
{
	const uint8_t empty_string = 0;
	int ret;

	*builder = (struct dart_builder) { };
	ret = dart_sections__reserve(&builder->sections, DART_SECTION_STRINGS,
				     sizeof(empty_string));
	if (!ret)
		dart_sections__put(&builder->sections, DART_SECTION_STRINGS, &empty_string);
	return ret;
}

void dart_builder__release(struct dart_builder *builder)
{
	dart_sections__release(&builder->sections);
	free(builder->memory_regions);
	dart_index__free(&builder->names);
	dart_index__free(&builder->schemas);
}
