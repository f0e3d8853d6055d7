/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asking a store in the memory of another machine by key, with READs of the
 * slots: see <dart/store_access.h>.  The other machine's CPU has nothing to do
 * with it.
 *
 * These functions wait, but never longer than DART_STORE_READER_TIMEOUT_MS for
 * one answer of the other machine.  A reader is used by one thread at a time.
 */
#ifndef DART_STORE_READER_H
#define DART_STORE_READER_H

#include <libdart/error.h>

#include "store_query.h"

#define DART_STORE_READER_TIMEOUT_MS 10000

struct dart_store_reader;

/*
 * Connects to the agent of @host (name or address) at @port, as a reader of its
 * store @name.  Returns 0, or -errno and a sentence in @error.
 */
int dart_store_reader__open(const char *host, uint16_t port, const char *name,
			    struct dart_store_reader **reader,
			    struct dart_error *error);
/* NULL is fine. */
void dart_store_reader__close(struct dart_store_reader *reader);

const struct dart_store_geometry *
dart_store_reader__geometry(const struct dart_store_reader *reader);
const struct dart_store_hash *
dart_store_reader__hash(const struct dart_store_reader *reader);

/*
 * Asks for @count keys of @length bytes each, one behind the other; the READs
 * of many are under way at once.  Returns 0, or -errno and a sentence in @error:
 * -ECONNRESET if the store has been deleted or the agent has ended, -ETIMEDOUT,
 * -EACCES, -EIO.  Then the reader is only good to be closed.
 */
int dart_store_reader__query_batch(struct dart_store_reader *reader,
				   const void *keys, size_t length,
				   size_t count,
				   const struct dart_store_rule *rule,
				   struct dart_store_answer *answers,
				   struct dart_error *error);

#endif /* DART_STORE_READER_H */
