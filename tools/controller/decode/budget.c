// SPDX-License-Identifier: GPL-2.0-only
/* Adds up the cost of an agent's scrapes, and names the entries that cost most. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/table/value.h>

#include "budget.h"
#include "sample.h"

/* One READ, its work request, and the rest of the cache line that its data ends in. */
#define READ_BYTES 128

/* Memory of an entry in addition to its values: samples, view, allocations. */
#define ENTRY_BYTES 256

/* Entries named in the sentence. */
#define LARGEST 3

struct cost {
	const struct dart_entry *entry;
	uint64_t bytes;
	uint32_t reads;
};

/* Returns the bytes of output. One byte of a text takes up to six, as in "\u001B". */
static uint64_t output_bytes(const struct dart_schema *schema, uint32_t value_bytes)
{
	uint64_t bytes = value_bytes;
	uint32_t i;

	for (i = 0; i < schema->field_count; i++) {
		bytes += (uint64_t)schema->fields[i].count * value_bytes;
		if (schema->fields[i].kind == DART_CONTROL_FIELD_TEXT)
			bytes += 6ULL * schema->fields[i].width;
	}
	return bytes;
}

/*
 * Counts two samples with sums, and the output; the landing buffer is not included. A table has at
 * most 2^19 entries, each with at most 2^28 bytes of copies, so nothing overflows.
 */
static uint64_t entry_bytes(const struct dart_entry *entry, uint32_t value_bytes)
{
	return ENTRY_BYTES + 2ULL * dart_entry__size(entry) +
	       2ULL * sizeof(uint64_t) * sample__elements(entry->schema) +
	       entry->copies * output_bytes(entry->schema, value_bytes);
}

/* Counts the READs of @entry that are not marked as @planned, and marks them. */
static uint32_t count_reads(const struct dart_entry *entry, bool *planned)
{
	uint32_t i, reads = 0;

	for (i = 0; i < entry->range_count; i++) {
		reads += !planned[entry->ranges[i].memory_region];
		planned[entry->ranges[i].memory_region] = true;
	}
	return reads;
}

/* Inserts @cost into @largest, which is sorted, and drops the smallest. */
static void insert(struct cost largest[LARGEST], struct cost cost)
{
	struct cost smaller;
	int i;

	for (i = 0; i < LARGEST; i++) {
		if (largest[i].entry && largest[i].bytes >= cost.bytes)
			continue;
		smaller = largest[i];
		largest[i] = cost;
		cost = smaller;
		if (!cost.entry)
			return;
	}
}

static int explain(const struct dart_table *table, const uint32_t *wanted, uint32_t wanted_count,
		   uint32_t value_bytes, struct dart_error *error)
{
	bool *planned = calloc((size_t)table->memory_region_count + 1, sizeof(*planned));
	struct cost largest[LARGEST] = {};
	char names[DART_ERROR_MAX] = ""; /* at most 40 bytes of each name */
	size_t length = 0;
	uint32_t i;

	if (!planned)
		return dart_error__no_memory(error);
	for (i = 0; i < wanted_count; i++) {
		const struct dart_entry *entry = &table->entries[wanted[i]];
		struct cost cost = {
			.entry = entry,
			.reads = count_reads(entry, planned),
		};

		cost.bytes = entry_bytes(entry, value_bytes) + dart_entry__size(entry) +
			     (uint64_t)cost.reads * READ_BYTES;
		insert(largest, cost);
	}
	free(planned);
	for (i = 0; i < LARGEST && largest[i].entry; i++)
		length += snprintf(names + length, sizeof(names) - length,
				   "%s'%.40s' (%u READs, %zu bytes)", i ? ", " : "",
				   largest[i].entry->name, largest[i].reads,
				   dart_entry__size(largest[i].entry));
	return dart_error__set(
		error, EFBIG,
		"a scrape of %u entries takes more than the %llu MiB for each agent, most for %s: choose others with --entries",
		wanted_count, BUDGET_BYTES >> 20, names);
}

int budget__check(const struct dart_table *table, const uint32_t *wanted, uint32_t wanted_count,
		  const struct dart_read_plan *plan, uint32_t value_bytes, struct dart_error *error)
{
	uint64_t bytes = 0;
	uint32_t i, reads;

	for (i = 0; i < wanted_count; i++)
		bytes += entry_bytes(&table->entries[wanted[i]], value_bytes);
	if (plan) {
		dart_read_plan__reads(plan, &reads);
		bytes += BUDGET_LANDINGS * dart_read_plan__landing_size(plan) +
			 (uint64_t)reads * READ_BYTES;
	}
	if (plan && bytes <= BUDGET_BYTES)
		return 0;
	return explain(table, wanted, wanted_count, value_bytes, error);
}
