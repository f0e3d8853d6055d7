// SPDX-License-Identifier: GPL-2.0-only
/* Lookup tables: places, changes against a model, moves, the stash, copies of switches. */
#include <libdart/tea/tea_table.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/store/store_hash.h>
#include <libdart/tea/tea_lookup.h>

#include "selftests/unit/unit.h"
#include "tea_model.h"

/* ---- places and checks by the book */

static uint32_t home_by_the_book(const struct dart_tea_geometry *geometry, const void *key)
{
	const size_t length = geometry->key_length;
	const uint32_t sum = dart_store__crc(DART_TEA_ROW_0, key, length) +
			     dart_store__crc(DART_TEA_ROW_1, key, length);

	return sum % (UINT64_C(1) << geometry->rows_log2);
}

static void check_place(const struct dart_tea_geometry *geometry,
			const struct dart_tea_hash *hash, const uint8_t *entry)
{
	const uint32_t crc = dart_store__crc(DART_TEA_SHARE, entry, geometry->key_length);
	uint32_t check = dart_store__crc(DART_TEA_CHECK, entry,
					 geometry->key_length + geometry->value_length);
	struct dart_tea_place place;

	dart_tea_hash__place(hash, entry, &place);
	assert_int_equal(place.home, home_by_the_book(geometry, entry));
	assert_int_equal(place.share, crc % 1024);
	assert_int_equal(place.stash, (crc >> 10) % dart_tea_geometry__stash_places(geometry));
	assert_int_equal(dart_tea_hash__check(hash, entry), check ? check : 1);
}

static void test_places(void **state)
{
	struct dart_tea_geometry geometry = { .cells = 1, .packet_length = 64 };
	struct dart_random random = dart_random__of(1);
	struct dart_tea_hash *hash;
	uint8_t entry[DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX];
	size_t i;

	for (geometry.key_length = 1; geometry.key_length <= DART_TEA_KEY_MAX;
	     geometry.key_length++) {
		geometry.rows_log2 = geometry.key_length % 29;
		geometry.value_length = dart_random__below(&random, DART_TEA_VALUE_MAX) + 1;
		assert_int_equal(dart_tea_hash__new(&geometry, &hash), 0);
		for (i = 0; i < sizeof(entry); i++)
			entry[i] = dart_random__next(&random);
		check_place(&geometry, hash, entry);
		memset(entry, 0, sizeof(entry));
		check_place(&geometry, hash, entry);
		dart_tea_hash__free(hash);
	}
}

/* ---- changes */

/* Operations on more keys than the table can hold. */
static void change_at_random(struct tea_model *model, uint32_t keys,
			     uint32_t operations, struct dart_random *random)
{
	uint32_t i;

	for (i = 0; i < operations; i++) {
		const uint32_t key = dart_random__below(random, keys);

		if (dart_random__below(random, 4))
			tea_model__insert(model, key, dart_random__below(random, 1 << 16));
		else
			tea_model__remove(model, key);
		tea_model__look(model, dart_random__below(random, keys));
	}
}

static void test_random_changes(void **state)
{
	struct dart_random random = dart_random__of(2);
	struct dart_tea_geometry geometry = { .packet_length = 100 };
	struct tea_model model;
	uint32_t cells;

	for (geometry.rows_log2 = 0; geometry.rows_log2 <= 6; geometry.rows_log2++) {
		for (geometry.cells = 1; geometry.cells <= 8; geometry.cells++) {
			cells = geometry.cells << geometry.rows_log2;
			geometry.key_length = 2 + dart_random__below(&random, 63);
			geometry.value_length = 2 + dart_random__below(&random, 63);
			tea_model__open(&model, &geometry);
			change_at_random(&model, cells + 30, 3000, &random);
			tea_model__check(&model);
			tea_model__close(&model);
		}
	}
}

/* ---- copies of switches */

#define SCRATCHPAD	0x5a

struct view {
	uint8_t *bytes;
	uint64_t length;
};

static struct view view__attach(struct tea_model *model)
{
	struct view view = {
		.length = dart_tea_geometry__view_length(&model->geometry),
	};

	view.bytes = malloc(view.length);
	assert_non_null(view.bytes);
	memset(view.bytes, SCRATCHPAD, view.length);
	assert_int_equal(dart_tea_table__attach(model->table, view.bytes, NULL), 0);
	return view;
}

/* The copy contains the rows of the server's own copy, and unchanged scratchpads. */
static void view__check(const struct view *view, const struct tea_model *model)
{
	const struct dart_tea_geometry *geometry = &model->geometry;
	const size_t length = dart_tea_geometry__row_length(geometry);
	const size_t stride = (size_t)1 << dart_tea_geometry__row_log2(geometry);
	const uint8_t *own = model->memory, *row = view->bytes;
	size_t i;

	for (; row < view->bytes + view->length; row += stride) {
		assert_memory_equal(row, own, length);
		for (i = length; i < stride; i++)
			assert_int_equal(row[i], SCRATCHPAD);
		own += dart_tea_geometry__stride(geometry);
	}
}

