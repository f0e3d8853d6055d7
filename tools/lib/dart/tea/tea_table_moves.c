// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Makes room in full buckets of a lookup table.  An entry has two buckets: that of its home
 * and the next.  So a chain of moves leads in one direction: forwards, each entry from
 * its home to the next bucket, or backwards, each one to its home.
 */
#include <libdart/tea/tea_table_internal.h>

/* A chain: cell n moves to cell n + 1; the last cell is free. */
struct chain {
	struct tea_spot cells[TEA_MOVES_MAX + 1];
	uint32_t moves;
	bool is_forward;
	bool is_over;		/* no more moves are possible */
};

static bool table__find_free_in(const struct dart_tea_table *table, uint32_t bucket, uint32_t *cell)
{
	struct tea_spot spot = { bucket, 0 };

	for (; spot.cell < table->rows.layout.cells; spot.cell++) {
		if (tea_word__load(tea_rows__cell(&table->rows, &spot)))
			continue;
		*cell = spot.cell;
		return true;
	}
	return false;
}

/* Finds an entry of @bucket whose home is @home. */
static bool table__find_of_home(const struct dart_tea_table *table,
				uint32_t bucket, uint32_t home, uint32_t *cell)
{
	struct tea_spot spot = { bucket, 0 };
	struct dart_tea_place place;

	for (; spot.cell < table->rows.layout.cells; spot.cell++) {
		const uint8_t *entry = tea_rows__cell(&table->rows, &spot);

		dart_tea_hash__place(table->hash, tea_cell__key(entry), &place);
		if (place.home != home)
			continue;
		*cell = spot.cell;
		return true;
	}
	return false;
}

/*
 * Adds one move to the chain, whose last bucket is full.  Returns true if that is the
 * last one, because the next bucket has a free cell.
 */
static bool chain__extend(struct chain *chain, const struct dart_tea_table *table)
{
	const struct tea_rows *rows = &table->rows;
	struct tea_spot *last = &chain->cells[chain->moves];
	const uint32_t bucket = last->bucket;
	const uint32_t home = chain->is_forward ? bucket : tea_rows__previous(rows, bucket);

	/* No bucket comes twice: the two of the entry's home, and one for each move. */
	if (chain->moves == TEA_MOVES_MAX || chain->moves + 2 >= rows->layout.rows ||
	    !table__find_of_home(table, bucket, home, &last->cell)) {
		chain->is_over = true;
		return false;
	}
	chain->moves++;
	last++;
	last->bucket = chain->is_forward ? tea_rows__next(rows, bucket) : home;
	return table__find_free_in(table, last->bucket, &last->cell);
}

/* From its end on, so that each entry moves to a cell that is free. */
static void table__move(struct dart_tea_table *table, const struct chain *chain)
{
	uint32_t i;

	for (i = chain->moves; i; i--)
		dart_tea_rows__move(&table->rows, &chain->cells[i - 1], &chain->cells[i]);
	table->statistics.moves += chain->moves;
}

/* Both directions in turn: the first that ends has the fewest moves. */
bool dart_tea_table__make_room(struct dart_tea_table *table, uint32_t home, struct tea_spot *room)
{
	struct chain chains[2] = {
		{ .cells[0].bucket = tea_rows__next(&table->rows, home),
		  .is_forward = true },
		{ .cells[0].bucket = home },
	};
	uint32_t turn;

	for (turn = 0; !chains[0].is_over || !chains[1].is_over; turn ^= 1) {
		struct chain *chain = &chains[turn];

		if (chain->is_over || !chain__extend(chain, table))
			continue;
		table__move(table, chain);
		*room = chain->cells[0];
		return true;
	}
	return false;
}
