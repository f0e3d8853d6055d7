/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of rows that are taken and given back: which rows of an array map are free, and the
 * sequences that tell whether a row is whole (see <dart/control.h>).
 */
#ifndef ROWS_H
#define ROWS_H

#include "dart_tags.h"

/* Instead of a row number: all rows were in use. */
#define ROW_NONE 0xffffffff

/* The fill of a table; an entry in addition to the table. */
struct row_usage {
	__u64 in_use DART_GAUGE DART_UNIT("rows");
	/* objects without a row, because none was free */
	__u64 without_row DART_GAUGE;
	/* packets or segments of further objects, which there was no memory to know */
	__u64 unknown DART_COUNTER DART_UNIT("packets");
};

/* A row that was given back, and its last sequence. */
struct free_row {
	__u32 row;
	__u32 sequence;
};

#define LINE 64

/*
 * Stores @sequence at @at: all stores before it become visible before it, and all stores after it
 * become visible later.  x86 keeps all stores in order.  Elsewhere this is an exchange: the kernel
 * gives BPF atomics that return the old value the order of a full barrier (on arm64, SWPAL, or an
 * exclusive store and DMB ISH).
 */
static __always_inline void row__set_sequence_in_order(__u32 *at, __u32 sequence)
{
#ifdef __TARGET_ARCH_x86
	barrier();
	*(volatile __u32 *)at = sequence;
	barrier();
#else
	__sync_lock_test_and_set(at, sequence);
#endif
}

/* Writes both ends of each line of a row of @size bytes but its first sequence. */
static __always_inline void row__set_other_sequences(void *row, __u32 size, __u32 sequence)
{
	__u32 line;

#pragma unroll
	for (line = 0; line < size; line += LINE) {
		if (line)
			*(volatile __u32 *)(row + line) = sequence;
		*(volatile __u32 *)(row + line + LINE - sizeof(sequence)) = sequence;
	}
}

/*
 * The sequences of a row are odd between row__begin() and row__end(), and meanwhile the row must
 * not have another writer.  Its values change after all sequences became odd, and before the first
 * of them becomes even: the first sequence of the row, in its order with all others, is the last
 * that becomes odd, and the first that becomes even.
 *
 * The sequences of an empty row continue after @last, its last sequence; 0 if it has none.  So a
 * new owner of the row does not repeat a number before 2^31 others.
 */
static __always_inline __u32 row__begin(void *row, __u32 size, __u32 last)
{
	__u32 odd = (*(volatile __u32 *)row ?: last) | 1;

	row__set_other_sequences(row, size, odd);
	row__set_sequence_in_order(row, odd);
	return odd;
}

static __always_inline void row__end(void *row, __u32 size, __u32 odd)
{
	/* 0 is the sequence of an empty row. */
	const __u32 even = odd + 1 ?: 2;

	row__set_sequence_in_order(row, even);
	row__set_other_sequences(row, size, even);
}

/* Marks the row as empty.  Returns its last sequence. */
static __always_inline __u32 row__clear(void *row, __u32 size)
{
	__u32 last = *(volatile __u32 *)row;

	row__set_other_sequences(row, size, 0);
	row__set_sequence_in_order(row, 0);
	return last;
}

/*
 * Returns a row that was never used, or ROW_NONE if none is left.  @fresh is the number of rows
 * that were used.
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
 * Takes a row that was given back; returns false if there is none.  @count is the number of rows in
 * the queue or stack @free; for an instant it may be one less.
 */
static __always_inline bool rows__take_free(void *free, __u32 *count, struct free_row *row)
{
	if (!*(volatile __u32 *)count || bpf_map_pop_elem(free, row))
		return false;
	__sync_fetch_and_add(count, -1);
	return true;
}

/* @count is as above. */
static __always_inline void rows__give_back(void *free, __u32 *count, const struct free_row *row)
{
	if (!bpf_map_push_elem(free, row, 0))
		__sync_fetch_and_add(count, 1);
}

#endif /* ROWS_H */
