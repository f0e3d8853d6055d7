// SPDX-License-Identifier: LGPL-2.1-or-later
/* Walks over all entries of a lookup table: see tea_lookup.h. */
#include <stdatomic.h>

#include <libdart/tea/tea_hash_internal.h>

#include "tea_lookup.h"

enum state { FREE, ENTRY, TORN };

/* Judges @copy, a copy of the cell at @cell. */
static enum state copy_cell(const struct dart_tea_hash *hash, const uint8_t *cell, uint32_t *copy)
{
	tea_words__load(copy, cell, hash->layout.cell);
	if (tea_words__are_zero(copy, hash->layout.cell))
		return FREE;
	return tea_cell__is_entry(hash, copy) ? ENTRY : TORN;
}

/* The same of a cell of a bucket, which is not free if the row is changing. */
static enum state copy_cell_of(const struct dart_tea_hash *hash, const uint8_t *row, uint32_t cell,
			       uint32_t *copy)
{
	const uint32_t sequence = tea_word__load(row);
	enum state state;

	atomic_thread_fence(memory_order_acquire);
	state = copy_cell(hash, tea_row__cell(&hash->layout, row, cell), copy);
	atomic_thread_fence(memory_order_acquire);
	if (state != FREE)
		return state;
	return sequence % 2 || tea_word__load(row + hash->layout.behind) != sequence ? TORN : FREE;
}

/* Until it is whole, as long as a lookup would. */
static enum state copy_next(const struct dart_tea_hash *hash, const uint8_t *memory,
			    const struct dart_tea_walk *walk, uint32_t *copy)
{
	const struct tea_layout *layout = &hash->layout;
	enum state state = TORN;
	uint32_t tries;

	for (tries = 0; state == TORN && tries < DART_TEA_LOOKUP_TRIES; tries++)
		state = walk->row < layout->rows ?
				copy_cell_of(hash, memory + walk->row * layout->stride, walk->cell,
					     copy) :
				copy_cell(hash,
					  memory + layout->stash +
						  (walk->row - layout->rows) * layout->cell,
					  copy);
	return state;
}

static void walk__advance(struct dart_tea_walk *walk, const struct tea_layout *layout)
{
	if (walk->row < layout->rows && ++walk->cell < layout->cells)
		return;
	walk->cell = 0;
	walk->row++;
}

int dart_tea_lookup__next_until(const struct dart_tea_hash *hash, const void *memory, uint64_t end,
				struct dart_tea_walk *walk, void *entry, bool *stashed)
{
	const struct tea_layout *layout = &hash->layout;
	uint32_t copy[TEA_CELL_MAX / sizeof(uint32_t)];
	enum state state;

	while (walk->row < end && walk->row < layout->rows + layout->stash_cells) {
		*stashed = walk->row >= layout->rows;
		state = copy_next(hash, memory, walk, copy);
		walk__advance(walk, layout);
		walk->torn += state == TORN;
		if (state != ENTRY)
			continue;
		memcpy(entry, tea_cell__key(copy), layout->key_length + layout->value_length);
		return 1;
	}
	return 0;
}

int dart_tea_lookup__next(const struct dart_tea_hash *hash, const void *memory,
			  struct dart_tea_walk *walk, void *entry, bool *stashed)
{
	return dart_tea_lookup__next_until(hash, memory, UINT64_MAX, walk, entry, stashed);
}
