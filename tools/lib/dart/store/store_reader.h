/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queries by key a store in the memory of another host, with READs of the slots
 * that do not involve that host's CPU: see <dart/store_access.h>.
 *
 * These functions block, but at most DART_STORE_READER_TIMEOUT_MS for one
 * response of the host.  A reader is used by one thread at a time.
 */
#ifndef DART_STORE_READER_H
#define DART_STORE_READER_H

#include <libdart/error.h>

#include "store_query.h"

#define DART_STORE_READER_TIMEOUT_MS 10000

struct dart_store_reader;

/*
 * Connects to the agent of @host (name or address) at @port, as a reader of its
 * store @name.  Returns 0, or sets @error and returns -errno: -ECONNREFUSED if
 * the agent cannot be reached or has no such store, -ETIMEDOUT, -EBADMSG or
 * -EPROTONOSUPPORT if its answer is invalid.
 */
int dart_store_reader__open(const char *host, uint16_t port, const char *name,
			    struct dart_store_reader **reader, struct dart_error *error);
/* @reader may be NULL. */
void dart_store_reader__close(struct dart_store_reader *reader);

const struct dart_store_geometry *
dart_store_reader__geometry(const struct dart_store_reader *reader);
const struct dart_store_hash *dart_store_reader__hash(const struct dart_store_reader *reader);

/*
 * Queries @count consecutive keys of @length bytes each; the READs of many are
 * in flight at once.  Returns 0, or sets @error and returns -ECONNRESET if the
 * store was deleted or the agent ended, -ETIMEDOUT, -EACCES or -EIO.  After an
 * error the reader can only be closed.
 */
int dart_store_reader__query_batch(struct dart_store_reader *reader, const void *keys,
				   size_t length, size_t count, const struct dart_store_rule *rule,
				   struct dart_store_answer *answers, struct dart_error *error);

/*
 * Reads @samples slots, chosen at random by @seed, and sets @written to the number of written ones:
 * see dart_store_sizing__estimate().  Fails as dart_store_reader__query_batch() does.
 */
int dart_store_reader__sample(struct dart_store_reader *reader, uint64_t samples, uint64_t seed,
			      uint64_t *written, struct dart_error *error);

#endif /* DART_STORE_READER_H */
