/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The READs of a batch as operations of the adapter, in order: a READ that is longer
 * than an operation may be is several of them.
 */
#ifndef DART_READ_PIECES_H
#define DART_READ_PIECES_H

#include <stdbool.h>

#include <libdart/rdma/read_plan.h>

/*
 * Packets of one operation, and of all that are on their way.  Soft-RoCE answers an operation with
 * all its packets at once.  If the queue of the responder's interface (often 1000 packets) is full,
 * it answers with an RNR NAK instead, and again for each READ that arrived after it (rxe_resp.c,
 * read_reply()).  So five controllers can READ from a host at the same time.  Adapters do not mind:
 * at an MTU of 4096, operations of this many packets fill a network of 100 Gbit/s for 60 us.
 */
#define DART_READ_PACKETS_MAX 192

/*
 * Longer READs are cut at addresses that are multiples of this, where no value straddles:
 * the two halves would be READ at different times.
 */
#define DART_READ_ALIGNMENT DART_CONTROL_LINE

struct dart_read_pieces {
	const struct dart_read *reads;	/* none is empty */
	uint32_t count;
	uint32_t next;		/* first READ that is not taken as a whole */
	uint32_t done;		/* bytes of it that are taken */
	uint32_t length_max;	/* bytes of an operation, not 0 */
};

/*
 * Takes the next piece if it fits into @room bytes; returns false if it does not fit, or if there
 * is none.
 */
bool dart_read_pieces__take(struct dart_read_pieces *pieces, uint64_t room,
			    struct dart_read *piece);
bool dart_read_pieces__have_ended(const struct dart_read_pieces *pieces);

/* How many operations the READs are. */
uint32_t dart_read_pieces__count(const struct dart_read *reads, uint32_t count,
				 uint32_t length_max);

#endif /* DART_READ_PIECES_H */
