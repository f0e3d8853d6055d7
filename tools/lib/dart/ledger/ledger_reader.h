/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asks a ledger for the sums of keys: in memory that this process mapped, or on another host by
 * READs that do not involve that host's CPU, see <dart/ledger_access.h>.
 *
 * Functions that READ block, but at most DART_LEDGER_READER_TIMEOUT_MS for one response of the
 * host.  A reader is used by one thread at a time.
 */
#ifndef DART_LEDGER_READER_H
#define DART_LEDGER_READER_H

#include <libdart/error.h>

#include "ledger.h"

#define DART_LEDGER_READER_TIMEOUT_MS 10000

struct dart_ledger_reader;

/*
 * Reads the ledger of @geometry at @memory, which has its length, is the caller's and outlives the
 * reader; adders may change it meanwhile.  Returns 0, -EINVAL or -ENOMEM.
 */
int dart_ledger_reader__map(const struct dart_ledger_geometry *geometry, const void *memory,
			    struct dart_ledger_reader **reader);
/*
 * Connects to the agent of @host (name or address) at @port, as a reader of its ledger @name.
 * Returns 0, or sets @error and returns -errno as dart_store_reader__open() does.
 */
int dart_ledger_reader__open(const char *host, uint16_t port, const char *name,
			     struct dart_ledger_reader **reader, struct dart_error *error);
/* @reader may be NULL. */
void dart_ledger_reader__close(struct dart_ledger_reader *reader);

const struct dart_ledger_geometry *
dart_ledger_reader__geometry(const struct dart_ledger_reader *reader);

/*
 * Asks for the sums of @count consecutive keys of @length bytes each, 1 to DART_STORE_KEY_MAX; the
 * READs of many are in flight at once.  Returns 0, or sets @error and returns -ECONNRESET if the
 * ledger was deleted or the agent ended, -ETIMEDOUT, -EACCES or -EIO.  After an error the reader
 * can only be closed.
 */
int dart_ledger_reader__ask(struct dart_ledger_reader *reader, const void *keys, size_t length,
			    size_t count, struct dart_ledger_sum *sums, struct dart_error *error);

#endif /* DART_LEDGER_READER_H */
