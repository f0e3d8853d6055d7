/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows and cells of a lookup table in memory, see <dart/tea.h>.  Memory that others read
 * meanwhile is written in whole words of 4 bytes, and so it is read.
 */
#ifndef DART_TEA_LAYOUT_H
#define DART_TEA_LAYOUT_H

#include <endian.h>
#include <stdbool.h>
#include <string.h>

#include <libdart/tea/tea_geometry.h>

#define TEA_ROW_HEAD		8	/* bytes before the bucket */
#define TEA_STASHED_MAX		255	/* that a row counts */
#define TEA_CELL_MAX		(4 + DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX)
#define TEA_ROW_MAX		(TEA_ROW_HEAD + 2 * DART_TEA_CELLS_MAX * TEA_CELL_MAX + 4)

/* The sizes of a geometry, computed once. */
struct tea_layout {
	uint32_t cells;		/* of a bucket */
	uint32_t key_length;
	uint32_t value_length;
	uint32_t cell;		/* bytes */
	uint32_t behind;	/* offset of the second sequence in a row */
	uint32_t row;		/* bytes, without scratchpad */
	uint32_t stride;	/* of the server's own copy */
	uint32_t mask;		/* of the numbers of rows */
	uint64_t rows;
	uint64_t stash;		/* its offset */
	uint64_t stash_places;
	uint64_t stash_cells;
};

static inline struct tea_layout tea_layout__of(const struct dart_tea_geometry *geometry)
{
	const uint32_t row = dart_tea_geometry__row_length(geometry);
	const uint64_t rows = dart_tea_geometry__rows(geometry);

	return (struct tea_layout){
		.cells = geometry->cells,
		.key_length = geometry->key_length,
		.value_length = geometry->value_length,
		.cell = dart_tea_geometry__cell_length(geometry),
		.behind = row - sizeof(uint32_t),
		.row = row,
		.stride = dart_tea_geometry__stride(geometry),
		.mask = rows - 1,
		.rows = rows,
		.stash = dart_tea_geometry__stash(geometry),
		.stash_places = dart_tea_geometry__stash_places(geometry),
		.stash_cells = dart_tea_geometry__stash_cells(geometry),
	};
}

static inline uint32_t tea_word__load(const void *at)
{
	return be32toh(__atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED));
}

static inline void tea_word__store(void *at, uint32_t word)
{
	__atomic_store_n((uint32_t *)at, htobe32(word), __ATOMIC_RELAXED);
}

/* Copies @length bytes, whole words, from memory that another process writes. */
static inline void tea_words__load(void *to, const void *from, size_t length)
{
	const uint32_t *words = from;
	uint32_t *copy = to;
	size_t i;

	for (i = 0; i < length / sizeof(*words); i++)
		copy[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
}

/* The opposite; zeros if @from is NULL. */
static inline void tea_words__store(void *to, const void *from, size_t length)
{
	const uint32_t *words = from;
	uint32_t *copy = to;
	size_t i;

	for (i = 0; i < length / sizeof(*copy); i++)
		__atomic_store_n(&copy[i], words ? words[i] : 0, __ATOMIC_RELAXED);
}

/* ---- cells */

static inline bool tea_words__are_zero(const void *words, size_t length)
{
	const uint32_t *word = words;
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < length / sizeof(*word); i++)
		bits |= word[i];
	return !bits;
}

static inline uint64_t tea_bytes__differ8(const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x ^ y;
}

/* Compares the ends first, without a call, since most keys differ there. */
static inline bool tea_key__same(const uint8_t *a, const uint8_t *b, uint32_t length)
{
	if (length < 8)
		return !memcmp(a, b, length);
	if (tea_bytes__differ8(a, b) | tea_bytes__differ8(a + length - 8, b + length - 8))
		return false;
	return length <= 16 || !memcmp(a + 8, b + 8, length - 16);
}

static inline const uint8_t *tea_cell__key(const void *cell)
{
	return (const uint8_t *)cell + sizeof(uint32_t);
}

/* ---- rows */

/* Cell @cell of a row, of both buckets. */
static inline uint8_t *tea_row__cell(const struct tea_layout *layout,
				     const void *row, uint32_t cell)
{
	return (uint8_t *)row + TEA_ROW_HEAD + (size_t)cell * layout->cell;
}

/* The word after the first sequence: stashed and epoch. */
static inline uint32_t tea_row__state(uint32_t stashed, uint32_t epoch)
{
	return stashed << 24 | epoch;
}

static inline uint32_t tea_row__stashed(uint32_t state)
{
	return state >> 24;
}

#endif /* DART_TEA_LAYOUT_H */
