/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fetching the table of an agent: usually one READ, more if the table grew since the agent told its
 * length, or if the agent changes it meanwhile.
 */
#ifndef CONTROLLER_FETCH_H
#define CONTROLLER_FETCH_H

#include <stdbool.h>

#include <libdart/error.h>
#include <libdart/rdma/endpoint.h>

/*
 * An agent whose table was never whole is refused after so many tries.  Later, a table may just
 * change often, and the controller goes on trying.
 */
#define FETCH_TRIES_MAX 100

struct fetch {
	struct dart_read read; /* to post, landing at 0 */
	uint32_t length_max; /* as the agent announced it */
	unsigned int tries; /* since the last table that was whole */
	bool was_whole; /* a table of this agent */
};

enum fetch_result {
	FETCH_DONE, /* @table is set */
	FETCH_AGAIN, /* post the READ, now longer, again */
	/* post it again in fetch__delay_us(); the reason is in @error */
	FETCH_LATER,
	FETCH_REFUSED, /* for the reason in @error */
};

void fetch__begin(struct fetch *fetch, const struct dart_endpoint_accept *accept);

/*
 * Decodes the table READ to @landing, in memory that only the endpoint writes.
 * The caller frees @table.
 */
enum fetch_result fetch__take(struct fetch *fetch, const void *landing, struct dart_table **table,
			      struct dart_error *error);

/* How long to wait after FETCH_LATER; grows with each try. */
uint64_t fetch__delay_us(const struct fetch *fetch);

#endif /* CONTROLLER_FETCH_H */
