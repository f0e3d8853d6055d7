/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the cache of a switch with lookup tables: adds the entries of keys that it reports as
 * popular, see <dart/tea_sketch.h>, and looks all cached keys up again in each period.
 *
 * So a cached entry that the table has changed stays for one period at most, and for as long
 * as the lookups of all cached keys, or a push between them, take.  An entry whose server
 * does not answer is removed after DART_TEA_READER_TIMEOUT_MS.
 */
#ifndef SWITCH_CACHE_H
#define SWITCH_CACHE_H

#include <stdint.h>

#include <libdart/error.h>
#include <libdart/tea/tea_tables.h>

#include "tools/dartctl/switch/thrift/thrift.h"

struct switch_cache;

/*
 * @address: of the digests of the switch, "tcp://HOST:PORT" or "ipc://PATH", which the caller
 * keeps.  @poller: an epoll descriptor, which becomes readable when digests have arrived.
 * Returns 0 or -ENOMEM, with the error set.
 */
int switch_cache__open(const char *address, int poller,
		       struct switch_cache **cache, struct dart_error *error);
/* @cache may be NULL. */
void switch_cache__close(struct switch_cache *cache);

/*
 * The functions that follow return 0, or -errno with a sentence in @error: -EHOSTUNREACH if
 * a server of the table does not answer.  After another failure of one that changes the
 * switch, switch_cache__refresh() begins anew.
 *
 * The values are those of these tables, which the caller keeps.
 */
int switch_cache__set_tables(struct switch_cache *cache, const struct dart_tea_tables *tables,
			     struct dart_error *error);
/* The switch began anew: it has no cached entry, or has unknown ones. */
void switch_cache__lose(struct switch_cache *cache);

/* Takes the digests that have arrived. */
int switch_cache__receive(struct switch_cache *cache, struct thrift *thrift,
			  struct dart_error *error);
/*
 * Ends a period: changes and removes what the table has changed.  At first, and after
 * switch_cache__lose(), empties the cache of the switch and begins; -EINVAL if the switch
 * runs a program for other tables.
 */
int switch_cache__refresh(struct switch_cache *cache, struct thrift *thrift,
			  struct dart_error *error);
/* Removes all entries, and stops the digests. */
int switch_cache__clear(struct switch_cache *cache, struct thrift *thrift,
			struct dart_error *error);

#endif /* SWITCH_CACHE_H */
