/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lookups in the memory of a table that another process or host changes meanwhile: see
 * "Changes" in <dart/tea.h>.  The bytes are hostile.
 */
#ifndef DART_TEA_LOOKUP_H
#define DART_TEA_LOOKUP_H

#include <stdbool.h>

#include "tea_hash.h"

enum dart_tea_outcome {
	DART_TEA_FOUND,
	DART_TEA_CHANGING,	/* look again */
	DART_TEA_IN_STASH,	/* not in the row; it may be in the stash */
	DART_TEA_ABSENT,
};

/*
 * Looks @key up in the R bytes at @row, a copy of the row that is its home.  Writes the
 * value to @value only if it is found.  A row of another epoch is taken as one that
 * changes.
 */
enum dart_tea_outcome dart_tea_lookup__row(const struct dart_tea_hash *hash, uint32_t epoch,
					   const void *row, const void *key, void *value);
/*
 * The same in the @cells cells at @stash, a copy of the key's window in the stash: found or
 * absent.  Then the row must be read once more: only if it still has the sequence of the
 * copy that said "in the stash" does the table not have the key.
 */
enum dart_tea_outcome dart_tea_lookup__stash(const struct dart_tea_hash *hash, const void *stash,
					     size_t cells, const void *key, void *value);

/* Tries before a lookup gives up on a row that is changing. */
#define DART_TEA_LOOKUP_TRIES	1000

/*
 * Looks @key up in a server's own copy at @memory, of which this process needs only read
 * access.  Returns 0 and the value, -ENOENT, or -EAGAIN if the row was changing at
 * DART_TEA_LOOKUP_TRIES tries: its server ended during a change.
 */
int dart_tea_lookup__memory(const struct dart_tea_hash *hash, uint32_t epoch,
			    const void *memory, const void *key, void *value);

/* Where a walk over all entries is; zeros: at the beginning. */
struct dart_tea_walk {
	uint64_t row;		/* of the next cell, then cells of the stash */
	uint32_t cell;
	uint64_t torn;		/* cells that were not whole, or whose row was changing, so far */
};

/*
 * Writes the next entry of the copy at @memory, key and value one after the other, to
 * @entry.  Returns 1, or 0 at the end.  Entries that are moved during the walk may come
 * twice or not at all.
 */
int dart_tea_lookup__next(const struct dart_tea_hash *hash, const void *memory,
			  struct dart_tea_walk *walk, void *entry, bool *stashed);
/* The same, but it returns 0 before it looks at row @end as well. */
int dart_tea_lookup__next_until(const struct dart_tea_hash *hash, const void *memory, uint64_t end,
				struct dart_tea_walk *walk, void *entry, bool *stashed);

#endif /* DART_TEA_LOOKUP_H */
