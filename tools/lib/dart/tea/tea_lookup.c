// SPDX-License-Identifier: LGPL-2.1-or-later
/* Looks keys up in memory that is changed meanwhile: see tea_lookup.h. */
#include <errno.h>
#include <stdatomic.h>
#include <time.h>

#include <dart/tea_access.h>
#include <libdart/tea/tea_hash_internal.h>

#include "tea_lookup.h"

/*
 * A change takes less than a microsecond.  After these tries the server is not running, so
 * the processor is left to it for a while.
 */
#define TRIES_AT_ONCE	100
#define PAUSE_NS	50000

static uint32_t word_of(const void *bytes)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	return be32toh(word);
}

/* Looks for @key in @count cells. */
static bool find(const struct dart_tea_hash *hash, const uint8_t *cells,
		 size_t count, const void *key, void *value)
{
	const struct tea_layout *layout = &hash->layout;
	const uint8_t *cell = cells;

	for (; count; count--, cell += layout->cell) {
		if (!tea_key__same(tea_cell__key(cell), key, layout->key_length) ||
		    !tea_cell__is_entry(hash, cell))
			continue;
		memcpy(value, tea_cell__key(cell) + layout->key_length, layout->value_length);
		return true;
	}
	return false;
}

enum dart_tea_outcome dart_tea_lookup__row(const struct dart_tea_hash *hash, uint32_t epoch,
					   const void *row, const void *key, void *value)
{
	const struct tea_layout *layout = &hash->layout;
	const uint8_t *bytes = row;
	const uint32_t sequence = word_of(bytes);
	const uint32_t state = word_of(bytes + sizeof(sequence));

	if ((state & DART_TEA_EPOCH_MAX) != epoch)
		return DART_TEA_CHANGING;
	if (find(hash, bytes + TEA_ROW_HEAD, 2 * layout->cells, key, value))
		return DART_TEA_FOUND;
	if (sequence % 2 || word_of(bytes + layout->behind) != sequence)
		return DART_TEA_CHANGING;
	return tea_row__stashed(state) ? DART_TEA_IN_STASH : DART_TEA_ABSENT;
}

enum dart_tea_outcome dart_tea_lookup__stash(const struct dart_tea_hash *hash, const void *stash,
					     size_t cells, const void *key, void *value)
{
	return find(hash, stash, cells, key, value) ? DART_TEA_FOUND : DART_TEA_ABSENT;
}

/* From the first sequence to the second, in the order that their server relies on. */
static void copy_row(const struct tea_layout *layout, void *to, const void *row)
{
	uint8_t *copy = to;

	tea_words__load(copy, row, sizeof(uint32_t));
	atomic_thread_fence(memory_order_acquire);
	tea_words__load(copy + sizeof(uint32_t), (const uint8_t *)row + sizeof(uint32_t),
			layout->behind - sizeof(uint32_t));
	atomic_thread_fence(memory_order_acquire);
	tea_words__load(copy + layout->behind, (const uint8_t *)row + layout->behind,
			sizeof(uint32_t));
}

/*
 * The stash has no sequences: each of its changes is one of the row that is its home.  So
 * the key is absent if that has not changed since it was copied.
 */
static enum dart_tea_outcome
look_into_stash(const struct dart_tea_hash *hash, const uint8_t *memory,
		const struct dart_tea_place *place, const uint32_t *copy,
		const void *key, void *value)
{
	const struct tea_layout *layout = &hash->layout;
	const uint8_t *row = memory + (size_t)place->home * layout->stride;
	uint32_t window[DART_TEA_STASH_WINDOW * TEA_CELL_MAX / sizeof(uint32_t)];

	atomic_thread_fence(memory_order_acquire);
	tea_words__load(window, memory + layout->stash + (size_t)place->stash * layout->cell,
			(size_t)DART_TEA_STASH_WINDOW * layout->cell);
	if (find(hash, (uint8_t *)window, DART_TEA_STASH_WINDOW, key, value))
		return DART_TEA_FOUND;
	atomic_thread_fence(memory_order_acquire);
	return tea_word__load(row) == be32toh(copy[0]) ? DART_TEA_ABSENT : DART_TEA_CHANGING;
}

static enum dart_tea_outcome look(const struct dart_tea_hash *hash, uint32_t epoch,
				  const uint8_t *memory, const struct dart_tea_place *place,
				  const void *key, void *value)
{
	const struct tea_layout *layout = &hash->layout;
	uint32_t copy[TEA_ROW_MAX / sizeof(uint32_t)];
	enum dart_tea_outcome outcome;

	copy_row(layout, copy, memory + (size_t)place->home * layout->stride);
	outcome = dart_tea_lookup__row(hash, epoch, copy, key, value);
	if (outcome == DART_TEA_IN_STASH)
		outcome = look_into_stash(hash, memory, place, copy, key, value);
	return outcome;
}

static void wait_for_server(uint32_t tries)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	if (tries >= TRIES_AT_ONCE)
		nanosleep(&pause, NULL);
}

int dart_tea_lookup__memory(const struct dart_tea_hash *hash, uint32_t epoch,
			    const void *memory, const void *key, void *value)
{
	struct dart_tea_place place;
	uint32_t tries;

	dart_tea_hash__place(hash, key, &place);
	for (tries = 0; tries < DART_TEA_LOOKUP_TRIES; tries++) {
		switch (look(hash, epoch, memory, &place, key, value)) {
		case DART_TEA_FOUND:
			return 0;
		case DART_TEA_ABSENT:
			return -ENOENT;
		default:
			wait_for_server(tries);
		}
	}
	return -EAGAIN;
}
