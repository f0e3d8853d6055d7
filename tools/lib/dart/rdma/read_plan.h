/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A read plan: the fewest READs that fetch a set of entries, and the places of
 * the bytes that they return.
 *
 * A plan has one READ for each memory region with a wanted byte, from the
 * lowest to the highest such byte.  An agent that exposes everything by one
 * region is scraped with one READ, an agent that exposes exact bytes with one
 * per region.
 */
#ifndef DART_READ_PLAN_H
#define DART_READ_PLAN_H

#include <libdart/table/table.h>

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
int dart_read_plan__new(const struct dart_table *table,
			const uint32_t *entries, uint32_t entry_count,
			struct dart_read_plan **plan);
void dart_read_plan__free(struct dart_read_plan *plan);

const struct dart_read *dart_read_plan__reads(const struct dart_read_plan *plan,
					      uint32_t *count);
/* The bytes that the landing buffer needs. */
size_t dart_read_plan__landing_size(const struct dart_read_plan *plan);

/*
 * Copies landed bytes into the copies of the planned entry with index @entry,
 * dart_entry__size() bytes at @copies; bytes outside all ranges are zero.
 */
void dart_read_plan__gather(const struct dart_read_plan *plan, uint32_t entry,
			    const void *landing, void *copies);

#endif /* DART_READ_PLAN_H */
