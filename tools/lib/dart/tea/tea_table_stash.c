// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Entries in the stash of a lookup table.  They have no second copy, so none is written over:
 * a process that is killed meanwhile would leave neither the old value nor the new one.
 */
#include <errno.h>
#include <stdatomic.h>

#include <dart/tea_access.h>
#include <libdart/tea/tea_table_internal.h>

static void table__set(struct dart_tea_table *table, uint64_t stashed, const void *cell)
{
	tea_words__store(tea_table__stashed(table, stashed), cell, table->rows.layout.cell);
	atomic_thread_fence(memory_order_release);
}

static bool table__is_free(const struct dart_tea_table *table, uint64_t stashed)
{
	return !tea_word__load(tea_table__stashed(table, stashed));
}

uint64_t dart_tea_table__find_stashed(const struct dart_tea_table *table,
				      const struct dart_tea_place *place, const void *key)
{
	const uint64_t end = place->stash + DART_TEA_STASH_WINDOW;
	uint64_t i;

	for (i = place->stash; i < end; i++)
		if (!table__is_free(table, i) &&
		    tea_key__same(tea_cell__key(tea_table__stashed(table, i)),
				  key, table->rows.layout.key_length))
			return i;
	return UINT64_MAX;
}

/* The first free one of the @count cells from @from on, or UINT64_MAX. */
static uint64_t table__find_room(const struct dart_tea_table *table, uint64_t from, uint64_t count)
{
	uint64_t i;

	for (i = from; i < from + count; i++)
		if (table__is_free(table, i))
			return i;
	return UINT64_MAX;
}

int dart_tea_table__stash(struct dart_tea_table *table,
			  const struct dart_tea_place *place, const void *cell)
{
	const uint32_t stashed = tea_rows__stashed(&table->rows, place->home);
	const uint64_t room = table__find_room(table, place->stash, DART_TEA_STASH_WINDOW);

	if (room == UINT64_MAX)
		return -ENOSPC;
	dart_tea_rows__begin_stash(&table->rows, place->home);
	table__set(table, room, cell);
	dart_tea_rows__end_stash(&table->rows, place->home, stashed + (stashed < TEA_STASHED_MAX));
	table->statistics.stashed++;
	return 0;
}

/*
 * The new value goes to another cell of the window.  If there is none, a copy of it waits
 * anywhere in the stash, where tea_table_resume.c looks for it, while the old value is
 * written over.
 */
int dart_tea_table__change_stashed(struct dart_tea_table *table, const struct dart_tea_place *place,
				   uint64_t old, const void *cell)
{
	const uint32_t stashed = tea_rows__stashed(&table->rows, place->home);
	uint64_t room, copy = UINT64_MAX;

	room = table__find_room(table, place->stash, DART_TEA_STASH_WINDOW);
	if (room == UINT64_MAX) {
		copy = table__find_room(table, 0, table->rows.layout.stash_cells);
		if (copy == UINT64_MAX)
			return -ENOSPC;
	}
	dart_tea_rows__begin_stash(&table->rows, place->home);
	if (copy == UINT64_MAX) {
		table__set(table, room, cell);
		table__set(table, old, NULL);
	} else {
		table__set(table, copy, cell);
		table__set(table, old, cell);
		table__set(table, copy, NULL);
	}
	dart_tea_rows__end_stash(&table->rows, place->home, stashed);
	return 0;
}

/* Counts the entries of a row in the whole stash: the row itself counts to 255 only. */
static uint32_t table__count(const struct dart_tea_table *table, uint32_t home)
{
	struct dart_tea_place place;
	uint32_t count = 0;
	uint64_t i;

	for (i = 0; i < table->rows.layout.stash_cells; i++) {
		if (table__is_free(table, i))
			continue;
		dart_tea_hash__place(table->hash, tea_cell__key(tea_table__stashed(table, i)),
				     &place);
		count += place.home == home;
		if (count == TEA_STASHED_MAX)
			break;
	}
	return count;
}

void dart_tea_table__unstash(struct dart_tea_table *table,
			     const struct dart_tea_place *place, uint64_t old)
{
	uint32_t stashed = tea_rows__stashed(&table->rows, place->home);

	dart_tea_rows__begin_stash(&table->rows, place->home);
	table__set(table, old, NULL);
	stashed = stashed < TEA_STASHED_MAX ? stashed - 1 : table__count(table, place->home);
	dart_tea_rows__end_stash(&table->rows, place->home, stashed);
	table->statistics.stashed--;
}
