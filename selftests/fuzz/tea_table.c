// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lookup tables: four bytes choose a geometry, the others are the memory of a table.  The
 * harness looks keys up in it, and takes it over; afterwards the table is consistent.
 * Checks are CRCs, which are seldom right by chance: cells that begin with 0xff get the
 * right one.
 */
#include <dart/tea_access.h>
#include <errno.h>

#include <libdart/tea/tea_lookup.h>
#include <libdart/tea/tea_table.h>

#include "fuzz.h"

#define EPOCH	1
#define ENTRY	(DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX)

static void make_right(const struct dart_tea_geometry *geometry, const struct dart_tea_hash *hash,
		       uint8_t *cells, size_t count)
{
	const size_t length = dart_tea_geometry__cell_length(geometry);
	uint32_t check;

	for (; count; count--, cells += length) {
		if (*cells != 0xff)
			continue;
		check = __builtin_bswap32(dart_tea_hash__check(hash, cells + 4));
		memcpy(cells, &check, sizeof(check));
	}
}

static void make_all_right(const struct dart_tea_geometry *geometry,
			   const struct dart_tea_hash *hash, uint8_t *memory)
{
	uint64_t row;

	for (row = 0; row < dart_tea_geometry__rows(geometry); row++)
		make_right(geometry, hash, memory + row * dart_tea_geometry__stride(geometry) + 8,
			   2 * geometry->cells);
	make_right(geometry, hash, memory + dart_tea_geometry__stash(geometry),
		   dart_tea_geometry__stash_cells(geometry));
}

/* Before it is taken over: any outcome, but nothing outside the memory. */
static void look(const struct dart_tea_geometry *geometry,
		 const struct dart_tea_hash *hash, const uint8_t *memory)
{
	uint8_t value[DART_TEA_VALUE_MAX];
	struct dart_tea_place place;

	dart_tea_hash__place(hash, memory, &place);
	dart_tea_lookup__row(hash, EPOCH, memory + place.home * dart_tea_geometry__stride(geometry),
			     memory, value);
	dart_tea_lookup__stash(hash,
			       memory + dart_tea_geometry__stash(geometry) +
				       place.stash * dart_tea_geometry__cell_length(geometry),
			       DART_TEA_STASH_WINDOW, memory, value);
}

/* All entries of a walk are found, and can be changed and removed. */
static void use(struct dart_tea_table *table, const uint8_t *memory, uint64_t entries)
{
	const struct dart_tea_hash *hash = dart_tea_table__hash(table);
	const uint32_t key_length = dart_tea_table__geometry(table)->key_length;
	const uint32_t value_length = dart_tea_table__geometry(table)->value_length;
	uint8_t entry[ENTRY], value[DART_TEA_VALUE_MAX];
	struct dart_tea_statistics statistics;
	struct dart_tea_walk walk = { 0 };
	uint64_t count = 0;
	bool stashed;

	while (dart_tea_lookup__next(hash, memory, &walk, entry, &stashed)) {
		count++;
		require(!dart_tea_lookup__memory(hash, EPOCH, memory, entry, value));
		require(!memcmp(value, entry + key_length, value_length));
	}
	require(count == entries && !walk.torn);
	for (walk = (struct dart_tea_walk){ 0 };
	     dart_tea_lookup__next(hash, memory, &walk, entry, &stashed);)
		require(!dart_tea_table__remove(table, entry));
	dart_tea_table__statistics(table, &statistics);
	require(!statistics.entries && !statistics.stashed);
}

static void take_over(const struct dart_tea_geometry *geometry, uint8_t *memory)
{
	struct dart_tea_mended mended, again;
	struct dart_tea_table *table;

	require(!dart_tea_table__resume(geometry, EPOCH, memory, NULL, &table, &mended));
	dart_tea_table__free(table);
	require(!dart_tea_table__resume(geometry, EPOCH, memory, NULL, &table, &again));
	require(again.entries == mended.entries);
	require(!again.rows && !again.torn && !again.repeated && !again.misplaced);
	use(table, memory, again.entries);
	dart_tea_table__free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dart_tea_geometry geometry = { .packet_length = 64 };
	struct dart_tea_hash *hash;
	size_t length;
	uint8_t *memory;

	if (size < 4)
		return 0;
	geometry.rows_log2 = data[0] % 4;
	geometry.cells = 1 + data[1] % 4;
	geometry.key_length = 1 + data[2] % 16;
	geometry.value_length = 1 + data[3] % 16;
	data += 4;
	size -= 4;
	length = dart_tea_geometry__length(&geometry);
	memory = calloc(1, length);
	require(memory && !dart_tea_hash__new(&geometry, &hash));
	memcpy(memory, data, size < length ? size : length);
	make_all_right(&geometry, hash, memory);
	look(&geometry, hash, memory);
	take_over(&geometry, memory);
	dart_tea_hash__free(hash);
	free(memory);
	return 0;
}
