// SPDX-License-Identifier: LGPL-2.1-or-later
/* Plans requests for values, and puts the answers where READs would land them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/*
 * Bytes of an answer, unless one entry alone needs more.  The agent gives it the time of a lease: 9
 * Mbit/s are enough.
 */
#define ANSWER_SIZE (4 << 20)

struct dart_rpc_plan {
	const struct dart_table *table;
	const struct dart_read_plan *reads;
	uint32_t *entries;	/* indices of the table, ascending */
	uint32_t entry_count;
	struct dart_rpc_entries *runs;	/* of their places */
	uint64_t *sizes;	/* bytes of each run */
	uint32_t run_count;
};

static int compare(const void *one, const void *other)
{
	const uint32_t *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

/* Bytes of @entry in an answer. */
static uint64_t answer_size(const struct dart_entry *entry)
{
	uint64_t size = 0;
	uint32_t i;

	for (i = 0; i < entry->range_count; i++)
		size += (uint64_t)entry->ranges[i].copies * entry->ranges[i].length;
	return size;
}

/* Does the entry at @place, of @size bytes, fit into the last run? */
static bool continues(const struct dart_rpc_plan *plan, uint32_t place, uint64_t size)
{
	const uint32_t last = plan->run_count - 1;

	return plan->run_count && plan->runs[last].first + plan->runs[last].count == place &&
	       plan->sizes[last] + size <= ANSWER_SIZE;
}

/* Places ascend with indices; entries that are gone lie between some. */
static void find_runs(struct dart_rpc_plan *plan)
{
	const struct dart_entry *entry;
	uint64_t size;
	uint32_t i;

	for (i = 0; i < plan->entry_count; i++) {
		entry = &plan->table->entries[plan->entries[i]];
		size = answer_size(entry);
		if (!continues(plan, entry->place, size))
			plan->runs[plan->run_count++] =
				(struct dart_rpc_entries){ entry->place, 0 };
		plan->runs[plan->run_count - 1].count++;
		plan->sizes[plan->run_count - 1] += size;
	}
}

int dart_rpc_plan__new(const struct dart_table *table, const struct dart_read_plan *reads,
		       const uint32_t *entries, uint32_t entry_count, struct dart_rpc_plan **result)
{
	uint32_t count = entries ? entry_count : table->entry_count, i;
	struct dart_rpc_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return -ENOMEM;
	plan->table = table;
	plan->reads = reads;
	plan->entries = calloc((size_t)count + 1, sizeof(*plan->entries));
	plan->runs = calloc((size_t)count + 1, sizeof(*plan->runs));
	plan->sizes = calloc((size_t)count + 1, sizeof(*plan->sizes));
	if (!plan->entries || !plan->runs || !plan->sizes) {
		dart_rpc_plan__free(plan);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		plan->entries[i] = entries ? entries[i] : i;
	plan->entry_count = count;
	qsort(plan->entries, count, sizeof(*plan->entries), compare);
	find_runs(plan);
	*result = plan;
	return 0;
}

void dart_rpc_plan__free(struct dart_rpc_plan *plan)
{
	if (!plan)
		return;
	free(plan->entries);
	free(plan->runs);
	free(plan->sizes);
	free(plan);
}

size_t dart_rpc_plan__landing_size(const struct dart_rpc_plan *plan)
{
	return dart_read_plan__landing_size(plan->reads) + sizeof(struct dart_control_header);
}

/* How many runs belong to the request that begins with run @first. */
static uint32_t count_runs(const struct dart_rpc_plan *plan, uint32_t first)
{
	uint64_t size = 0;
	uint32_t i;

	for (i = first; i < plan->run_count && i - first < DART_RPC_RUNS_MAX; i++) {
		size += plan->sizes[i];
		if (i > first && size > ANSWER_SIZE)
			break;
	}
	return i - first;
}

uint32_t dart_rpc_plan__requests(const struct dart_rpc_plan *plan)
{
	uint32_t count = 0, first;

	for (first = 0; first < plan->run_count; first += count_runs(plan, first))
		count++;
	/* Of no entry, too, there is one: its answer is the header. */
	return count ?: 1;
}

uint64_t dart_rpc_plan__answer_size(const struct dart_rpc_plan *plan)
{
	uint64_t size = (uint64_t)dart_rpc_plan__requests(plan) *
			sizeof(struct dart_control_header);
	uint32_t i;

	for (i = 0; i < plan->run_count; i++)
		size += plan->sizes[i];
	return size;
}

/* The request from run first_run on. */
static void cut(struct dart_rpc_landing *landing)
{
	const struct dart_rpc_plan *plan = landing->plan;
	uint32_t i;

	landing->runs = count_runs(plan, landing->first_run);
	for (i = 0; i < landing->runs; i++)
		landing->last_entry += plan->runs[landing->first_run + i].count;
	landing->range = 0;
	landing->copy = 0;
	landing->offset = 0;
}

void dart_rpc_landing__begin(struct dart_rpc_landing *landing,
			     const struct dart_rpc_plan *plan, void *memory)
{
	*landing = (struct dart_rpc_landing){ .plan = plan, .memory = memory };
	cut(landing);
}

bool dart_rpc_landing__advance(struct dart_rpc_landing *landing)
{
	landing->first_run += landing->runs;
	if (landing->first_run == landing->plan->run_count)
		return false;
	cut(landing);
	return true;
}

size_t dart_rpc_landing__put_request(const struct dart_rpc_landing *landing,
				     uint32_t id, void *bytes)
{
	const struct dart_rpc_plan *plan = landing->plan;

	return dart_rpc__put_get_values(bytes, id, plan->table->instance, plan->table->generation,
					&plan->runs[landing->first_run], landing->runs);
}

/* Where the next bytes land, and how many of them side by side. */
static uint8_t *next_place(const struct dart_rpc_landing *landing, size_t *length)
{
	const struct dart_rpc_plan *plan = landing->plan;
	const struct dart_range *range;
	const struct dart_entry *entry;

	if (landing->entry == landing->last_entry) {
		*length = sizeof(struct dart_control_header) - landing->offset;
		return landing->memory + dart_read_plan__landing_size(plan->reads) +
		       landing->offset;
	}
	entry = &plan->table->entries[plan->entries[landing->entry]];
	range = &entry->ranges[landing->range];
	*length = range->length - landing->offset;
	return landing->memory + dart_read_plan__place(plan->reads, range) +
	       landing->copy * range->stride + landing->offset;
}

/* Notes that so many bytes have landed side by side. */
static void step(struct dart_rpc_landing *landing, size_t length)
{
	const struct dart_rpc_plan *plan = landing->plan;
	const struct dart_range *range;
	const struct dart_entry *entry;

	landing->offset += length;
	if (landing->entry == landing->last_entry)
		return;
	entry = &plan->table->entries[plan->entries[landing->entry]];
	range = &entry->ranges[landing->range];
	if (landing->offset < range->length)
		return;
	landing->offset = 0;
	if (++landing->copy < range->copies)
		return;
	landing->copy = 0;
	if (++landing->range < entry->range_count)
		return;
	landing->range = 0;
	landing->entry++;
}

int dart_rpc_landing__take(struct dart_rpc_landing *landing, const void *bytes, size_t length)
{
	const uint8_t *from = bytes;
	size_t side_by_side;
	uint8_t *to;

	while (length) {
		if (dart_rpc_landing__is_whole(landing))
			return -EBADMSG;
		to = next_place(landing, &side_by_side);
		if (side_by_side > length)
			side_by_side = length;
		memcpy(to, from, side_by_side);
		step(landing, side_by_side);
		from += side_by_side;
		length -= side_by_side;
	}
	return 0;
}

bool dart_rpc_landing__is_whole(const struct dart_rpc_landing *landing)
{
	return landing->entry == landing->last_entry &&
	       landing->offset == sizeof(struct dart_control_header);
}
