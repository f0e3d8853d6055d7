// SPDX-License-Identifier: GPL-2.0-only
/* Control regions: decoded, and if they are valid planned for and printed. */
#include <endian.h>
#include <stdio.h>

#include <libdart/rdma/read_plan.h>
#include <libdart/table/table_format_internal.h>
#include <libdart/table/value.h>

#include "fuzz.h"

#define LANDING_MAX (1 << 16)

static void print(const struct dart_entry *entry)
{
	size_t size = dart_entry__size(entry);
	size_t length = 0;
	char *text = NULL;
	uint8_t *copies;
	json_t *json;
	FILE *out;

	if (size > LANDING_MAX)
		return;
	copies = calloc(1, size);
	require(copies);
	memset(copies, 0x5a, size / 2);
	json = dart_entry__to_json(entry, copies);
	require(json);
	json_decref(json);
	out = open_memstream(&text, &length);
	require(out);
	dart_entry__print_json(entry, copies, out);
	require(!fclose(out) && length);
	free(text);
	free(copies);
}

static void plan(const struct dart_table *table)
{
	struct dart_read_plan *plan;
	size_t size;
	uint8_t *landing, *copies;
	uint32_t i;

	if (dart_read_plan__new(table, NULL, table->entry_count, &plan))
		return;
	size = dart_read_plan__landing_size(plan);
	landing = size <= LANDING_MAX ? calloc(1, size + 1) : NULL;
	for (i = 0; landing && i < table->entry_count; i++) {
		size = dart_entry__size(&table->entries[i]);
		copies = size <= LANDING_MAX ? malloc(size) : NULL;
		if (copies)
			dart_read_plan__gather(plan, i, landing, copies);
		free(copies);
	}
	free(landing);
	dart_read_plan__free(plan);
}

static void decode(const uint8_t *data, size_t size)
{
	struct dart_error error = {};
	struct dart_table *table;
	size_t needed = 0;
	uint32_t i;
	int ret;

	ret = dart_table__decode(data, size, &table, &needed, &error);
	if (ret) {
		require_sentence(&error);
		require(ret != -EMSGSIZE || needed > size);
		return;
	}
	plan(table);
	for (i = 0; i < table->entry_count; i++)
		print(&table->entries[i]);
	dart_table__free(table);
}

/* The same alone with entries after a generation: all that a whole table has, if it is not long. */
static void decode_added(const uint8_t *data, size_t size)
{
	struct dart_error error = {};
	struct dart_table *table;
	uint32_t i;

	if (dart_table__decode_added(data, size, size % 3, &table, &error)) {
		require_sentence(&error);
		return;
	}
	plan(table);
	for (i = 0; i < table->entry_count; i++)
		print(&table->entries[i]);
	dart_table__free(table);
}

/* Only one input in 2^64 contains a valid checksum by chance. */
static void seal(uint8_t *bytes, size_t size)
{
	struct dart_control_header *header = (void *)bytes;

	header->magic = htole64(DART_CONTROL_MAGIC);
	header->abi_version = htole32(DART_CONTROL_ABI_VERSION);
	header->header_size = htole32(sizeof(*header));
	header->table_length = htole32(size);
	header->generation_end = header->generation_begin;
	header->checksum = 0;
	header->checksum = htole64(dart_table__checksum(bytes, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = exact_copy(data, size);

	decode(bytes, size);
	if (size >= sizeof(struct dart_control_header)) {
		seal(bytes, size);
		decode(bytes, size);
		decode_added(bytes, size);
	}
	free(bytes);
	return 0;
}
