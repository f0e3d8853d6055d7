/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fetching the table of an agent: one READ if all goes well, more if the table
 * has grown since we asked how long it is, or is being changed meanwhile.
 */
#ifndef CONTROLLER_FETCH_H
#define CONTROLLER_FETCH_H

#include <libdart/error.h>
#include <libdart/rdma/endpoint.h>

struct fetch {
	struct dart_read read;	/* to be posted, landing at 0 */
	uint32_t length_max;	/* that the agent has promised */
	unsigned int tries;	/* since values have been read */
};

enum fetch_result {
	FETCH_DONE,		/* there is a table */
	FETCH_AGAIN,		/* post the READ again: it is a longer one */
	FETCH_LATER,		/* post it again in fetch__delay_us() */
	FETCH_REFUSED,		/* there is a sentence in @why */
};

void fetch__begin(struct fetch *fetch,
		  const struct dart_endpoint_accept *accept);

/* Values have been read by the table: it may change as often again. */
void fetch__succeeded(struct fetch *fetch);

/*
 * The READ has landed at @landing, in memory that only the endpoint writes.
 * The caller frees @table.
 */
enum fetch_result fetch__take(struct fetch *fetch, const void *landing,
			      struct dart_table **table,
			      struct dart_error *error);

/* How long after FETCH_LATER: longer from time to time. */
uint64_t fetch__delay_us(const struct fetch *fetch);

#endif /* CONTROLLER_FETCH_H */
