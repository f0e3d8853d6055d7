/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads one list of a journal, of all appenders: in memory that this process mapped, or on another
 * host by READs that do not involve that host's CPU, see <dart/journal_access.h>.
 *
 * Functions that READ block, but at most DART_JOURNAL_READER_TIMEOUT_MS for one response of the
 * host.  A reader is used by one thread at a time.
 */
#ifndef DART_JOURNAL_READER_H
#define DART_JOURNAL_READER_H

#include <libdart/error.h>

#include "journal_cursor.h"

#define DART_JOURNAL_READER_TIMEOUT_MS 10000

struct dart_journal_reader;

/*
 * Reads the journal of @geometry at @memory, which has its length, is the caller's and outlives the
 * reader; WRITEs may change it meanwhile.  Returns 0, -EINVAL or -ENOMEM.
 */
int dart_journal_reader__map(const struct dart_journal_geometry *geometry, const void *memory,
			     struct dart_journal_reader **reader);
/*
 * Connects to the agent of @host (name or address) at @port, as a reader of its journal @name.
 * Returns 0, or sets @error and returns -errno as dart_store_reader__open() does.
 */
int dart_journal_reader__open(const char *host, uint16_t port, const char *name,
			      struct dart_journal_reader **reader, struct dart_error *error);
/* @reader may be NULL. */
void dart_journal_reader__close(struct dart_journal_reader *reader);

const struct dart_journal_geometry *
dart_journal_reader__geometry(const struct dart_journal_reader *reader);

/*
 * Looks at all batches of @list, which exists, and begins with the oldest of each appender; or, if
 * @is_new_only, after the newest one.  Returns 0, or sets @error and returns -ECONNRESET if the
 * journal was deleted or the agent ended, -ETIMEDOUT, -EACCES or -EIO.  After an error the reader
 * can only be closed.
 */
int dart_journal_reader__begin(struct dart_journal_reader *reader, uint32_t list, bool is_new_only,
			       struct dart_error *error);
/*
 * Looks at the next batches of all appenders once, and calls @handler for each event.  Returns 1
 * if another call may find more at once, 0 if there was nothing new, or -errno as above.  The first
 * call after one that returned 0 looks farther for new batches.
 */
int dart_journal_reader__poll(struct dart_journal_reader *reader, dart_journal_handler handler,
			      void *context, struct dart_error *error);
/* Calls @handler for all events up to the newest batches that dart_journal_reader__begin() found. */
int dart_journal_reader__drain(struct dart_journal_reader *reader, dart_journal_handler handler,
			       void *context, struct dart_error *error);

#endif /* DART_JOURNAL_READER_H */
