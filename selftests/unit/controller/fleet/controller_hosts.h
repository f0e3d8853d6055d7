/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts for a controller, each with a table and 4 KiB of values in memory of this process, as
 * of a host that gathers: values and addresses are its own, the rest is equal.
 */
#ifndef CONTROLLER_HOSTS_H
#define CONTROLLER_HOSTS_H

#include <stdio.h>
#include <stdlib.h>

#include <libdart/table/table_writer.h>

#include "selftests/unit/unit.h"
#include "tools/bench/simulated_network.h"

#define HOSTS 1000
#define ENTRIES 8
#define FIELDS 64
#define VALUES (ENTRIES * FIELDS)

static uint32_t host_count;
static struct simulated_host hosts[HOSTS], *all_hosts[HOSTS];
static uint64_t values[HOSTS][VALUES];

static uint64_t value_of(uint32_t host, uint32_t number)
{
	return host * 100000ULL + number;
}

static struct dart_schema *make_schema(uint32_t entry)
{
	struct dart_schema *schema;
	char name[32];
	uint32_t i;

	snprintf(name, sizeof(name), "schema_%u", entry);
	schema = dart_schema__new(name, FIELDS * sizeof(uint64_t));
	assert_non_null(schema);
	for (i = 0; i < FIELDS; i++) {
		snprintf(name, sizeof(name), "counter_%u_%u", entry, i);
		assert_int_equal(dart_schema__add(schema,
				&(struct dart_field){
					.name = name,
					.unit = "bytes",
					.offset = i * sizeof(uint64_t),
					.width = sizeof(uint64_t),
					.count = 1,
					.kind = DART_CONTROL_FIELD_COUNTER,
				}), 0);
	}
	return schema;
}

/* With @own, the last entry of each host is named differently. */
static void host__write_table(struct simulated_host *host, uint32_t index,
			      struct dart_schema *const schemas[ENTRIES], bool own)
{
	struct dart_range ranges[ENTRIES];
	struct dart_entry entries[ENTRIES];
	char names[ENTRIES][64];
	struct dart_memory_region region = {
		.address = (uintptr_t)values[index],
		.length = sizeof(values[index]),
		.rkey = 2 * index + 1,
	};
	struct dart_table table = {
		.generation = 1,
		.instance = index + 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 64,
		.page_size = 4096,
		.lease_ms = 60000,
		.entries = entries,
		.entry_count = ENTRIES,
		.memory_regions = &region,
		.memory_region_count = 1,
	};
	struct dart_table_writer *writer;
	const size_t room = 64 << 10;
	uint8_t *bytes = calloc(1, room);
	uint32_t i;
	int length;

	assert_non_null(bytes);
	snprintf(table.node_name, sizeof(table.node_name), "host%u", index);
	for (i = 0; i < ENTRIES; i++) {
		if (own && i == ENTRIES - 1)
			snprintf(names[i], sizeof(names[i]), "container/%u/%u", index, i);
		else
			snprintf(names[i], sizeof(names[i]), "source_%u", i);
		ranges[i] = (struct dart_range){
			.address = (uintptr_t)&values[index][i * FIELDS],
			.copies = 1,
			.length = FIELDS * sizeof(uint64_t),
		};
		entries[i] = (struct dart_entry){
			.name = names[i],
			.schema = schemas[i],
			.kind = DART_CONTROL_ENTRY_SOURCE,
			.lifetime = DART_CONTROL_LIFETIME_IMMOBILE,
			.copies_are = DART_CONTROL_COPIES_SUM,
			.copies = 1,
			.ranges = &ranges[i],
			.range_count = 1,
		};
	}
	writer = dart_table_writer__new(bytes, room);
	assert_non_null(writer);
	length = dart_table_writer__rewrite(writer, &table);
	assert_true(length > 0);
	dart_table_writer__free(writer);
	host->table = (struct simulated_memory){ bytes, length, 2 * index + 2 };
	host->values =
		(struct simulated_memory){ values[index], sizeof(values[index]), region.rkey };
}

static void make_hosts(uint32_t count, bool own)
{
	struct dart_schema *schemas[ENTRIES];
	uint32_t i, k;

	host_count = count;
	for (i = 0; i < ENTRIES; i++)
		schemas[i] = make_schema(i);
	for (i = 0; i < host_count; i++) {
		for (k = 0; k < VALUES; k++)
			values[i][k] = value_of(i, k);
		host__write_table(&hosts[i], i, schemas, own);
		all_hosts[i] = &hosts[i];
	}
	for (i = 0; i < ENTRIES; i++)
		dart_schema__free(schemas[i]);
	simulated_network__open(all_hosts, host_count);
}

static void free_hosts(void)
{
	for (uint32_t i = 0; i < host_count; i++)
		free((void *)hosts[i].table.bytes);
}

#endif /* CONTROLLER_HOSTS_H */
