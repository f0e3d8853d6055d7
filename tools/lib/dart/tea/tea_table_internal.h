/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the parts of a lookup table: it inserts, it makes room, it is taken over. */
#ifndef DART_TEA_TABLE_MEMBERS_H
#define DART_TEA_TABLE_MEMBERS_H

#include <libdart/tea/tea_hash_internal.h>
#include <libdart/tea/tea_rows_internal.h>
#include <libdart/tea/tea_table.h>

/* Moves that make room for one entry, at most. */
#define TEA_MOVES_MAX	32

struct dart_tea_table {
	struct dart_tea_geometry geometry;
	struct dart_tea_hash *hash;
	uint32_t epoch;
	uint8_t *stash;			/* after the rows of the own copy */
	struct tea_rows rows;
	struct dart_tea_statistics statistics;
};

/* Without touching the memory.  Returns 0, -EINVAL or -ENOMEM. */
int dart_tea_table__make(const struct dart_tea_geometry *geometry, uint32_t epoch, void *memory,
			 struct dart_tea_table **table);

/* A cell of the stash. */
static inline uint8_t *tea_table__stashed(const struct dart_tea_table *table, uint64_t cell)
{
	return table->stash + cell * table->rows.layout.cell;
}

/*
 * tea_table_moves.c: moves entries until a cell for an entry with this home is free, or
 * moves none.  Returns false if that takes more than TEA_MOVES_MAX moves.
 */
bool dart_tea_table__make_room(struct dart_tea_table *table, uint32_t home, struct tea_spot *room);

/*
 * tea_table_stash.c: @place is that of the entry's key.  Returns the cell of the stash that
 * has @key, or UINT64_MAX.
 */
uint64_t dart_tea_table__find_stashed(const struct dart_tea_table *table,
				      const struct dart_tea_place *place, const void *key);
/* Both return 0, or -ENOSPC. */
int dart_tea_table__stash(struct dart_tea_table *table, const struct dart_tea_place *place,
			  const void *cell);
int dart_tea_table__change_stashed(struct dart_tea_table *table, const struct dart_tea_place *place,
				   uint64_t old, const void *cell);
/* Removes the entry in the cell @old. */
void dart_tea_table__unstash(struct dart_tea_table *table,
			     const struct dart_tea_place *place, uint64_t old);

#endif /* DART_TEA_TABLE_MEMBERS_H */
