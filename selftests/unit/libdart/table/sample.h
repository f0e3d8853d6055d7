/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A valid table that uses the whole format, and its bytes: the start of the unit tests
 * of tables, schemas and values.
 */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include <dart/control.h>
#include <libdart/error.h>
#include <libdart/table/table_writer.h>

#include "selftests/unit/unit.h"

enum { SAMPLE_CPUSTAT, SAMPLE_PAIR, SAMPLE_ROWS, SAMPLE_ENTRIES };

struct sample {
	struct dart_table table;
	struct dart_schema *stat;
	struct dart_schema *pair;
	struct dart_memory_region memory_regions[3];
	struct dart_range ranges[6];
	struct dart_entry entries[SAMPLE_ENTRIES];
	uint64_t online[1], nohz_full[1];
};

static inline void sample__add(struct dart_schema *schema, const char *name, const char *unit,
			       uint32_t offset, uint32_t width, uint32_t count,
			       enum dart_control_field_kind kind, bool is_signed)
{
	const struct dart_field field = {
		.name = (char *)name,
		.unit = (char *)unit,
		.offset = offset,
		.width = width,
		.count = count,
		.kind = kind,
		.is_signed = is_signed,
	};

	assert_int_equal(dart_schema__add(schema, &field), 0);
}

static inline struct dart_schema *sample__stat(void)
{
	struct dart_schema *schema = dart_schema__new("stat", 64);

	assert_non_null(schema);
	sample__add(schema, "user", "ns", 0, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	sample__add(schema, "idle", "ns", 8, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	schema->fields[1].lags = true;
	sample__add(schema, "heat", "", 16, 4, 1, DART_CONTROL_FIELD_GAUGE, true);
	sample__add(schema, "sizes", "bytes", 20, 4, 4, DART_CONTROL_FIELD_HISTOGRAM, false);
	sample__add(schema, "command", "", 40, 16, 1, DART_CONTROL_FIELD_TEXT, false);
	sample__add(schema, "small", "", 56, 1, 1, DART_CONTROL_FIELD_COUNTER, false);
	return schema;
}

/* Bytes 8 to 16 are in no field, and in no range of the entry. */
static inline struct dart_schema *sample__pair(void)
{
	struct dart_schema *schema = dart_schema__new("pair", 24);

	assert_non_null(schema);
	sample__add(schema, "in", "bytes", 0, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	sample__add(schema, "out", "bytes", 16, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	return schema;
}

static inline void sample__init(struct sample *sample)
{
	*sample = (struct sample) {
		.memory_regions = {
			{ .address = 0x100000, .length = 0x1000, .rkey = 11 },
			{ .address = 0x200000, .length = 0x100, .rkey = 22 },
			{ .address = 0x300010, .length = 0x40, .rkey = 33 },
		},
		/* Members in order: address, stride, region, first copy... */
		.ranges = {
			{ 0x100000, 64, 0, 0, 4, 0, 64 },
			/* Two groups of the same two runs. */
			{ 0x200000, 32, 1, 0, 2, 0, 8 },
			{ 0x200010, 32, 1, 0, 2, 16, 8 },
			{ 0x300010, 0, 2, 2, 1, 0, 8 },
			{ 0x300030, 0, 2, 2, 1, 16, 8 },
			{ 0x100400, 128, 0, 0, 5, 0, 64 },
		},
	};
	/* CPU 2 is not. */
	sample->online[0] = 0xb;
	sample->nohz_full[0] = 0xa;
	sample->stat = sample__stat();
	sample->pair = sample__pair();
	sample->entries[SAMPLE_CPUSTAT] = (struct dart_entry) {
		.name = "cpustat",
		.since = 1,
		.schema = sample->stat,
		.kind = DART_CONTROL_ENTRY_SOURCE,
		.lifetime = DART_CONTROL_LIFETIME_IMMOBILE,
		.copies_are = DART_CONTROL_COPIES_CPU,
		.copies = 4,
		.ranges = &sample->ranges[0],
		.range_count = 1,
	};
	sample->entries[SAMPLE_PAIR] = (struct dart_entry) {
		.name = "pair",
		.schema = sample->pair,
		.kind = DART_CONTROL_ENTRY_SOURCE,
		.lifetime = DART_CONTROL_LIFETIME_SERVERLESS,
		.copies_are = DART_CONTROL_COPIES_CPU,
		.copies = 3,
		.ranges = &sample->ranges[1],
		.range_count = 4,
	};
	sample->entries[SAMPLE_ROWS] = (struct dart_entry) {
		.name = "rows",
		.schema = sample->stat,
		.kind = DART_CONTROL_ENTRY_MAP,
		.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		.copies_are = DART_CONTROL_COPIES_ROW,
		.copies = 5,
		.ranges = &sample->ranges[5],
		.range_count = 1,
	};
	sample->table = (struct dart_table) {
		.generation = 7,
		.instance = 0x0123456789abcdef,
		.clock_offset_ns = -5,
		.host_id = "a host id, 16 b",
		.boot_id = "a boot id, 16 b",
		.node_name = "node-7.example.org",
		.online = sample->online,
		.nohz_full = sample->nohz_full,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 4,
		.page_size = 4096,
		.lease_ms = 3000,
		.memory_regions = sample->memory_regions,
		.memory_region_count = 3,
		.entries = sample->entries,
		.entry_count = SAMPLE_ENTRIES,
	};
}

static inline void sample__release(struct sample *sample)
{
	dart_schema__free(sample->stat);
	dart_schema__free(sample->pair);
}

/* Writes the valid checksum into @bytes. */
static inline void sample__seal(void *bytes, size_t length)
{
	struct dart_control_header *header = bytes;
	size_t at, left;
	uint64_t sum = 0;

	header->checksum = 0;
	for (at = 0; at < length; at += 256) {
		left = length - at;
		sum += XXH64((uint8_t *)bytes + at, left < 256 ? left : 256, at / 256);
	}
	header->checksum = sum;
}

static inline int sample__rewrite(const struct dart_table *table, void *region, size_t capacity)
{
	struct dart_table_writer *writer = dart_table_writer__new(region, capacity);
	int ret;

	assert_non_null(writer);
	ret = dart_table_writer__rewrite(writer, table);
	dart_table_writer__free(writer);
	return ret;
}

/*
 * Writes @table into @region, which is exactly as large as the table needs. Returns
 * like dart_table_writer__rewrite().
 */
static inline int sample__publish(const struct dart_table *table, void *region, size_t capacity)
{
	const struct dart_control_header *header = region;
	int ret = sample__rewrite(table, region, capacity);
	size_t i, end = sizeof(*header);

	const struct {
		const struct dart_control_section *section;
		size_t size;
	} sections[] = {
		{ &header->memory_regions, sizeof(struct dart_control_memory_region) },
		{ &header->entries, sizeof(struct dart_control_entry) },
		{ &header->ranges, sizeof(struct dart_control_range) },
		{ &header->schemas, sizeof(struct dart_control_schema) },
		{ &header->fields, sizeof(struct dart_control_field) },
		{ &header->strings, 1 },
		{ &header->cpu_sets, sizeof(__le64) },
	};

	if (ret < 0)
		return ret;
	for (i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		end = (end + 7) / 8 * 8 + le32toh(sections[i].section->count) * sections[i].size;
	return sample__rewrite(table, region, end);
}

/* The bytes of @table, in exactly @length bytes, which the caller frees. */
static inline uint8_t *sample__bytes(const struct dart_table *table, size_t *length)
{
	const size_t capacity = 65536;
	uint8_t *bytes = calloc(1, capacity);
	int used;

	assert_non_null(bytes);
	used = sample__publish(table, bytes, capacity);
	assert_in_range(used, sizeof(struct dart_control_header), capacity);
	*length = used;
	bytes = realloc(bytes, used);
	assert_non_null(bytes);
	return bytes;
}

/* The same with the last entry appended in place, so that there is slack. */
static inline uint8_t *sample__appended_bytes(const struct dart_table *table, size_t *length)
{
	const size_t capacity = 65536;
	uint8_t *bytes = calloc(1, capacity);
	struct dart_table_writer *writer = dart_table_writer__new(bytes, capacity);
	struct dart_table first = *table, last = *table;
	int used;

	assert_true(bytes && writer);
	first.generation--;
	first.entry_count--;
	last.entries += first.entry_count;
	last.entry_count = 1;
	last.memory_region_count = 0;
	used = dart_table_writer__rewrite(writer, &first);
	assert_in_range(used, sizeof(struct dart_control_header), capacity);
	assert_int_equal(dart_table_writer__append(writer, &last), used);
	dart_table_writer__free(writer);
	*length = used;
	bytes = realloc(bytes, used);
	assert_non_null(bytes);
	return bytes;
}

static inline void sample__assert_same_schema(const struct dart_schema *a,
					      const struct dart_schema *b)
{
	uint32_t i;

	assert_string_equal(a->name, b->name);
	assert_int_equal(a->length, b->length);
	assert_int_equal(a->field_count, b->field_count);
	for (i = 0; i < a->field_count; i++) {
		assert_string_equal(a->fields[i].name, b->fields[i].name);
		assert_string_equal(a->fields[i].unit, b->fields[i].unit);
		assert_int_equal(a->fields[i].offset, b->fields[i].offset);
		assert_int_equal(a->fields[i].width, b->fields[i].width);
		assert_int_equal(a->fields[i].count, b->fields[i].count);
		assert_int_equal(a->fields[i].kind, b->fields[i].kind);
		assert_int_equal(a->fields[i].is_signed, b->fields[i].is_signed);
		assert_int_equal(a->fields[i].lags, b->fields[i].lags);
	}
}

static inline void sample__assert_same_entry(const struct dart_entry *a, const struct dart_entry *b)
{
	uint32_t i;

	assert_string_equal(a->name, b->name);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->lifetime, b->lifetime);
	assert_int_equal(a->copies_are, b->copies_are);
	assert_int_equal(a->copies, b->copies);
	/* 0: that in which the entry is written. */
	if (a->since && b->since)
		assert_int_equal(a->since, b->since);
	assert_int_equal(a->range_count, b->range_count);
	for (i = 0; i < a->range_count; i++) {
		const struct dart_range *x = &a->ranges[i], *y = &b->ranges[i];

		assert_int_equal(x->address, y->address);
		assert_int_equal(x->stride, y->stride);
		assert_int_equal(x->memory_region, y->memory_region);
		assert_int_equal(x->first_copy, y->first_copy);
		assert_int_equal(x->copies, y->copies);
		assert_int_equal(x->offset, y->offset);
		assert_int_equal(x->length, y->length);
	}
	sample__assert_same_schema(a->schema, b->schema);
}

static inline void sample__assert_same(const struct dart_table *a, const struct dart_table *b)
{
	uint32_t i;

	assert_int_equal(a->generation, b->generation);
	assert_int_equal(a->instance, b->instance);
	assert_int_equal(a->clock_offset_ns, b->clock_offset_ns);
	assert_memory_equal(a->host_id, b->host_id, sizeof(a->host_id));
	assert_memory_equal(a->boot_id, b->boot_id, sizeof(a->boot_id));
	assert_string_equal(a->node_name, b->node_name);
	for (i = 0; i < a->cpus; i++) {
		assert_int_equal(dart_table__is_online(a, i), dart_table__is_online(b, i));
		assert_int_equal(dart_table__is_nohz_full(a, i), dart_table__is_nohz_full(b, i));
	}
	assert_int_equal(a->exposure, b->exposure);
	assert_int_equal(a->cpus, b->cpus);
	assert_int_equal(a->page_size, b->page_size);
	assert_int_equal(a->lease_ms, b->lease_ms);
	assert_int_equal(a->memory_region_count, b->memory_region_count);
	for (i = 0; i < a->memory_region_count; i++) {
		assert_int_equal(a->memory_regions[i].address, b->memory_regions[i].address);
		assert_int_equal(a->memory_regions[i].length, b->memory_regions[i].length);
		assert_int_equal(a->memory_regions[i].rkey, b->memory_regions[i].rkey);
	}
	assert_int_equal(a->entry_count, b->entry_count);
	for (i = 0; i < a->entry_count; i++)
		sample__assert_same_entry(&a->entries[i], &b->entries[i]);
}

/* The caller frees the table. */
static inline struct dart_table *sample__decode(const void *memory, size_t length)
{
	struct dart_table *decoded;
	struct dart_error error;

	if (dart_table__decode(memory, length, &decoded, NULL, &error))
		fail_msg("%s", error.text);
	assert_string_equal(error.text, "");
	return decoded;
}

/* The @length bytes in @memory are a table that equals @expected. */
static inline void sample__assert_decodes(const void *memory, int length,
					  const struct dart_table *expected)
{
	const struct dart_control_header *header = memory;
	struct dart_table *decoded;

	assert_true(length > 0);
	assert_int_equal(header->table_length, length);
	decoded = sample__decode(memory, length);
	sample__assert_same(expected, decoded);
	dart_table__free(decoded);
}

/* Memory for a table, no byte of it 0; the caller frees it. */
static inline uint8_t *sample__memory(size_t capacity)
{
	uint8_t *memory = malloc(capacity);

	assert_non_null(memory);
	memset(memory, 0xa5, capacity);
	return memory;
}

#endif /* SAMPLE_H */
