// SPDX-License-Identifier: GPL-2.0-only
/* Decides after each READ of a table whether another one is needed. */
#include <errno.h>

#include <libdart/error.h>

#include "fetch.h"

/*
 * An agent needs much less than the first delay for one change.  With the last,
 * all tries together outlast the registration of thousands of entries in turn.
 */
#define DELAY_FIRST_US 1000U
#define DELAY_LAST_US 20000U

void fetch__begin(struct fetch *fetch, const struct dart_endpoint_accept *accept)
{
	*fetch = (struct fetch){
		.read.address = accept->address,
		.read.rkey = accept->rkey,
		.read.length = accept->used,
		.length_max = accept->length,
	};
}

enum fetch_result fetch__take(struct fetch *fetch, const void *landing, struct dart_table **table,
			      struct dart_error *error)
{
	struct dart_error reason;
	size_t needed;
	int err;

	err = dart_table__decode(landing, fetch->read.length, table, &needed, &reason);
	if (!err) {
		fetch->tries = 0;
		fetch->was_whole = true;
		return FETCH_DONE;
	}
	fetch->tries++;
	dart_error__set(error, 0, "table refused: %s", reason.text);
	if (err == -EAGAIN && (fetch->was_whole || fetch->tries < FETCH_TRIES_MAX))
		return FETCH_LATER;
	if (err == -EMSGSIZE && fetch->tries < FETCH_TRIES_MAX && needed > fetch->read.length &&
	    needed <= fetch->length_max) {
		fetch->read.length = needed;
		return FETCH_AGAIN;
	}
	return FETCH_REFUSED;
}

uint64_t fetch__delay_us(const struct fetch *fetch)
{
	unsigned int delay_us = fetch->tries * DELAY_FIRST_US;

	return delay_us < DELAY_LAST_US ? delay_us : DELAY_LAST_US;
}
