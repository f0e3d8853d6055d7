// SPDX-License-Identifier: LGPL-2.1-or-later
/* Keeps a lookup table: see tea_table.h. */
#include <errno.h>
#include <stdlib.h>

#include <libdart/tea/tea_table_internal.h>

#include "tea_table.h"

#define LINE	64	/* bytes of a cache line */

int dart_tea_table__make(const struct dart_tea_geometry *geometry, uint32_t epoch, void *memory,
			 struct dart_tea_table **result)
{
	struct dart_tea_table *table;
	int ret;

	if (dart_tea_geometry__check(geometry) || !epoch ||
	    epoch > DART_TEA_EPOCH_MAX || (uintptr_t)memory % 8)
		return -EINVAL;
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	ret = dart_tea_hash__new(geometry, &table->hash);
	if (ret) {
		free(table);
		return ret;
	}
	table->geometry = *geometry;
	table->epoch = epoch;
	table->rows.layout = table->hash->layout;
	table->rows.view_stride = 1U << dart_tea_geometry__row_log2(geometry);
	table->rows.own = (struct tea_copy){ memory, table->rows.layout.stride };
	table->stash = (uint8_t *)memory + table->rows.layout.stash;
	table->statistics.cells = table->rows.layout.rows * geometry->cells;
	*result = table;
	return 0;
}

int dart_tea_table__new(const struct dart_tea_geometry *geometry, uint32_t epoch, void *memory,
			struct dart_tea_table **result)
{
	struct dart_tea_table *table;
	uint64_t row;
	int ret;

	ret = dart_tea_table__make(geometry, epoch, memory, &table);
	if (ret)
		return ret;
	for (row = 0; row < table->rows.layout.rows; row++)
		tea_word__store(tea_rows__row(&table->rows, row) + sizeof(uint32_t),
				tea_row__state(0, epoch));
	*result = table;
	return 0;
}

void dart_tea_table__free(struct dart_tea_table *table)
{
	if (!table)
		return;
	dart_tea_hash__free(table->hash);
	free(table->rows.views);
	free(table);
}

const struct dart_tea_geometry *dart_tea_table__geometry(const struct dart_tea_table *table)
{
	return &table->geometry;
}

const struct dart_tea_hash *dart_tea_table__hash(const struct dart_tea_table *table)
{
	return table->hash;
}

uint32_t dart_tea_table__epoch(const struct dart_tea_table *table)
{
	return table->epoch;
}

int dart_tea_table__attach(struct dart_tea_table *table, void *view,
			   const struct dart_tea_progress *progress)
{
	return dart_tea_rows__attach(&table->rows, view, progress);
}

void dart_tea_table__detach(struct dart_tea_table *table, void *view)
{
	dart_tea_rows__detach(&table->rows, view);
}

void dart_tea_table__statistics(const struct dart_tea_table *table,
				struct dart_tea_statistics *statistics)
{
	*statistics = table->statistics;
}

/* The cell of a row, bucket and shadow bucket, as one of a bucket. */
static struct tea_spot table__spot(const struct dart_tea_table *table, uint32_t row, uint32_t cell)
{
	const uint32_t cells = table->rows.layout.cells;

	if (cell < cells)
		return (struct tea_spot){ row, cell };
	return (struct tea_spot){ tea_rows__next(&table->rows, row), cell - cells };
}

/* Finds @key in the two buckets of its home.  Returns false if it is not there. */
static bool dart_tea_table__find(const struct dart_tea_table *table, uint32_t home, const void *key,
				 struct tea_spot *spot)
{
	const struct tea_layout *layout = &table->rows.layout;
	const uint8_t *cell = tea_row__cell(layout, tea_rows__row(&table->rows, home), 0);
	uint32_t i;

	for (i = 0; i < 2 * layout->cells; i++, cell += layout->cell) {
		/* A key of zeros is not found in cells that are free. */
		if (!tea_key__same(tea_cell__key(cell), key, layout->key_length) ||
		    !tea_word__load(cell))
			continue;
		*spot = table__spot(table, home, i);
		return true;
	}
	return false;
}

/* Finds a free cell in the two buckets. */
static bool table__find_free(const struct dart_tea_table *table, uint32_t home,
			     struct tea_spot *spot)
{
	const struct tea_layout *layout = &table->rows.layout;
	const uint8_t *cell = tea_row__cell(layout, tea_rows__row(&table->rows, home), 0);
	uint32_t i;

	for (i = 0; i < 2 * layout->cells; i++, cell += layout->cell) {
		if (tea_word__load(cell))
			continue;
		*spot = table__spot(table, home, i);
		return true;
	}
	return false;
}

