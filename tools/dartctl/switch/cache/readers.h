/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Looks keys up at the servers of a table, by READs of their own copies: see
 * <dart/tea_access.h>.  Of two replicas, one that answers.
 */
#ifndef SWITCH_LOOKUP_READERS_H
#define SWITCH_LOOKUP_READERS_H

#include <libdart/error.h>
#include <libdart/tea/tea_reader.h>
#include <libdart/tea/tea_tables.h>

struct lookup_readers;

/* Returns NULL if out of memory. */
struct lookup_readers *lookup_readers__new(void);
/* @readers may be NULL. */
void lookup_readers__free(struct lookup_readers *readers);

/*
 * From now on, of these tables, which the caller keeps.  Connections to servers that are the
 * same as before stay.  Returns 0 or -ENOMEM.
 */
int lookup_readers__set_tables(struct lookup_readers *readers,
			       const struct dart_tea_tables *tables);

/*
 * Looks up @count keys, one after the other at @keys.  Keys whose servers do not answer have
 * -EHOSTUNREACH in their answers, and @error has a sentence about the last such server; it
 * is empty if there is none.  Blocks for DART_TEA_READER_TIMEOUT_MS at most for each server
 * that does not answer, and does not ask that server again for the next five seconds.
 */
void lookup_readers__lookup(struct lookup_readers *readers, const uint8_t *keys,
			    size_t count, struct dart_tea_answer *answers,
			    struct dart_error *error);

#endif /* SWITCH_LOOKUP_READERS_H */
