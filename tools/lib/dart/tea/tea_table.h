/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lookup table in local memory, as its server keeps it: see <dart/tea.h> and
 * <dart/tea_access.h>.  One thread changes it; others, other processes and remote hosts may
 * look up at the same time, see tea_lookup.h.
 */
#ifndef DART_TEA_TABLE_H
#define DART_TEA_TABLE_H

#include <stdbool.h>

#include "tea_hash.h"
#include "tea_progress.h"

struct dart_tea_table;

/*
 * Creates an empty table in the dart_tea_geometry__length() bytes at @memory, which are
 * 0, are aligned to 8, belong to the caller and outlive the table.  @epoch: 1 to
 * DART_TEA_EPOCH_MAX.  Returns 0, -EINVAL or -ENOMEM.
 */
int dart_tea_table__new(const struct dart_tea_geometry *geometry, uint32_t epoch, void *memory,
			struct dart_tea_table **table);

/* Counts of flaws that were found, and mended, in a table that was taken over. */
struct dart_tea_mended {
	uint64_t entries;	/* that it has */
	uint64_t repeated;	/* copies of entries that were being moved */
	uint64_t torn;		/* cells that were written halfway */
	uint64_t misplaced;	/* cells with an entry that does not belong there */
	uint64_t rows;		/* that were being changed, or had another shadow, count or epoch */
};

/*
 * As dart_tea_table__new(), but with the entries that @memory has, which a process wrote
 * that may have ended at any instant: each entry whose insertion had been completed is
 * there.  The bytes may be hostile.  @progress may be NULL.
 */
int dart_tea_table__resume(const struct dart_tea_geometry *geometry, uint32_t epoch, void *memory,
			   const struct dart_tea_progress *progress, struct dart_tea_table **table,
			   struct dart_tea_mended *mended);
/* @table may be NULL. */
void dart_tea_table__free(struct dart_tea_table *table);

const struct dart_tea_geometry *dart_tea_table__geometry(const struct dart_tea_table *table);
const struct dart_tea_hash *dart_tea_table__hash(const struct dart_tea_table *table);
uint32_t dart_tea_table__epoch(const struct dart_tea_table *table);

/*
 * Copies all rows to the dart_tea_geometry__view_length() bytes at @view, rows for a switch
 * without touching their scratchpads, and repeats each change there until it is
 * detached.  @progress may be NULL.  Returns 0 or -ENOMEM.
 */
int dart_tea_table__attach(struct dart_tea_table *table, void *view,
			   const struct dart_tea_progress *progress);
void dart_tea_table__detach(struct dart_tea_table *table, void *view);

enum dart_tea_inserted {
	DART_TEA_INSERTED,
	DART_TEA_CHANGED,	/* the key had another value, or this one */
	DART_TEA_STASHED,	/* inserted, but into the stash */
};

/*
 * Gives @key the value @value.  Returns one of the above, or -ENOSPC if there is no place in
 * the rows, nor in the window of the stash.  An entry in a stash without any free cell keeps
 * its value: that is -ENOSPC, too, since its only copy is not written over.
 */
int dart_tea_table__insert(struct dart_tea_table *table, const void *key, const void *value);
/* Returns 0, or -ENOENT if it has no entry for @key. */
int dart_tea_table__remove(struct dart_tea_table *table, const void *key);
/* Returns 0 and the value, or -ENOENT. */
int dart_tea_table__lookup(const struct dart_tea_table *table, const void *key, void *value);

struct dart_tea_statistics {
	uint64_t entries;	/* in rows and in the stash */
	uint64_t stashed;	/* of these, in the stash */
	uint64_t cells;		/* of all buckets */
	uint64_t moves;		/* of entries, since the table is here */
	uint64_t full;		/* insertions that found no place */
};

void dart_tea_table__statistics(const struct dart_tea_table *table,
				struct dart_tea_statistics *statistics);

#endif /* DART_TEA_TABLE_H */
