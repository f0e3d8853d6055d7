/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A read plan: the fewest READs that fetch a set of entries, and the places of the bytes that they
 * return.
 *
 * A plan makes one READ of the wanted bytes of a memory region that lie near each other, with the
 * bytes between them.  It skips gaps of DART_READ_GAP_MAX bytes or more, and begins and ends at
 * lines of DART_CONTROL_LINE bytes where the memory region allows.  So slices of many processes,
 * all gathered records, or all counters of an agent that exposes whole pages, are fetched with few
 * READs; an agent that exposes exact bytes is read with one per region.
 */
#ifndef DART_READ_PLAN_H
#define DART_READ_PLAN_H

#include <libdart/table/table.h>

/* Another READ costs less than so many bytes that no entry needs. */
#define DART_READ_GAP_MAX 65536

struct dart_read {
	uint64_t address;	/* remote */
	uint32_t rkey;
	uint32_t length;	/* bytes */
	size_t landing;		/* bytes from the start of the landing buffer */
};

struct dart_read_plan;

/*
 * Plans for @entry_count entries of @table (indices in @entries, without
 * repetition; NULL for all).  The table must outlive the plan.  Returns 0,
 * -ENOMEM, or -EFBIG if the READs would exceed DART_CONTROL_DATA_MAX bytes.
 */
int dart_read_plan__new(const struct dart_table *table, const uint32_t *entries,
			uint32_t entry_count, struct dart_read_plan **plan);
void dart_read_plan__free(struct dart_read_plan *plan);

const struct dart_read *dart_read_plan__reads(const struct dart_read_plan *plan, uint32_t *count);
/* The bytes that the landing buffer needs. */
size_t dart_read_plan__landing_size(const struct dart_read_plan *plan);

/* Where the first byte of a range of a planned entry lands. */
size_t dart_read_plan__place(const struct dart_read_plan *plan, const struct dart_range *range);

/*
 * Copies landed bytes into the copies of the planned entry with index @entry,
 * dart_entry__size() bytes at @copies; bytes outside all ranges are zero.
 */
void dart_read_plan__gather(const struct dart_read_plan *plan, uint32_t entry,
			    const void *landing, void *copies);

#endif /* DART_READ_PLAN_H */
