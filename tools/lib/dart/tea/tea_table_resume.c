// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Takes over a lookup table that another process has left, at any instant: see tea_rows_internal.h
 * and tea_table_stash.c.  The bytes may be hostile: nothing in them is a place or a length.
 *
 * Each step leaves a table that can be taken over again.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <dart/tea_access.h>
#include <libdart/tea/tea_table_internal.h>

#include "tea_table.h"

static bool cell__is_free(const struct dart_tea_table *table, const void *cell)
{
	return tea_words__are_zero(cell, table->rows.layout.cell);
}

/* Is it an entry that may be in this bucket? */
static bool cell__belongs(const struct dart_tea_table *table, uint32_t bucket, const void *cell)
{
	struct dart_tea_place place;

	if (!tea_cell__is_entry(table->hash, cell))
		return false;
	dart_tea_hash__place(table->hash, tea_cell__key(cell), &place);
	return place.home == bucket || place.home == tea_rows__previous(&table->rows, bucket);
}

/* Writes @from to the cell, with zeros where it has no entry. */
static void cell__set(const struct dart_tea_table *table, void *cell, const void *from)
{
	const struct tea_layout *layout = &table->rows.layout;
	const uint32_t entry = sizeof(uint32_t) + layout->key_length + layout->value_length;
	uint32_t whole[TEA_CELL_MAX / sizeof(uint32_t)] = { 0 };

	memcpy(whole, from, entry);
	tea_words__store(cell, whole, layout->cell);
}

/* Takes a cell that is not whole from the shadow bucket, or clears it. */
static void table__mend_cell(struct dart_tea_table *table, const struct tea_spot *spot,
			     struct dart_tea_mended *mended)
{
	const struct tea_layout *layout = &table->rows.layout;
	const uint32_t before = tea_rows__previous(&table->rows, spot->bucket);
	uint8_t *cell = tea_rows__cell(&table->rows, spot);
	const uint8_t *shadow = tea_row__cell(layout, tea_rows__row(&table->rows, before),
					      layout->cells + spot->cell);

	if (cell__is_free(table, cell))
		return;
	if (cell__belongs(table, spot->bucket, cell)) {
		cell__set(table, cell, cell);
		return;
	}
	*(tea_cell__is_entry(table->hash, cell) ? &mended->misplaced : &mended->torn) += 1;
	if (cell__belongs(table, spot->bucket, shadow))
		cell__set(table, cell, shadow);
	else
		tea_words__store(cell, NULL, layout->cell);
}

/* Clears cells of @bucket from @cell on that have the same key as @spot. */
static void table__clear_copies(struct dart_tea_table *table, const struct tea_spot *spot,
				uint32_t bucket, uint32_t cell, struct dart_tea_mended *mended)
{
	const struct tea_layout *layout = &table->rows.layout;
	const uint8_t *key = tea_cell__key(tea_rows__cell(&table->rows, spot));
	struct tea_spot other = { bucket, cell };

	for (; other.cell < layout->cells; other.cell++) {
		uint8_t *copy = tea_rows__cell(&table->rows, &other);

		if (!tea_key__same(tea_cell__key(copy), key, layout->key_length) ||
		    cell__is_free(table, copy))
			continue;
		tea_words__store(copy, NULL, layout->cell);
		mended->repeated++;
	}
}

/* Of an entry that was being moved, the copy in the bucket of its home stays. */
static void table__mend_bucket(struct dart_tea_table *table, uint32_t bucket,
			       struct dart_tea_mended *mended)
{
	const uint32_t next = tea_rows__next(&table->rows, bucket);
	struct tea_spot spot = { bucket, 0 };

	for (; spot.cell < table->rows.layout.cells; spot.cell++) {
		if (cell__is_free(table, tea_rows__cell(&table->rows, &spot)))
			continue;
		table__clear_copies(table, &spot, bucket, spot.cell + 1, mended);
		if (next != bucket)
			table__clear_copies(table, &spot, next, 0, mended);
	}
}

