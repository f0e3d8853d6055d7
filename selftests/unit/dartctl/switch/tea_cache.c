// SPDX-License-Identifier: GPL-2.0-only
/* The cache of a switch: against a model that searches all, and its rule. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dart/tea.h>
#include <dart/tea_sketch.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/switch/cache/keys.h"

#define SEED	0x7ea
#define KEY	13

static struct cache_keys *make(uint32_t entries, uint32_t threshold)
{
	const struct cache_keys_settings settings = {
		.entries = entries, .key_length = KEY, .threshold = threshold,
	};
	struct cache_keys *cache;

	assert_int_equal(cache_keys__new(&settings, &cache), 0);
	return cache;
}

/* Keys differ in a middle byte and in the last byte. */
static const uint8_t *key_of(uint32_t number, uint8_t key[KEY])
{
	memset(key, 0xff, KEY);
	key[5] = number >> 8;
	key[KEY - 1] = number;
	return key;
}

static enum cache_keys_verdict report(struct cache_keys *cache, uint32_t number)
{
	uint8_t key[KEY], victim[KEY];

	return cache_keys__report(cache, key_of(number, key), victim);
}

static int count(struct cache_keys *cache, uint32_t number, uint64_t packets)
{
	uint8_t key[KEY];

	return cache_keys__count(cache, key_of(number, key), packets);
}

/* @counter: as it was counted last, so that this changes nothing. */
static bool has(struct cache_keys *cache, uint32_t number, uint64_t counter)
{
	return !count(cache, number, counter);
}

static void settings_are_checked(void **state)
{
	static const struct cache_keys_settings wrong[] = {
		{ 0, KEY, 1 },
		{ CACHE_KEYS_ENTRIES_MAX + 1, KEY, 1 },
		{ UINT32_MAX, KEY, 1 },
		{ 1, 0, 1 },
		{ 1, DART_TEA_KEY_MAX + 1, 1 },
		{ 1, KEY, 0 },
		{ 1, KEY, DART_TEA_SKETCH_MAX + 1 },
	};
	const struct cache_keys_settings largest = { CACHE_KEYS_ENTRIES_MAX, DART_TEA_KEY_MAX,
						     DART_TEA_SKETCH_MAX };
	struct cache_keys *cache = NULL;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(cache_keys__new(&wrong[i], &cache), -EINVAL);
	assert_null(cache);
	assert_int_equal(cache_keys__new(&largest, &cache), 0);
	cache_keys__free(cache);
	cache_keys__free(NULL);
}

static void there_is_room(void **state)
{
	struct cache_keys *cache = make(3, 10);

	assert_int_equal(report(cache, 2), CACHE_KEYS_ADDED);
	assert_int_equal(report(cache, 1), CACHE_KEYS_ADDED);
	assert_int_equal(report(cache, 2), CACHE_KEYS_PRESENT);
	assert_int_equal(cache_keys__end_period(cache), 10);
	assert_int_equal(report(cache, 3), CACHE_KEYS_ADDED);
	/* No key has been cached for a period. */
	assert_int_equal(report(cache, 4), CACHE_KEYS_REFUSED);
	assert_false(has(cache, 4, 0));
	cache_keys__free(cache);
}

