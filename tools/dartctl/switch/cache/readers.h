/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks keys up at the servers of a table, by READs of their own copies: see
 * <dart/tea_access.h>.  Of two replicas, one that answers.
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
 * From now on, of these tables, which the caller keeps.  Connections to servers that are the
 * same as before stay.  Returns 0 or -ENOMEM.
 */
int readers__set_tables(struct readers *readers, const struct dart_tea_tables *tables);

/*
 * Looks up @count keys, one after the other at @keys.  Keys whose servers do not answer have
 * -EHOSTUNREACH in their answers, and @error has a sentence about the last such server; it
 * is empty if there is none.  Blocks for DART_TEA_READER_TIMEOUT_MS at most for each server
 * that does not answer, and does not ask that server again for the next five seconds.
 */
void readers__lookup(struct readers *readers, const uint8_t *keys, size_t count,
		     struct dart_tea_answer *answers, struct dart_error *error);

#endif /* CACHE_READERS_H */