static uint32_t table__count_bucket(const struct dart_tea_table *table, uint32_t bucket)
{
	struct tea_spot spot = { bucket, 0 };
	uint32_t count = 0;

	for (; spot.cell < table->rows.layout.cells; spot.cell++)
		count += !cell__is_free(table, tea_rows__cell(&table->rows, &spot));
	return count;
}

static bool is_in_window(const struct dart_tea_place *place, uint64_t stashed)
{
	return stashed >= place->stash && stashed < place->stash + DART_TEA_STASH_WINDOW;
}

/* In both buckets of its home: shadow buckets are not right yet. */
static bool table__has_key(const struct dart_tea_table *table, uint32_t home, const void *key)
{
	const struct tea_layout *layout = &table->rows.layout;
	struct tea_spot spot;
	uint32_t i;

	for (i = 0; i < 2 * layout->cells; i++) {
		const uint8_t *cell;

		spot.bucket = i < layout->cells ? home : tea_rows__next(&table->rows, home);
		spot.cell = i % layout->cells;
		cell = tea_rows__cell(&table->rows, &spot);
		if (tea_key__same(tea_cell__key(cell), key, layout->key_length) &&
		    !cell__is_free(table, cell))
			return true;
	}
	return false;
}

/* Clears a cell of the stash unless it has the only entry for its key. */
static void table__mend_stashed(struct dart_tea_table *table, uint64_t stashed,
				struct dart_tea_mended *mended)
{
	uint8_t *cell = tea_table__stashed(table, stashed);
	struct dart_tea_place place;

	if (cell__is_free(table, cell))
		return;
	if (!tea_cell__is_entry(table->hash, cell)) {
		mended->torn++;
		goto clear;
	}
	cell__set(table, cell, cell);
	dart_tea_hash__place(table->hash, tea_cell__key(cell), &place);
	if (table__has_key(table, place.home, tea_cell__key(cell))) {
		mended->repeated++;
		goto clear;
	}
	/* Others are moved in the end. */
	if (!is_in_window(&place, stashed))
		return;
	if (dart_tea_table__find_stashed(table, &place, tea_cell__key(cell)) < stashed) {
		mended->repeated++;
		goto clear;
	}
	table->statistics.stashed++;
	return;

clear:
	tea_words__store(cell, NULL, table->rows.layout.cell);
}

/* The place of a stashed entry; false if there is none, or it is in another window. */
static bool table__stashed_place(const struct dart_tea_table *table, uint64_t stashed,
				 bool is_inside, struct dart_tea_place *place)
{
	const uint8_t *cell = tea_table__stashed(table, stashed);

	if (cell__is_free(table, cell))
		return false;
	dart_tea_hash__place(table->hash, tea_cell__key(cell), place);
	return is_in_window(place, stashed) == is_inside;
}

