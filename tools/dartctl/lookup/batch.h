/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of a lookup table of dartd, many in one request: "table-change" of <dart/registration.h>.
 */
#ifndef LOOKUP_BATCH_H
#define LOOKUP_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/registration/client.h>

#include "layout.h"
#include "tools/dartctl/cli/options.h"

/* How many changes dartd made, by outcome. */
struct lookup_outcome {
	uint64_t inserted;
	uint64_t changed; /* the key existed, with another value or the same one */
	uint64_t stashed; /* of the inserted entries */
	uint64_t removed;
	uint64_t missing; /* keys to remove that did not exist */
	uint64_t foreign; /* keys in the share of another server */
	uint64_t full; /* entries that found no place */
};

struct lookup_batch {
	struct dart_registration_client client;
	const char *table;
	size_t entry_length; /* bytes */
	int fd; /* a file in memory that holds the records */
	uint8_t *records; /* the mapping of this file */
	uint32_t count; /* records that have not been sent */
	uint64_t sent; /* records of all batches before */
	struct lookup_outcome outcome; /* of the records that were sent */
};

/*
 * Connects to dartd.  @table outlives the batch.  Returns an exit status; after a failure its
 * message has been printed.
 */
int lookup_batch__open(struct lookup_batch *batch, const struct options *options,
		    const char *table, const struct lookup_layout *layout);
void lookup_batch__close(struct lookup_batch *batch);

/* The place of the next entry, which the caller writes; the batch must not be full. */
uint8_t *lookup_batch__entry(struct lookup_batch *batch);
/*
 * Adds the entry at this place, with DART_REGISTRATION_TABLE_INSERT or another operation.  Returns
 * whether the batch is full now.
 */
bool lookup_batch__add(struct lookup_batch *batch, uint8_t operation);
/*
 * Sends the added entries, if there are any, and waits until dartd has made the changes.  Returns
 * 0, or sets @error and returns -errno; then dartd has made none of them.
 */
int lookup_batch__send(struct lookup_batch *batch, struct dart_error *error);

/* The counts as an object, a new reference; NULL if out of memory. */
json_t *lookup_outcome__pack(const struct lookup_outcome *outcome);

#endif /* LOOKUP_BATCH_H */
