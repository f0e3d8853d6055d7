// SPDX-License-Identifier: GPL-2.0-only
/* The sketch of simulations counts and reports like the golden vectors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <dart/tea.h>
#include <libdart/store/store_hash.h>

#include "papers/tea/tea_sketch.h"
#include "selftests/unit/unit.h"

#define VECTORS	"selftests/vectors/sketch.json"
#define KEY	13	/* bytes */

static struct tea_sketch_key key_of(json_t *digits)
{
	const char *text = json_string_value(digits);
	uint8_t key[KEY];
	unsigned int byte;
	size_t i;

	assert_non_null(text);
	assert_int_equal(strlen(text), 2 * KEY);
	for (i = 0; i < KEY; i++) {
		assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
		key[i] = byte;
	}
	return (struct tea_sketch_key){
		.row_0 = dart_store__crc(DART_TEA_ROW_0, key, KEY),
		.row_1 = dart_store__crc(DART_TEA_ROW_1, key, KEY),
	};
}

static uint32_t number(json_t *list, size_t i)
{
	assert_true(json_is_integer(json_array_get(list, i)));
	return json_integer_value(json_array_get(list, i));
}

static void check_packets(json_t *vector, struct tea_sketch *sketch)
{
	json_t *packets = json_object_get(vector, "packets");
	json_t *reported = json_object_get(vector, "reported");
	const uint32_t threshold = json_integer_value(json_object_get(vector, "threshold"));
	size_t i, next = 0;

	for (i = 0; i < json_array_size(packets); i++) {
		const struct tea_sketch_key key = key_of(json_array_get(
			json_object_get(vector, "keys"), number(packets, i)));
		const bool is_next = next < json_array_size(reported) &&
				     number(reported, next) == i;

		assert_int_equal(tea_sketch__packet(sketch, &key, threshold), is_next);
		next += is_next;
	}
	assert_int_equal(next, json_array_size(reported));
}

static void check_memory(json_t *vector, struct tea_sketch *sketch)
{
	static const struct tea_sketch zeros;
	json_t *place;
	size_t i;

	json_array_foreach(json_object_get(vector, "counters"), i, place) {
		uint16_t *counter = &sketch->counters[number(place, 0)][number(place, 1)];

		assert_int_equal(*counter, number(place, 2));
		*counter = 0;
	}
	json_array_foreach(json_object_get(vector, "bits"), i, place) {
		bool *bit = &sketch->reported[number(place, 0)][number(place, 1)];

		assert_true(*bit);
		*bit = false;
	}
	/* There is nothing else. */
	assert_memory_equal(sketch, &zeros, sizeof(zeros));
}

static void sketch_follows_vectors(void **state)
{
	json_t *vectors = json_load_file(VECTORS, 0, NULL), *vector, *place;
	struct tea_sketch *sketch = calloc(1, sizeof(*sketch));
	size_t i, j;

	assert_non_null(sketch);
	assert_true(json_array_size(vectors) > 0);
	json_array_foreach(vectors, i, vector) {
		tea_sketch__clear(sketch);
		json_array_foreach(json_object_get(vector, "before"), j, place)
			sketch->counters[number(place, 0)][number(place, 1)] = number(place, 2);
		check_packets(vector, sketch);
		check_memory(vector, sketch);
	}
	free(sketch);
	json_decref(vectors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the sketch counts and reports as the golden vectors have it",
		     sketch_follows_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