static void least_used_yields(void **state)
{
	struct cache_keys *cache = make(3, 10);
	uint8_t key[KEY], victim[KEY];
	uint32_t i;

	for (i = 1; i <= 3; i++)
		report(cache, i);
	cache_keys__end_period(cache);
	count(cache, 1, 40);
	count(cache, 2, 20);
	count(cache, 3, 21);
	assert_int_equal(cache_keys__end_period(cache), 21);
	assert_int_equal(cache_keys__threshold(cache), 21);
	assert_int_equal(cache_keys__report(cache, key_of(4, key), victim), CACHE_KEYS_EXCHANGED);
	assert_memory_equal(victim, key_of(2, key), KEY);
	assert_false(has(cache, 2, 20));
	assert_true(has(cache, 4, 0));
	/* 3 had as many as the threshold. */
	assert_int_equal(report(cache, 2), CACHE_KEYS_REFUSED);

	/* 1 falls back, 3 was not counted, 4 was there for a part of the period. */
	count(cache, 1, 45);
	assert_int_equal(cache_keys__end_period(cache), 10);
	assert_int_equal(cache_keys__report(cache, key_of(5, key), victim), CACHE_KEYS_EXCHANGED);
	assert_memory_equal(victim, key_of(3, key), KEY);
	assert_int_equal(cache_keys__report(cache, key_of(6, key), victim), CACHE_KEYS_EXCHANGED);
	assert_memory_equal(victim, key_of(1, key), KEY);
	assert_int_equal(report(cache, 7), CACHE_KEYS_REFUSED);
	assert_true(has(cache, 4, 0));
	cache_keys__free(cache);
}

static void counters_begin_again(void **state)
{
	struct cache_keys *cache = make(2, 1);

	report(cache, 1);
	report(cache, 2);
	count(cache, 1, 1000);
	count(cache, 2, 1000);
	cache_keys__end_period(cache);
	/* The switch was restarted, and then counted twice in the period. */
	count(cache, 1, 30);
	count(cache, 1, 50);
	count(cache, 2, 1070);
	assert_int_equal(cache_keys__end_period(cache), 51);
	assert_int_equal(count(cache, 3, 1), -ENOENT);
	cache_keys__free(cache);
}

static void threshold_has_bounds(void **state)
{
	struct cache_keys *cache = make(1, 100);

	report(cache, 1);
	cache_keys__end_period(cache);
	count(cache, 1, UINT64_MAX);
	assert_int_equal(cache_keys__end_period(cache), DART_TEA_SKETCH_MAX);
	assert_int_equal(report(cache, 2), CACHE_KEYS_REFUSED);
	/* Below the lowest. */
	count(cache, 1, 50);
	count(cache, 1, 60);
	assert_int_equal(cache_keys__end_period(cache), 100);
	assert_int_equal(report(cache, 2), CACHE_KEYS_EXCHANGED);
	cache_keys__free(cache);
}

/* ---- against a model */

#define NUMBERS	400

struct model {
	bool there[NUMBERS];
	uint32_t age[NUMBERS];	/* ends of periods since it was added */
	bool ranked[NUMBERS];
	uint64_t counter[NUMBERS];
	uint64_t counted[NUMBERS];
	uint64_t packets[NUMBERS];
	uint32_t size;
};

static void model__drop(struct model *model, uint32_t number)
{
	model->there[number] = false;
	model->ranked[number] = false;
	model->size--;
}

static void model__put(struct model *model, uint32_t number)
{
	model->there[number] = true;
	model->age[number] = 0;
	model->ranked[number] = false;
	model->counter[number] = 0;
	model->counted[number] = 0;
	model->size++;
}

static uint64_t model__least(const struct model *model)
{
	uint64_t least = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < NUMBERS; i++)
		if (model->ranked[i] && model->packets[i] < least)
			least = model->packets[i];
	return least;
}

static uint32_t number_of(const uint8_t key[KEY])
{
	return (uint32_t)key[5] << 8 | key[KEY - 1];
}

static void check_report(struct cache_keys *cache, struct model *model,
			 uint32_t number, uint32_t entries)
{
	const uint64_t least = model__least(model);
	uint8_t key[KEY], victim[KEY];
	enum cache_keys_verdict verdict = cache_keys__report(cache, key_of(number, key), victim);

	if (model->there[number]) {
		assert_int_equal(verdict, CACHE_KEYS_PRESENT);
	} else if (model->size < entries) {
		assert_int_equal(verdict, CACHE_KEYS_ADDED);
		model__put(model, number);
	} else if (least < cache_keys__threshold(cache)) {
		/* Any of the least used keys. */
		assert_int_equal(verdict, CACHE_KEYS_EXCHANGED);
		assert_true(model->ranked[number_of(victim)]);
		assert_int_equal(model->packets[number_of(victim)], least);
		model__drop(model, number_of(victim));
		model__put(model, number);
	} else {
		assert_int_equal(verdict, CACHE_KEYS_REFUSED);
	}
}