/* All lines of a row are needed, and few processors foresee more than the next. */
static inline __attribute__((always_inline)) void
table__prefetch(const struct dart_tea_table *table, uint32_t home)
{
	const uint8_t *row = tea_rows__row(&table->rows, home);
	uint32_t offset;

	for (offset = 0; offset < table->rows.layout.row; offset += LINE)
		__builtin_prefetch(row + offset, 1);
}

/* Makes the cell of an entry; @cell has room for the largest. */
static void table__fill(const struct dart_tea_table *table, const void *key,
			const void *value, uint32_t *cell)
{
	const struct tea_layout *layout = &table->rows.layout;
	uint8_t *entry = (uint8_t *)(cell + 1);

	cell[layout->cell / sizeof(*cell) - 1] = 0;
	memcpy(entry, key, layout->key_length);
	memcpy(entry + layout->key_length, value, layout->value_length);
	cell[0] = htobe32(dart_tea_hash__check(table->hash, entry));
}

/* Changes the entry that the key has already.  Returns -ENOENT if it has none. */
static int table__change(struct dart_tea_table *table, const struct dart_tea_place *place,
			 const void *key, const void *cell)
{
	struct tea_spot spot;
	uint64_t old;
	int ret;

	if (dart_tea_table__find(table, place->home, key, &spot)) {
		dart_tea_rows__write(&table->rows, &spot, cell);
		return DART_TEA_CHANGED;
	}
	if (!tea_rows__stashed(&table->rows, place->home))
		return -ENOENT;
	old = dart_tea_table__find_stashed(table, place, key);
	if (old == UINT64_MAX)
		return -ENOENT;
	ret = dart_tea_table__change_stashed(table, place, old, cell);
	return ret ?: DART_TEA_CHANGED;
}

/* Inserts an entry that is not there yet. */
static int table__add(struct dart_tea_table *table,
		      const struct dart_tea_place *place, const void *cell)
{
	struct tea_spot spot;
	int ret;

	if (table__find_free(table, place->home, &spot) ||
	    dart_tea_table__make_room(table, place->home, &spot)) {
		dart_tea_rows__write(&table->rows, &spot, cell);
		table->statistics.entries++;
		return DART_TEA_INSERTED;
	}
	ret = dart_tea_table__stash(table, place, cell);
	if (ret)
		return ret;
	table->statistics.entries++;
	return DART_TEA_STASHED;
}

int dart_tea_table__insert(struct dart_tea_table *table, const void *key, const void *value)
{
	uint32_t cell[TEA_CELL_MAX / sizeof(uint32_t)];
	struct dart_tea_place place;
	int ret;

	dart_tea_hash__place(table->hash, key, &place);
	table__prefetch(table, place.home);
	table__fill(table, key, value, cell);
	ret = table__change(table, &place, key, cell);
	if (ret == -ENOENT)
		ret = table__add(table, &place, cell);
	if (ret == -ENOSPC)
		table->statistics.full++;
	return ret;
}

int dart_tea_table__remove(struct dart_tea_table *table, const void *key)
{
	struct dart_tea_place place;
	struct tea_spot spot;
	uint64_t old;

	dart_tea_hash__place(table->hash, key, &place);
	if (dart_tea_table__find(table, place.home, key, &spot)) {
		dart_tea_rows__write(&table->rows, &spot, NULL);
	} else {
		if (!tea_rows__stashed(&table->rows, place.home))
			return -ENOENT;
		old = dart_tea_table__find_stashed(table, &place, key);
		if (old == UINT64_MAX)
			return -ENOENT;
		dart_tea_table__unstash(table, &place, old);
	}
	table->statistics.entries--;
	return 0;
}

int dart_tea_table__lookup(const struct dart_tea_table *table, const void *key, void *value)
{
	const uint32_t key_length = table->rows.layout.key_length;
	struct dart_tea_place place;
	struct tea_spot spot;
	const uint8_t *cell;
	uint64_t stashed;

	dart_tea_hash__place(table->hash, key, &place);
	if (dart_tea_table__find(table, place.home, key, &spot)) {
		cell = tea_rows__cell(&table->rows, &spot);
	} else {
		if (!tea_rows__stashed(&table->rows, place.home))
			return -ENOENT;
		stashed = dart_tea_table__find_stashed(table, &place, key);
		if (stashed == UINT64_MAX)
			return -ENOENT;
		cell = tea_table__stashed(table, stashed);
	}
	memcpy(value, tea_cell__key(cell) + key_length, table->rows.layout.value_length);
	return 0;
}
