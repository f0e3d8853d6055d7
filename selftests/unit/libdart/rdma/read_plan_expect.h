/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read plans, executed on a remote memory in which every byte follows from its
 * address, and compared with the plainest way to compute a gathered copy.
 */
#ifndef READ_PLAN_EXPECT_H
#define READ_PLAN_EXPECT_H

#include <libdart/rdma/read_plan.h>
#include <libdart/table/value.h>

#include "selftests/unit/libdart/table/sample.h"

static inline uint8_t byte_at(uint64_t address)
{
	/* Never 0, so that a byte that was not gathered differs. */
	return 1 + (address * 0x9e3779b97f4a7c15 >> 56) % 255;
}

static inline const struct dart_memory_region *
region_of(const struct dart_table *table, const struct dart_read *read)
{
	uint32_t i;

	for (i = 0; i < table->memory_region_count; i++) {
		if (table->memory_regions[i].rkey == read->rkey)
			return &table->memory_regions[i];
	}
	fail_msg("no memory region has rkey %u", read->rkey);
	return NULL;
}

/* Plays the adapter; the landing buffer is exactly as large as needed. */
static inline uint8_t *plan__execute(const struct dart_read_plan *plan,
			      const struct dart_table *table)
{
	size_t size = dart_read_plan__landing_size(plan), end = 0;
	uint8_t *landing = calloc(1, size + !size);
	const struct dart_read *reads;
	uint32_t i, k, count;

	assert_non_null(landing);
	reads = dart_read_plan__reads(plan, &count);
	for (i = 0; i < count; i++) {
		const struct dart_read *read = &reads[i];
		const struct dart_memory_region *region = region_of(table, read);

		assert_true(read->address >= region->address);
		assert_true(read->length);
		assert_true(read->address + read->length <= region->address + region->length);
		assert_true(read->landing >= end);
		for (k = 0; k < read->length; k++)
			landing[read->landing + k] = byte_at(read->address + k);
		end = read->landing + read->length;
	}
	assert_true(end <= size);
	return landing;
}

static inline void plan__expect_entry(const struct dart_read_plan *plan,
			       const struct dart_table *table, uint32_t index,
			       const uint8_t *landing)
{
	const struct dart_entry *entry = &table->entries[index];
	size_t size = dart_entry__size(entry);
	uint8_t *copies = malloc(size), *expected = calloc(1, size);
	uint32_t i, copy, k;

	assert_true(copies && expected);
	memset(copies, 0xa5, size);
	dart_read_plan__gather(plan, index, landing, copies);

	for (i = 0; i < entry->range_count; i++) {
		const struct dart_range *range = &entry->ranges[i];

		for (copy = 0; copy < range->copies; copy++)
			for (k = 0; k < range->length; k++)
				expected[(range->first_copy + copy) * entry->schema->length +
					 range->offset + k] =
					byte_at(range->address + copy * range->stride + k);
	}
	assert_memory_equal(copies, expected, size);
	free(expected);
	free(copies);
}

/* Plans, fetches, gathers and compares; returns the number of READs. */
static inline uint32_t table__expect(const struct dart_table *table,
			      const uint32_t *entries, uint32_t entry_count)
{
	uint32_t i, reads, count = entries ? entry_count : table->entry_count;
	struct dart_read_plan *plan;
	uint8_t *landing;

	assert_int_equal(dart_read_plan__new(table, entries, entry_count, &plan), 0);
	landing = plan__execute(plan, table);
	for (i = 0; i < count; i++)
		plan__expect_entry(plan, table, entries ? entries[i] : i, landing);
	dart_read_plan__reads(plan, &reads);
	free(landing);
	dart_read_plan__free(plan);
	return reads;
}

#endif /* READ_PLAN_EXPECT_H */
