// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans the READs that fetch entries, and gathers what has landed. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/table/value.h>

#include "read_plan.h"

/*
 * Every READ lands on separate cache lines: the adapter then writes them
 * without reading them first.
 */
#define LANDING_ALIGNMENT 64

struct dart_read_plan {
	const struct dart_table *table;
	uint32_t *read_of_region;	/* index, for regions that are read */
	struct dart_read *reads;
	uint32_t read_count;
	size_t landing_size;
};

/* The wanted bytes of a memory region: [low, high), none if both are 0. */
struct extent {
	uint64_t low;
	uint64_t high;
};

static void extent__include(struct extent *extent,
			    const struct dart_range *range)
{
	uint64_t high = range->address + range->length +
			(uint64_t)(range->copies - 1) * range->stride;

	if (!extent->high || range->address < extent->low)
		extent->low = range->address;
	if (high > extent->high)
		extent->high = high;
}

static void extents__collect(struct extent *extents,
			     const struct dart_table *table,
			     const uint32_t *entries, uint32_t entry_count)
{
	uint32_t i, j, count = entries ? entry_count : table->entry_count;

	for (i = 0; i < count; i++) {
		const struct dart_entry *entry =
			&table->entries[entries ? entries[i] : i];

		for (j = 0; j < entry->range_count; j++) {
			const struct dart_range *range = &entry->ranges[j];

			extent__include(&extents[range->memory_region], range);
		}
	}
}

static int plan__add_reads(struct dart_read_plan *plan,
			   const struct extent *extents)
{
	const struct dart_table *table = plan->table;
	uint64_t fetched = 0;
	uint32_t i;

	for (i = 0; i < table->memory_region_count; i++) {
		uint64_t length = extents[i].high - extents[i].low;

		if (!length)
			continue;
		if (length > DART_CONTROL_DATA_MAX - fetched)
			return -EFBIG;
		fetched += length;

		plan->read_of_region[i] = plan->read_count;
		plan->reads[plan->read_count++] = (struct dart_read) {
			.address = extents[i].low,
			.rkey = table->memory_regions[i].rkey,
			.length = length,
			.landing = plan->landing_size,
		};
		plan->landing_size += (length + LANDING_ALIGNMENT - 1) &
				      ~(uint64_t)(LANDING_ALIGNMENT - 1);
	}
	return 0;
}

int dart_read_plan__new(const struct dart_table *table,
			const uint32_t *entries, uint32_t entry_count,
			struct dart_read_plan **plan)
{
	/* calloc(0) may return NULL. */
	size_t regions = (size_t)table->memory_region_count + 1;
	struct dart_read_plan *new;
	struct extent *extents;
	int ret = -ENOMEM;

	extents = calloc(regions, sizeof(*extents));
	if (!extents)
		return -ENOMEM;
	new = calloc(1, sizeof(*new));
	if (!new)
		goto free_extents;
	new->table = table;
	new->read_of_region = calloc(regions, sizeof(*new->read_of_region));
	new->reads = calloc(regions, sizeof(*new->reads));
	if (!new->read_of_region || !new->reads)
		goto free_plan;

	extents__collect(extents, table, entries, entry_count);
	ret = plan__add_reads(new, extents);
	if (ret)
		goto free_plan;

	*plan = new;
	free(extents);
	return 0;

free_plan:
	dart_read_plan__free(new);
free_extents:
	free(extents);
	return ret;
}

void dart_read_plan__free(struct dart_read_plan *plan)
{
	if (!plan)
		return;
	free(plan->read_of_region);
	free(plan->reads);
	free(plan);
}

const struct dart_read *dart_read_plan__reads(const struct dart_read_plan *plan,
					      uint32_t *count)
{
	*count = plan->read_count;
	return plan->reads;
}

size_t dart_read_plan__landing_size(const struct dart_read_plan *plan)
{
	return plan->landing_size;
}

void dart_read_plan__gather(const struct dart_read_plan *plan, uint32_t entry,
			    const void *landing, void *copies)
{
	const struct dart_entry *of = &plan->table->entries[entry];
	const uint32_t *read_of_region = plan->read_of_region;
	uint32_t i, copy;

	memset(copies, 0, dart_entry__size(of));
	for (i = 0; i < of->range_count; i++) {
		const struct dart_range *range = &of->ranges[i];
		const struct dart_read *read =
			&plan->reads[read_of_region[range->memory_region]];
		const uint8_t *from = (const uint8_t *)landing + read->landing +
				      (range->address - read->address);
		uint8_t *to = (uint8_t *)copies + range->offset +
			      (size_t)range->first_copy * of->schema->length;

		for (copy = 0; copy < range->copies; copy++)
			memcpy(to + (size_t)copy * of->schema->length,
			       from + copy * range->stride, range->length);
	}
}
