/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of rows that are taken and given back: which rows of an array map are
 * free, and the sequences that say whether a row is whole (see <dart/control.h>).
 */
#ifndef ROWS_H
#define ROWS_H

#include "dart_tags.h"

/* No row: all were in use. */
#define ROW_NONE 0xffffffff

/* The fill of a table, an entry beside it. */
struct row_usage {
	__u64 in_use DART_GAUGE DART_UNIT("rows");
	/* objects that have no row because none was free */
	__u64 without_row DART_GAUGE;
};

static __always_inline void write_u64(__u64 *to, __u64 value)
{
	*(volatile __u64 *)to = value;
}

/*
 * The sequences of a row are odd between sequence__begin() and sequence__end();
 * the row must not have another writer then.  Stores are seen in program order,
 * because the agent runs on x86 only.
 *
 * The sequence of an empty row starts at the time in ns, which grows faster than
 * a row can be written: no number is used again when the row has a new owner.
 */
static __always_inline __u64 sequence__begin(__u64 *first, __u64 *last)
{
	__u64 odd = (*first ?: bpf_ktime_get_ns()) | 1;

	write_u64(first, odd);
	write_u64(last, odd);
	barrier();
	return odd;
}

static __always_inline void sequence__end(__u64 *first, __u64 *last, __u64 odd)
{
	barrier();
	write_u64(first, odd + 1);
	write_u64(last, odd + 1);
}

/* Marks the row as empty. */
static __always_inline void sequence__clear(__u64 *first, __u64 *last)
{
	write_u64(first, 0);
	write_u64(last, 0);
}

/*
 * Returns a row that was never used, ROW_NONE if none is left.  @fresh counts
 * the rows that were.
 */
static __always_inline __u32 rows__take_fresh(__u32 *fresh, __u32 capacity)
{
	__u32 row;

	if (*(volatile __u32 *)fresh >= capacity)
		return ROW_NONE;
	row = __sync_fetch_and_add(fresh, 1);
	return row < capacity ? row : ROW_NONE;
}

/*
 * Returns a row that was given back, ROW_NONE if there is none.  @count is the
 * number of rows in the queue or stack @free, possibly for an instant one less.
 */
static __always_inline __u32 rows__take_free(void *free, __u32 *count)
{
	__u32 row;

	if (!*(volatile __u32 *)count || bpf_map_pop_elem(free, &row))
		return ROW_NONE;
	__sync_fetch_and_add(count, -1);
	return row;
}

#endif /* ROWS_H */