static void test_views(void **state)
{
	struct dart_random random = dart_random__of(3);
	struct dart_tea_geometry geometry = {
		.packet_length = 64, .key_length = 13, .value_length = 7,
	};
	struct view views[2];
	struct tea_model model;

	for (geometry.rows_log2 = 0; geometry.rows_log2 <= 5; geometry.rows_log2++) {
		geometry.cells = geometry.rows_log2 + 1;
		tea_model__open(&model, &geometry);
		views[0] = view__attach(&model);
		change_at_random(&model, 30 + (geometry.cells << geometry.rows_log2),
				 2000, &random);
		views[1] = view__attach(&model);
		change_at_random(&model, 30 + (geometry.cells << geometry.rows_log2),
				 2000, &random);
		view__check(&views[0], &model);
		view__check(&views[1], &model);

		/* A detached copy is not touched any more. */
		dart_tea_table__detach(model.table, views[0].bytes);
		memset(views[0].bytes, SCRATCHPAD, views[0].length);
		change_at_random(&model, 30, 500, &random);
		view__check(&views[1], &model);
		assert_int_equal(views[0].bytes[0], SCRATCHPAD);
		assert_memory_equal(views[0].bytes, views[0].bytes + 1, views[0].length - 1);
		free(views[0].bytes);
		free(views[1].bytes);
		tea_model__close(&model);
	}
}

/* ---- full tables */

/* Keys to insert, one after the other. */
static void fill(struct tea_model *model, uint32_t first, uint32_t end)
{
	for (; first < end; first++)
		tea_model__insert(model, first, first);
}

/* The share of insertions that had to go to the stash, of a table with that load. */
static double stash_share(uint32_t cells, double load)
{
	const struct dart_tea_geometry geometry = {
		.rows_log2 = 12, .cells = cells, .key_length = 13,
		.value_length = 7, .packet_length = DART_TEA_PACKET,
	};
	struct dart_tea_statistics statistics;
	struct tea_model model;
	double share;

	tea_model__open(&model, &geometry);
	fill(&model, 0, load * (cells << 12));
	tea_model__check(&model);
	assert_int_equal(model.full, 0);
	dart_tea_table__statistics(model.table, &statistics);
	assert_true(statistics.moves);
	share = (double)model.stashed / model.entries;
	tea_model__close(&model);
	return share;
}

static void test_load(void **state)
{
	const double at_half = stash_share(8, 0.5);
	const double at_three_quarters = stash_share(8, 0.75);

	if (at_half > 0.0002 || at_three_quarters > 0.0015)
		fail_msg("%.5f and %.5f of the entries are in the stash",
			 at_half, at_three_quarters);
	/* Buckets of 2 cells are worse: the stash is made for buckets of 8. */
	assert_true(stash_share(2, 0.4) > at_three_quarters);
}

/* No entry is stashed while moves can free a place in the rows. */
static void test_moves(void **state)
{
	const struct dart_tea_geometry geometry = {
		.rows_log2 = 8, .cells = 1, .key_length = 4, .value_length = 4,
		.packet_length = DART_TEA_PACKET,
	};
	struct dart_tea_statistics statistics;
	struct dart_tea_place place;
	struct tea_model model;
	uint32_t home, key, inserted = 0;
	uint8_t bytes[4];

	tea_model__open(&model, &geometry);
	/* One key for each of 33 homes in order, each in the bucket of its home. */
	for (home = 0; home <= 32; home++) {
		for (key = 0;; key++) {
			tea_model__bytes(key, bytes, sizeof(bytes));
			dart_tea_hash__place(dart_tea_table__hash(model.table), bytes, &place);
			if (place.home == home && model.values[key] < 0)
				break;
		}
		assert_int_equal(tea_model__insert(&model, key, 1), DART_TEA_INSERTED);
		inserted++;
	}
	/* One more for home 0 moves all but the first; then there is no room within 32. */
	for (key = 0;; key++) {
		tea_model__bytes(key, bytes, sizeof(bytes));
		dart_tea_hash__place(dart_tea_table__hash(model.table), bytes, &place);
		if (place.home == 0 && model.values[key] < 0)
			break;
	}
	assert_int_equal(tea_model__insert(&model, key, 2), DART_TEA_INSERTED);
	dart_tea_table__statistics(model.table, &statistics);
	assert_int_equal(statistics.moves, 32);
	assert_int_equal(statistics.entries, inserted + 1);
	for (key++;; key++) {
		tea_model__bytes(key, bytes, sizeof(bytes));
		dart_tea_hash__place(dart_tea_table__hash(model.table), bytes, &place);
		if (place.home == 0 && model.values[key] < 0)
			break;
	}
	assert_int_equal(tea_model__insert(&model, key, 3), DART_TEA_STASHED);
	dart_tea_table__statistics(model.table, &statistics);
	assert_int_equal(statistics.moves, 32);
	tea_model__check(&model);
	tea_model__close(&model);
}

