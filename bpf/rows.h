/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of rows that come and go: which rows of an array map are free, and the
 * sequences that say whether a row is whole (see <dart/control.h>).
 */
#ifndef ROWS_H
#define ROWS_H

#include "dart_tags.h"

/* No row: all were in use. */
#define SLOT_NONE 0xffffffff

/* The entry beside a table: how full it is. */
struct slots {
	__u64 in_use DART_GAUGE DART_UNIT("rows");
	/* of what would have a row, had there been one */
	__u64 without_row DART_GAUGE;
};

static __always_inline void write_u64(__u64 *to, __u64 value)
{
	*(volatile __u64 *)to = value;
}

/*
 * The sequences of a row are odd between sequence__begin() and sequence__end();
 * nobody else may write the row meanwhile.  Stores are seen in the
 * order of the program: the agent runs on x86 only.
 *
 * A row begins to count at the time in ns, which passes faster than a row can be
 * written: no number comes back when the row has another tenant.
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

/* From now on the row is empty. */
static __always_inline void sequence__clear(__u64 *first, __u64 *last)
{
	write_u64(first, 0);
	write_u64(last, 0);
}

/*
 * A row that nobody has ever used, SLOT_NONE if there is none left.  @fresh
 * counts those that have been.
 */
static __always_inline __u32 slots__take_fresh(__u32 *fresh, __u32 capacity)
{
	__u32 slot;

	if (*(volatile __u32 *)fresh >= capacity)
		return SLOT_NONE;
	slot = __sync_fetch_and_add(fresh, 1);
	return slot < capacity ? slot : SLOT_NONE;
}

#endif /* ROWS_H */
