/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests to an agent in place of the READs of a plan, and where the bytes of the answers land:
 * where the READs would have landed them.
 */
#ifndef DART_RPC_PLAN_H
#define DART_RPC_PLAN_H

#include <stdint.h>

#include <libdart/rdma/read_plan.h>
#include <libdart/table/table.h>

#include "message.h"

/* Made once for a table; then requests need no memory.  Its users do not change it. */
struct dart_rpc_plan;

/*
 * Plans for the entries of @reads, a plan of @table; both must outlive it.  The other arguments are
 * as for dart_read_plan__new().  @table was decoded.  Returns 0 or -ENOMEM.
 */
int dart_rpc_plan__new(const struct dart_table *table,
		       const struct dart_read_plan *reads,
		       const uint32_t *entries, uint32_t entry_count,
		       struct dart_rpc_plan **plan);
void dart_rpc_plan__free(struct dart_rpc_plan *plan);	/* may be NULL */

/* The bytes that a scrape lands: the bytes of @reads, then the header of the table. */
size_t dart_rpc_plan__landing_size(const struct dart_rpc_plan *plan);

/* The bytes of the answers to all requests of a scrape, and how many requests there are. */
uint64_t dart_rpc_plan__answer_size(const struct dart_rpc_plan *plan);
uint32_t dart_rpc_plan__requests(const struct dart_rpc_plan *plan);

/* The part of a plan that one request asks for, and how much of its answer has landed. */
struct dart_rpc_landing {
	const struct dart_rpc_plan *plan;
	uint8_t *memory;	/* dart_rpc_plan__landing_size() bytes of the caller */
	uint32_t first_run, runs;	/* of the plan */
	uint32_t last_entry;		/* index in the plan, after the indices of the runs */
	/* The next byte: of an entry of the plan, or of the header after it. */
	uint32_t entry, range, copy;
	uint32_t offset;
};

/* The first request of a scrape. */
void dart_rpc_landing__begin(struct dart_rpc_landing *landing,
			     const struct dart_rpc_plan *plan, void *memory);
/* When its answer is whole: is there another request?  Most plans need one request. */
bool dart_rpc_landing__advance(struct dart_rpc_landing *landing);
/* Writes the request to @bytes and returns its length. */
size_t dart_rpc_landing__put_request(const struct dart_rpc_landing *landing,
				     uint32_t id, void *bytes);
/* Lands the next bytes of the answer.  -EBADMSG: there are too many. */
int dart_rpc_landing__take(struct dart_rpc_landing *landing, const void *bytes, size_t length);
bool dart_rpc_landing__is_whole(const struct dart_rpc_landing *landing);

#endif /* DART_RPC_PLAN_H */