static void check_period(struct cache_keys *cache, struct model *model,
			 uint32_t entries, uint32_t lowest)
{
	const uint32_t threshold = cache_keys__end_period(cache);
	uint32_t ranked = 0, below = 0, i;

	for (i = 0; i < NUMBERS; i++) {
		if (!model->there[i])
			continue;
		model->packets[i] = model->counted[i];
		model->counted[i] = 0;
		model->ranked[i] = model->age[i]++ > 0;
		ranked += model->ranked[i];
		below += model->ranked[i] && model->packets[i] < threshold;
	}
	assert_in_range(threshold, lowest, DART_TEA_SKETCH_MAX);
	if (model->size < entries) {
		assert_int_equal(threshold, lowest);
	} else if (ranked && threshold > lowest && threshold < DART_TEA_SKETCH_MAX) {
		/* The threshold is just above one key, and a 16th or more are below. */
		const uint32_t yielding = (entries + 15) / 16;
		uint32_t equal = 0;

		for (i = 0; i < NUMBERS; i++)
			equal += model->ranked[i] && model->packets[i] == threshold - 1;
		assert_true(equal);
		assert_true(below >= (yielding < ranked ? yielding : ranked));
		assert_true(below - equal < yielding);
	}
}

static void check_keys(struct cache_keys *cache, const struct model *model)
{
	uint32_t i;

	for (i = 0; i < NUMBERS; i++)
		assert_int_equal(has(cache, i, model->counter[i]), model->there[i]);
}

static void random_steps(uint32_t entries, uint32_t lowest, uint64_t *random)
{
	struct cache_keys *cache = make(entries, lowest);
	struct model *model = calloc(1, sizeof(*model));
	uint32_t step, number;
	uint64_t packets;
	uint8_t key[KEY];

	assert_non_null(model);
	for (step = 0; step < 4000; step++) {
		number = random__below(random, NUMBERS);
		switch (random__below(random, 40)) {
		case 0:
			check_period(cache, model, entries, lowest);
			break;
		case 1:
			assert_int_equal(cache_keys__remove(cache, key_of(number, key)),
					 model->there[number] ? 0 : -ENOENT);
			if (model->there[number])
				model__drop(model, number);
			break;
		case 2 ... 20:
			packets = model->there[number] ? model->counter[number] : 0;
			packets += random__below(random, 3) ? random__below(random, 100) : 0;
			if (!random__below(random, 50))
				packets = random__below(random, 70000);
			assert_int_equal(count(cache, number, packets),
					 model->there[number] ? 0 : -ENOENT);
			if (!model->there[number])
				break;
			if (packets >= model->counter[number])
				model->counted[number] += packets - model->counter[number];
			else
				model->counted[number] += packets;
			model->counter[number] = packets;
			break;
		default:
			check_report(cache, model, number, entries);
		}
		if (step % 64 == 0)
			check_keys(cache, model);
	}
	check_keys(cache, model);
	free(model);
	cache_keys__free(cache);
}

static void agrees_with_model(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 15, 16, 17, 100, 399, 1000 };
	uint64_t random = SEED;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		random_steps(sizes[i], 1, &random);
		random_steps(sizes[i], 20, &random);
		random_steps(sizes[i], DART_TEA_SKETCH_MAX, &random);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("sizes are checked", settings_are_checked),
		TEST("a reported key is added while there is room", there_is_room),
		TEST("in a full cache the least used entry yields to a key that is used more",
		     least_used_yields),
		TEST("a counter that falls began again at 0", counters_begin_again),
		TEST("the threshold stays between the lowest one and the highest counter",
		     threshold_has_bounds),
		TEST("a model that searches all entries decides the same at random steps",
		     agrees_with_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
