/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the cache of a switch with lookup tables: adds the entries of keys that the switch reports
 * as popular, see <dart/tea_sketch.h>, and looks all cached keys up again in each period.
 *
 * So an entry that changes in the table stays in the cache for at most one period, plus the time of
 * the lookups of all cached keys, or of a push between them.  An entry whose server does not answer
 * is removed after DART_TEA_READER_TIMEOUT_MS.
 */
#ifndef SWITCH_CACHE_H
#define SWITCH_CACHE_H

#include <libdart/error.h>
#include <libdart/tea/tea_tables.h>

#include "tools/dartctl/switch/thrift/thrift.h"

struct switch_cache;

/*
 * @address: where the switch publishes digests, "tcp://HOST:PORT" or "ipc://PATH"; the caller keeps
 * the string.  @poller: an epoll descriptor, which becomes readable when digests have arrived.
 * Returns 0 or -ENOMEM, with the error set.
 */
int switch_cache__open(const char *address, int poller,
		       struct switch_cache **cache, struct dart_error *error);
/* @cache may be NULL. */
void switch_cache__close(struct switch_cache *cache);

/*
 * The functions below return 0, or -errno with a sentence in @error: -EHOSTUNREACH if a server of
 * the table does not answer.  After another failure to change the switch, switch_cache__refresh()
 * begins anew.
 *
 * Takes values from @tables from now on; the caller keeps them.
 */
int switch_cache__set_tables(struct switch_cache *cache, const struct dart_tea_tables *tables,
			     struct dart_error *error);
/* Tells the cache that the switch was restarted or pushed anew: its cached entries are unknown. */
void switch_cache__lose(struct switch_cache *cache);

/* Takes the digests that have arrived. */
int switch_cache__receive(struct switch_cache *cache, struct thrift *thrift,
			  struct dart_error *error);
/*
 * Ends a period: updates and removes cached entries that the table has changed.  The first call,
 * and the first one after switch_cache__lose(), empties the cache of the switch and begins; -EINVAL
 * if the switch runs a program for other tables.
 */
int switch_cache__refresh(struct switch_cache *cache, struct thrift *thrift,
			  struct dart_error *error);
/* Removes all entries, and stops the digests. */
int switch_cache__clear(struct switch_cache *cache, struct thrift *thrift,
			struct dart_error *error);

#endif /* SWITCH_CACHE_H */
