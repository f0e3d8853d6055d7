/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks keys up in a table in the memory of another host, by READs that do not involve
 * that host's CPU: see <dart/tea_access.h>.
 *
 * These functions block, but at most DART_TEA_READER_TIMEOUT_MS for one response
 * of the host.  A reader is used by one thread at a time.
 */
#ifndef DART_TEA_READER_H
#define DART_TEA_READER_H

#include <libdart/error.h>

#include "tea_lookup.h"

#define DART_TEA_READER_TIMEOUT_MS 10000

struct dart_tea_reader;

/*
 * Connects to the agent of @host (name or address) at @port, as a reader of its table
 * @name.  Returns 0, or sets @error and returns -errno: -ECONNREFUSED if the agent
 * cannot be reached or has no such table, -ETIMEDOUT, -EBADMSG or -EPROTONOSUPPORT if its
 * answer is invalid.
 */
int dart_tea_reader__open(const char *host, uint16_t port, const char *name,
			  struct dart_tea_reader **reader, struct dart_error *error);
/* @reader may be NULL. */
void dart_tea_reader__close(struct dart_tea_reader *reader);

const struct dart_tea_geometry *dart_tea_reader__geometry(const struct dart_tea_reader *reader);
const struct dart_tea_hash *dart_tea_reader__hash(const struct dart_tea_reader *reader);

/* The answer for one key of a batch. */
struct dart_tea_answer {
	int ret;		/* 0, -ENOENT, or -EAGAIN as of dart_tea_lookup__memory() */
	uint8_t value[DART_TEA_VALUE_MAX]; /* unset unless found */
};

/*
 * Looks up @key.  Returns 0 and the value, -ENOENT if the table has no entry for it,
 * -EAGAIN if its row was changing at each try, or sets @error and returns -ECONNRESET if
 * the table was deleted or the agent ended, -ETIMEDOUT, -EACCES or -EIO; after these the
 * reader can only be closed.
 */
int dart_tea__lookup(struct dart_tea_reader *reader, const void *key,
		     void *value, struct dart_error *error);
/*
 * Looks up @count keys, one after the other at @keys; the READs of many are in flight at
 * once.  Returns 0, or fails as dart_tea__lookup() does.
 */
int dart_tea__lookup_batch(struct dart_tea_reader *reader, const void *keys, size_t count,
			   struct dart_tea_answer *answers, struct dart_error *error);

#endif /* DART_TEA_READER_H */