/* The count of a row ends at 255, but no entry is lost. */
static void test_crowded_row(void **state)
{
	const struct dart_tea_geometry geometry = {
		.rows_log2 = 13, .cells = 1, .key_length = 8, .value_length = 2,
		.packet_length = DART_TEA_PACKET,
	};
	struct dart_tea_statistics statistics;
	struct dart_tea_table *table;
	struct dart_tea_place place;
	uint64_t keys[320], key;
	uint8_t *memory, value[2];
	uint32_t count = 0, i;
	const uint8_t *row;

	memory = calloc(1, dart_tea_geometry__length(&geometry));
	assert_int_equal(dart_tea_table__new(&geometry, 1, memory, &table), 0);
	for (key = 0; count < 320; key++) {
		dart_tea_hash__place(dart_tea_table__hash(table), &key, &place);
		if (place.home != 77)
			continue;
		if (dart_tea_table__insert(table, &key, "ab") < 0)
			continue;
		keys[count++] = key;
	}
	row = memory + 77 * dart_tea_geometry__stride(&geometry);
	assert_int_equal(row[4], 255);
	for (i = 0; i < count; i++) {
		dart_tea_table__statistics(table, &statistics);
		assert_int_equal(row[4], statistics.stashed < 255 ? statistics.stashed : 255);
		assert_int_equal(dart_tea_lookup__memory(dart_tea_table__hash(table), 1, memory,
							 &keys[i], value),
				 0);
		assert_int_equal(dart_tea_table__remove(table, &keys[i]), 0);
		assert_int_equal(dart_tea_lookup__memory(
					 dart_tea_table__hash(table), 1, memory,
					 &keys[i], value), -ENOENT);
	}
	dart_tea_table__statistics(table, &statistics);
	assert_int_equal(statistics.entries, 0);
	dart_tea_table__free(table);
	free(memory);
}

/* ---- geometries */

static void test_refused(void **state)
{
	static const struct dart_tea_geometry good = {
		.rows_log2 = 28, .cells = 8, .key_length = 13,
		.value_length = 7, .packet_length = 1514,
	};
	struct dart_tea_geometry bad[] = {
		good, good, good, good, good, good, good, good, good, good,
	};
	struct dart_tea_hash *hash;
	uint64_t memory[16];
	struct dart_tea_table *table;
	size_t i;

	bad[0].rows_log2 = 29;
	bad[1].cells = 0;
	bad[2].cells = 9;
	bad[3].key_length = 0;
	bad[4].key_length = 65;
	bad[5].value_length = 0;
	bad[6].value_length = 65;
	bad[7].packet_length = 63;
	bad[8].packet_length = 4096 - 12 - 12 - 16 * 24 + 1;
	bad[9].packet_length = UINT32_MAX;
	assert_int_equal(dart_tea_geometry__check(&good), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(dart_tea_geometry__check(&bad[i]), -EINVAL);
		assert_int_equal(dart_tea_hash__new(&bad[i], &hash), -EINVAL);
		assert_int_equal(dart_tea_table__new(&bad[i], 1, memory, &table), -EINVAL);
	}
	/* Nor an epoch beyond three bytes, nor memory between words. */
	assert_int_equal(dart_tea_table__new(&good, 0, memory, &table), -EINVAL);
	assert_int_equal(dart_tea_table__new(&good, 1 << 24, memory, &table), -EINVAL);
	assert_int_equal(dart_tea_table__new(&good, 1, (uint8_t *)memory + 4, &table), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("home, share, place in the stash and check of a key are plain CRCs, for every length",
		     test_places),
		TEST("after random changes tables of many geometries have what a model has",
		     test_random_changes),
		TEST("copies for switches have the same rows, and their scratchpads are untouched",
		     test_views),
		TEST("at a load of 3/4 less than 0.15 % of the entries are in the stash, at 1/2 hardly any",
		     test_load),
		TEST("32 moves make room for an entry, and it goes to the stash if that takes 33",
		     test_moves),
		TEST("a row counts 255 of its stashed entries, and all are found and removed",
		     test_crowded_row),
		TEST("a geometry with any number out of range is refused, and so are epochs and memory",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
