/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A read plan: the fewest READs that fetch a set of entries, and where the
 * bytes that come back belong.
 *
 * One READ per memory region that holds any wanted byte, from the lowest to
 * the highest of them: whoever exposes one region over everything is scraped
 * with one READ, whoever exposes exact bytes with one per region.
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
 * -ENOMEM, -EFBIG if more than DART_CONTROL_DATA_MAX bytes would have to be
 * fetched.
 */
int dart_read_plan__new(const struct dart_table *table,
			const uint32_t *entries, uint32_t entry_count,
			struct dart_read_plan **plan);
void dart_read_plan__free(struct dart_read_plan *plan);

const struct dart_read *dart_read_plan__reads(const struct dart_read_plan *plan,
					      uint32_t *count);
/* Bytes that the landing buffer must have. */
size_t dart_read_plan__landing_size(const struct dart_read_plan *plan);

/*
 * Copies what has landed into the copies of entry @entry (an index into the
 * table, one of those planned for), dart_entry__size() bytes at @copies; bytes
 * that no range holds are zero.
 */
void dart_read_plan__gather(const struct dart_read_plan *plan, uint32_t entry,
			    const void *landing, void *copies);

#endif /* DART_READ_PLAN_H */