static int compare_homes(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The homes of all stashed entries, in order; the caller frees them. */
static int table__list_homes(const struct dart_tea_table *table, uint32_t **result, size_t *count)
{
	const size_t room = table->statistics.stashed;
	struct dart_tea_place place;
	uint32_t *homes;
	uint64_t i;

	homes = malloc((room + !room) * sizeof(*homes));
	if (!homes)
		return -ENOMEM;
	*count = 0;
	for (i = 0; i < table->rows.layout.stash_cells && *count < room; i++)
		if (table__stashed_place(table, i, true, &place))
			homes[(*count)++] = place.home;
	qsort(homes, *count, sizeof(*homes), compare_homes);
	*result = homes;
	return 0;
}

/* All of a row but its bucket.  Returns whether anything was wrong. */
static bool table__mend_row(struct dart_tea_table *table, uint32_t number, uint32_t stashed)
{
	const struct tea_layout *layout = &table->rows.layout;
	const uint32_t state = tea_row__state(stashed, table->epoch);
	const struct tea_spot next = { tea_rows__next(&table->rows, number), 0 };
	const uint8_t *bucket = tea_rows__cell(&table->rows, &next);
	uint8_t *row = tea_rows__row(&table->rows, number);
	uint8_t *shadow = tea_row__cell(layout, row, layout->cells);
	const size_t length = (size_t)layout->cells * layout->cell;
	uint32_t sequence = tea_word__load(row);
	bool is_wrong = false;

	if (memcmp(shadow, bucket, length)) {
		tea_words__store(shadow, bucket, length);
		is_wrong = true;
	}
	if (tea_word__load(row + sizeof(uint32_t)) != state) {
		tea_word__store(row + sizeof(uint32_t), state);
		is_wrong = true;
	}
	if (sequence % 2 || sequence != tea_word__load(row + layout->behind)) {
		sequence += 2 - sequence % 2;
		atomic_thread_fence(memory_order_release);
		tea_word__store(row + layout->behind, sequence);
		atomic_thread_fence(memory_order_release);
		tea_word__store(row, sequence);
		is_wrong = true;
	}
	return is_wrong;
}

static int table__mend_rows(struct dart_tea_table *table, const struct dart_tea_progress *progress,
			    struct dart_tea_mended *mended)
{
	size_t count, done = 0;
	uint32_t *homes;
	uint64_t row;
	int ret;

	ret = table__list_homes(table, &homes, &count);
	if (ret)
		return ret;
	for (row = 0; row < table->rows.layout.rows; row++) {
		uint32_t stashed = 0;

		for (; done < count && homes[done] == row; done++)
			stashed += stashed < TEA_STASHED_MAX;
		mended->rows += table__mend_row(table, row, stashed);
		mended->entries += table__count_bucket(table, row);
		tea_progress__made(progress, row);
	}
	free(homes);
	return 0;
}

/*
 * Moves an entry from elsewhere in the stash to a place of its own: a copy that its server
 * left, see tea_table_stash.c.
 */
static void table__replace(struct dart_tea_table *table, uint64_t stashed,
			   struct dart_tea_mended *mended)
{
	uint8_t *cell = tea_table__stashed(table, stashed);
	const uint8_t *key = tea_cell__key(cell);
	uint32_t copy[TEA_CELL_MAX / sizeof(uint32_t)];

	memcpy(copy, key, table->rows.layout.cell - sizeof(uint32_t));
	dart_tea_table__insert(table, copy, (uint8_t *)copy + table->rows.layout.key_length);
	tea_words__store(cell, NULL, table->rows.layout.cell);
	mended->misplaced++;
}

static int table__mend(struct dart_tea_table *table, const struct dart_tea_progress *progress,
		       struct dart_tea_mended *mended)
{
	const struct tea_layout *layout = &table->rows.layout;
	struct dart_tea_place place;
	struct tea_spot spot;
	uint64_t i;
	int ret;

	for (i = 0; i < layout->rows; i++) {
		for (spot = (struct tea_spot){ i, 0 }; spot.cell < layout->cells; spot.cell++)
			table__mend_cell(table, &spot, mended);
		tea_progress__made(progress, i);
	}
	for (i = 0; i < layout->rows; i++) {
		table__mend_bucket(table, i, mended);
		tea_progress__made(progress, i);
	}
	for (i = 0; i < layout->stash_cells; i++) {
		table__mend_stashed(table, i, mended);
		tea_progress__made(progress, i);
	}
	ret = table__mend_rows(table, progress, mended);
	if (ret)
		return ret;
	mended->entries += table->statistics.stashed;
	table->statistics.entries = mended->entries;
	for (i = 0; i < layout->stash_cells; i++)
		if (table__stashed_place(table, i, false, &place))
			table__replace(table, i, mended);
	mended->entries = table->statistics.entries;
	table->statistics.full = table->statistics.moves = 0;
	return 0;
}

int dart_tea_table__resume(const struct dart_tea_geometry *geometry, uint32_t epoch, void *memory,
			   const struct dart_tea_progress *progress, struct dart_tea_table **result,
			   struct dart_tea_mended *mended)
{
	struct dart_tea_table *table;
	int ret;

	ret = dart_tea_table__make(geometry, epoch, memory, &table);
	if (ret)
		return ret;
	*mended = (struct dart_tea_mended){ 0 };
	ret = table__mend(table, progress, mended);
	if (ret) {
		dart_tea_table__free(table);
		return ret;
	}
	*result = table;
	return 0;
}
