/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A read plan: the fewest READs that fetch a set of entries, and the places of
 * the bytes that they return.
 *
 * A plan has one READ for the wanted bytes of a memory region that lie near each
 * other, those between them included.  It skips gaps of DART_READ_LENGTH_MAX bytes
 * or more: they take at least as many operations as they save.  So slices of many
 * processes, or all counters of an agent that exposes whole pages, are fetched with
 * few READs; an agent that exposes exact bytes is read with one per region.
 */
#ifndef DART_READ_PLAN_H
#define DART_READ_PLAN_H

#include <libdart/table/table.h>

/*
 * Bytes of one operation of the adapter; a longer READ is several of them.  Soft-RoCE
 * answers an operation with all its packets at once.  If the queue of the responder's
 * interface (often 1000 packets) is full, it answers with an RNR NAK instead, and again
 * for each READ that has arrived behind (rxe_resp.c, read_reply()).  It requests no
 * more than 128 packets ahead (RXE_MAX_UNACKED_PSNS), and one READ beyond: with 64
 * more, even at an MTU of 1024, five controllers can READ from a host at the same time.
 * Adapters do not mind: 16 READs of this length in flight fill a network of 100 Gbit/s
 * for 80 us.
 */
#define DART_READ_LENGTH_MAX 65536

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
