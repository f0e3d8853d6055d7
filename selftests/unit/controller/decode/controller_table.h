/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of an agent, for tests of the controller's decoding. */
#ifndef CONTROLLER_TABLE_H
#define CONTROLLER_TABLE_H

#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/endpoint.h>
#include <libdart/table/table_writer.h>

#include "selftests/unit/unit.h"

struct wish {
	const char *name;
	const struct dart_schema *schema;
	uint32_t copies;
	uint32_t reads;		/* memory regions, each with some of the copies */
};

static const struct dart_endpoint_accept accept_of_agent = {
	.address = 0x1000,
	.length = 4096,
	.used = 4096,
};

/* The differences between hosts with equal entries. */
struct test_host {
	const char *node;
	uint64_t instance;
	uint64_t address;	/* of all memory regions */
	uint32_t rkey;
};

/* The bytes of a table of these entries, which the caller frees. */
static inline uint8_t *table_bytes_of_host(const struct wish *wishes, uint32_t count,
					   const struct test_host *host, uint32_t *length)
{
	struct dart_entry *entries = calloc(count, sizeof(*entries));
	struct dart_table table = {
		.generation = 1,
		.instance = host->instance,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 4,
		.page_size = 4096,
		.entries = entries,
		.entry_count = count,
	};
	struct dart_table_writer *writer;
	struct dart_memory_region *region;
	struct dart_range *range;
	uint32_t i, k, total = 0;
	size_t room = 65536;
	uint8_t *bytes;
	int used;

	for (i = 0; i < count; i++)
		total += wishes[i].reads;
	room += total * 256ULL;
	region = table.memory_regions = calloc(total, sizeof(*region));
	range = calloc(total, sizeof(*range));
	bytes = calloc(1, room);
	assert_true(entries && region && range && bytes);
	strcpy(table.node_name, host->node);
	table.memory_region_count = total;
	for (i = 0; i < count; i++) {
		const uint32_t copies = wishes[i].copies / wishes[i].reads;
		const uint64_t size = wishes[i].schema->length;

		entries[i] = (struct dart_entry){
			.name = wishes[i].name,
			.schema = wishes[i].schema,
			.kind = DART_CONTROL_ENTRY_MAP,
			.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
			.copies_are = DART_CONTROL_COPIES_ROW,
			.copies = wishes[i].copies,
			.ranges = range,
			.range_count = wishes[i].reads,
		};
		for (k = 0; k < wishes[i].reads; k++, range++, region++) {
			*region = (struct dart_memory_region){
				.address = host->address,
				.length = copies * size,
				.rkey = host->rkey,
			};
			*range = (struct dart_range){
				.address = host->address,
				.stride = size,
				.memory_region = region - table.memory_regions,
				.first_copy = k * copies,
				.copies = copies,
				.length = size,
			};
		}
	}
	writer = dart_table_writer__new(bytes, room);
	assert_non_null(writer);
	used = dart_table_writer__rewrite(writer, &table);
	assert_true(used > 0);
	dart_table_writer__free(writer);
	free(range - total);
	free(table.memory_regions);
	free(entries);
	*length = used;
	return bytes;
}

/* A decoded table of these entries. */
static inline struct dart_table *table_of_host(const struct wish *wishes, uint32_t count,
					       const struct test_host *host)
{
	struct dart_table *decoded;
	struct dart_error error;
	uint32_t length;
	uint8_t *bytes = table_bytes_of_host(wishes, count, host, &length);

	assert_int_equal(dart_table__decode(bytes, length, &decoded, NULL, &error), 0);
	free(bytes);
	return decoded;
}

static inline struct dart_table *table_of(const struct wish *wishes, uint32_t count)
{
	const struct test_host host = { "host", 1, 0x10000, 1 };

	return table_of_host(wishes, count, &host);
}

static inline struct dart_schema *schema_of(uint32_t length, enum dart_control_field_kind kind)
{
	const struct dart_field field = {
		.name = "field",
		.unit = "",
		.width = length,
		.count = 1,
		.kind = kind,
	};
	struct dart_schema *schema = dart_schema__new("schema", length);

	assert_non_null(schema);
	assert_int_equal(dart_schema__add(schema, &field), 0);
	return schema;
}

#endif /* CONTROLLER_TABLE_H */
