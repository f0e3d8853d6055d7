// SPDX-License-Identifier: GPL-2.0-only
/* Lookup tables: places, changes against a model, moves, the stash, copies of switches. */
#include <libdart/tea/tea_table.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/store/store_hash.h>
#include <libdart/tea/tea_lookup.h>

#include "tea_model.h"
#include "unit.h"

/* ---- places and checks by the book */

static uint32_t home_by_the_book(const struct dart_tea_geometry *geometry,
				 const void *key)
{
	const size_t length = geometry->key_length;
	const uint32_t sum = dart_store__crc(DART_TEA_ROW_0, key, length) +
			     dart_store__crc(DART_TEA_ROW_1, key, length);

	return sum % (UINT64_C(1) << geometry->rows_log2);
}

static void check_place(const struct dart_tea_geometry *geometry,
			const struct dart_tea_hash *hash, const uint8_t *entry)
{
	const uint32_t crc = dart_store__crc(DART_TEA_SHARE, entry,
					     geometry->key_length);
	uint32_t check = dart_store__crc(DART_TEA_CHECK, entry,
					 geometry->key_length +
						 geometry->value_length);
	struct dart_tea_place place;

	dart_tea_hash__place(hash, entry, &place);
	assert_int_equal(place.home, home_by_the_book(geometry, entry));
	assert_int_equal(place.share, crc % 1024);
	assert_int_equal(place.stash,
			 (crc >> 10) %
				 dart_tea_geometry__stash_places(geometry));
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
		geometry.value_length =
			dart_random__below(&random, DART_TEA_VALUE_MAX) + 1;
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

/* Operations on so many keys that the table would overflow with all of them. */
static void change_at_random(struct tea_model *model, uint32_t keys,
			     uint32_t operations, struct dart_random *random)
{
	uint32_t i;

	for (i = 0; i < operations; i++) {
		const uint32_t key = dart_random__below(random, keys);

		if (dart_random__below(random, 4))
			tea_model__insert(model, key,
					  dart_random__below(random, 1 << 16));
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

	for (geometry.rows_log2 = 0; geometry.rows_log2 <= 6;
	     geometry.rows_log2++) {
		for (geometry.cells = 1; geometry.cells <= 8;
		     geometry.cells++) {
			cells = geometry.cells << geometry.rows_log2;
			geometry.key_length =
				2 + dart_random__below(&random, 63);
			geometry.value_length =
				2 + dart_random__below(&random, 63);
			tea_model__open(&model, &geometry);
			change_at_random(&model, cells + 30, 3000, &random);
			tea_model__check(&model);
			tea_model__close(&model);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("home, share, place in the stash and check of a key are plain CRCs, for every length",
		     test_places),
		TEST("after random changes tables of many geometries have what a model has",
		     test_random_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
