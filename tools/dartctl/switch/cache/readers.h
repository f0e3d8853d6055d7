/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks keys up at the servers of a table, by READs of the copies for other readers: see
 * <dart/tea_access.h>.  Of two replicas, any that answers will do.
 */
#ifndef CACHE_READERS_H
#define CACHE_READERS_H

#include <libdart/error.h>
#include <libdart/tea/tea_reader.h>
#include <libdart/tea/tea_tables.h>

struct readers;

/* Returns NULL if out of memory. */
struct readers *readers__new(void);
/* @readers may be NULL. */
void readers__free(struct readers *readers);

/*
 * Looks keys up in @tables from now on; the caller keeps them.  Connections to servers that stay
 * the same stay open.  Returns 0 or -ENOMEM.
 */
int readers__set_tables(struct readers *readers, const struct dart_tea_tables *tables);

/*
 * Looks up the @count keys that lie one after the other at @keys.  The answer for a key whose
 * servers do not reply is -EHOSTUNREACH; then @error tells about the last such server, otherwise it
 * is empty.  Blocks for at most DART_TEA_READER_TIMEOUT_MS for each server that does not reply, and
 * does not ask that server again for the next five seconds.
 */
void readers__lookup(struct readers *readers, const uint8_t *keys, size_t count,
		     struct dart_tea_answer *answers, struct dart_error *error);

#endif /* CACHE_READERS_H */
