/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of a table of dartd, many in one request: "table-change" of <dart/registration.h>. */
#ifndef LOOKUP_BATCH_H
#define LOOKUP_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <libdart/registration/client.h>

#include "layout.h"
#include "tools/dartctl/cli/options.h"

/* The changes that dartd has made. */
struct lookup_outcome {
	uint64_t inserted;
	uint64_t changed; /* had another value, or the same */
	uint64_t stashed; /* of the inserted */
	uint64_t removed;
	uint64_t missing; /* were to be removed */
	uint64_t foreign; /* of the share of another server */
	uint64_t full; /* found no place */
};

struct lookup_batch {
	struct dart_registration_client client;
	const char *table;
	size_t entry_length; /* bytes */
	int fd; /* of the records, in memory */
	uint8_t *records; /* the same, mapped */
	uint32_t count; /* of those that have not been sent */
	uint64_t sent; /* all batches before */
	struct lookup_outcome outcome; /* of these */
};

/*
 * Connects to dartd.  @table outlives the batch.  Returns an exit status; after a failure its
 * message has been printed.
 */
int lookup_batch__open(struct lookup_batch *batch, const struct options *options,
		    const char *table, const struct lookup_layout *layout);
void lookup_batch__close(struct lookup_batch *batch);

/* Where the next entry is to be written; the batch is not full. */
uint8_t *lookup_batch__entry(struct lookup_batch *batch);
/*
 * Adds the entry that is there, with DART_REGISTRATION_TABLE_INSERT or another operation.
 * Returns whether the batch is full now.
 */
bool lookup_batch__add(struct lookup_batch *batch, uint8_t operation);
/*
 * Sends what was added, if anything, and waits until dartd has done it.  Returns 0, or sets
 * @error and returns -errno; then dartd has done nothing of it.
 */
int lookup_batch__send(struct lookup_batch *batch, struct dart_error *error);

/* The counts as an object, a new reference; NULL if out of memory. */
json_t *lookup_outcome__pack(const struct lookup_outcome *outcome);

#endif /* LOOKUP_BATCH_H */
