// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans the READs that fetch entries, and gathers the landed bytes. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include <libdart/table/value.h>

#include "read_plan.h"

/*
 * Every READ lands on separate cache lines: the adapter then writes them
 * without reading them first.
 */
#define LANDING_ALIGNMENT 64

struct dart_read_plan {
	const struct dart_table *table;
	/* By memory region: index of its first READ; one more after the last. */
	uint32_t *first_of_region;
	struct dart_read *reads;	/* by memory region, then by address */
	uint32_t read_count;
	size_t landing_size;
};

/* Wanted bytes of a memory region, [low, high). */
struct extent {
	uint32_t memory_region;
	uint64_t low;
	uint64_t high;
};

static int compare_extents(const void *one, const void *other)
{
	const struct extent *a = one, *b = other;

	if (a->memory_region != b->memory_region)
		return a->memory_region < b->memory_region ? -1 : 1;
	return (a->low > b->low) - (a->low < b->low);
}

static size_t count_ranges(const struct dart_table *table, const uint32_t *entries, uint32_t count)
{
	size_t ranges = 0;
	uint32_t i;

	for (i = 0; i < count; i++)
		ranges += table->entries[entries ? entries[i] : i].range_count;
	return ranges;
}

/* The extents of all ranges, from the first copy to the last. */
static void extents__collect(struct extent *extents, const struct dart_table *table,
			     const uint32_t *entries, uint32_t count)
{
	uint32_t i, j;

	for (i = 0; i < count; i++) {
		const struct dart_entry *entry = &table->entries[entries ? entries[i] : i];

		for (j = 0; j < entry->range_count; j++) {
			const struct dart_range *range = &entry->ranges[j];

			*extents++ = (struct extent) {
				.memory_region = range->memory_region,
				.low = range->address,
				.high = range->address + range->length +
					(uint64_t)(range->copies - 1) * range->stride,
			};
		}
	}
}

/* Sorts the extents and joins near ones; returns how many remain. */
static size_t extents__join(struct extent *extents, size_t count)
{
	size_t joined = 0, i;

	qsort(extents, count, sizeof(*extents), compare_extents);
	for (i = 0; i < count; i++) {
		struct extent *last = joined ? &extents[joined - 1] : NULL;

		if (last && last->memory_region == extents[i].memory_region &&
		    (extents[i].low <= last->high ||
		     extents[i].low - last->high < DART_READ_GAP_MAX)) {
			if (extents[i].high > last->high)
				last->high = extents[i].high;
		} else {
			extents[joined++] = extents[i];
		}
	}
	return joined;
}

/*
 * To whole lines, as far as the memory region goes: packets of rows with sequences end
 * where lines do, see <dart/control.h>.
 */
static void extent__align(struct extent *extent, const struct dart_memory_region *region)
{
	uint64_t before = extent->low % DART_CONTROL_LINE;
	uint64_t after = -extent->high % DART_CONTROL_LINE;

	extent->low -= MIN(before, extent->low - region->address);
	extent->high += MIN(after, region->address + region->length - extent->high);
}

static int plan__add_reads(struct dart_read_plan *plan, struct extent *extents, size_t count)
{
	const struct dart_table *table = plan->table;
	uint32_t region = 0;
	uint64_t length, fetched = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		extent__align(&extents[i], &table->memory_regions[extents[i].memory_region]);
		length = extents[i].high - extents[i].low;
		if (length > DART_CONTROL_DATA_MAX - fetched)
			return -EFBIG;
		fetched += length;

		while (region <= extents[i].memory_region)
			plan->first_of_region[region++] = plan->read_count;
		plan->reads[plan->read_count++] = (struct dart_read) {
			.address = extents[i].low,
			.rkey = table->memory_regions[extents[i].memory_region].rkey,
			.length = length,
			.landing = plan->landing_size,
		};
		plan->landing_size += (length + LANDING_ALIGNMENT - 1) &
				      ~(uint64_t)(LANDING_ALIGNMENT - 1);
	}
	while (region <= table->memory_region_count)
		plan->first_of_region[region++] = plan->read_count;
	return 0;
}

int dart_read_plan__new(const struct dart_table *table, const uint32_t *entries,
			uint32_t entry_count, struct dart_read_plan **plan)
{
	uint32_t count = entries ? entry_count : table->entry_count;
	size_t extent_count = count_ranges(table, entries, count);
	struct dart_read_plan *new;
	struct extent *extents;
	int ret = -ENOMEM;

	/* calloc(0) may return NULL. */
	extents = calloc(extent_count + 1, sizeof(*extents));
	if (!extents)
		return -ENOMEM;
	extents__collect(extents, table, entries, count);
	extent_count = extents__join(extents, extent_count);

	new = calloc(1, sizeof(*new));
	if (!new)
		goto free_extents;
	new->table = table;
	new->first_of_region = calloc((size_t)table->memory_region_count + 1,
				      sizeof(*new->first_of_region));
	new->reads = calloc(extent_count + 1, sizeof(*new->reads));
	if (!new->first_of_region || !new->reads)
		goto free_plan;

	ret = plan__add_reads(new, extents, extent_count);
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
	free(plan->first_of_region);
	free(plan->reads);
	free(plan);
}

const struct dart_read *dart_read_plan__reads(const struct dart_read_plan *plan, uint32_t *count)
{
	*count = plan->read_count;
	return plan->reads;
}

size_t dart_read_plan__landing_size(const struct dart_read_plan *plan)
{
	return plan->landing_size;
}

/* The READ that fetches the range, of an entry that is planned. */
static const struct dart_read *plan__find(const struct dart_read_plan *plan,
					  const struct dart_range *range)
{
	const uint32_t *first = &plan->first_of_region[range->memory_region];
	uint32_t low = first[0], high = first[1], middle;

	/* The last READ that does not begin after it. */
	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (plan->reads[middle].address <= range->address)
			low = middle;
		else
			high = middle;
	}
	return &plan->reads[low];
}

size_t dart_read_plan__place(const struct dart_read_plan *plan, const struct dart_range *range)
{
	const struct dart_read *read = plan__find(plan, range);

	return read->landing + (range->address - read->address);
}

/* True if the copies of the first range, side by side, cover all bytes of the entry. */
static bool is_one_piece(const struct dart_entry *entry)
{
	const struct dart_range *range = entry->ranges;
	const uint32_t length = entry->schema->length;

	return entry->range_count == 1 && range->copies == entry->copies &&
	       range->length == length && (range->copies == 1 || range->stride == length);
}

void dart_read_plan__gather(const struct dart_read_plan *plan, uint32_t entry,
			    const void *landing, void *copies)
{
	const struct dart_entry *of = &plan->table->entries[entry];
	const bool is_whole = is_one_piece(of);
	uint32_t i, copy;

	if (!is_whole)
		memset(copies, 0, dart_entry__size(of));
	for (i = 0; i < of->range_count; i++) {
		const struct dart_range *range = &of->ranges[i];
		const uint8_t *from = (const uint8_t *)landing + dart_read_plan__place(plan, range);
		uint8_t *to = (uint8_t *)copies + range->offset +
			      (size_t)range->first_copy * of->schema->length;

		if (is_whole)
			memcpy(to, from, dart_entry__size(of));
		for (copy = 0; !is_whole && copy < range->copies; copy++)
			memcpy(to + (size_t)copy * of->schema->length,
			       from + copy * range->stride, range->length);
	}
}
