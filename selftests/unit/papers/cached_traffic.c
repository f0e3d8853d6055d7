// SPDX-License-Identifier: GPL-2.0-only
/* The sketch of a switch, and traffic through it and its cache. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers/tea/cached_traffic.h"
#include "papers/tea/tea_sketch.h"
#include "tools/bench/zipf.h"
#include "selftests/unit/unit.h"

#define SEED	0x5eed
#define KEYS	3000
#define OFF	0	/* threshold */

static struct tea_sketch *sketch_new(void)
{
	struct tea_sketch *sketch = calloc(1, sizeof(*sketch));

	assert_non_null(sketch);
	return sketch;
}

static struct tea_sketch_key random_key(uint64_t *random)
{
	return (struct tea_sketch_key){
		.row_0 = random__below(random, UINT32_MAX) * 2654435761u,
		.row_1 = random__below(random, UINT32_MAX) * 2246822519u,
	};
}

/* Thresholds show the estimate: the highest threshold at which a key is popular. */
static void estimates_are_never_too_low(void **state)
{
	struct tea_sketch *sketch = sketch_new();
	struct tea_sketch_key *keys = calloc(KEYS, sizeof(*keys));
	uint32_t *counts = calloc(KEYS, sizeof(*counts));
	uint64_t random = SEED;
	uint32_t i, exact = 0;

	assert_non_null(keys);
	assert_non_null(counts);
	for (i = 0; i < KEYS; i++)
		keys[i] = random_key(&random);
	for (i = 0; i < 100 * KEYS; i++) {
		const uint32_t key = random__below(&random, KEYS);

		assert_false(tea_sketch__packet(sketch, &keys[key], OFF));
		counts[key]++;
	}
	for (i = 0; i < KEYS; i++) {
		const struct tea_sketch_key key = keys[i];
		const uint16_t values[] = {
			sketch->counters[0][key.row_0 & 0xffff],
			sketch->counters[1][key.row_0 >> 16],
			sketch->counters[2][key.row_1 & 0xffff],
			sketch->counters[3][key.row_1 >> 16],
		};
		uint32_t least = UINT32_MAX, row;

		for (row = 0; row < 4; row++)
			least = values[row] < least ? values[row] : least;
		assert_true(least >= counts[i]);
		exact += least == counts[i];
	}
	/* 3,000 keys in 65,536 counters: that all four are shared is rare. */
	assert_true(exact > KEYS - 3);
	free(counts);
	free(keys);
	free(sketch);
}

static void keys_are_reported_once(void **state)
{
	struct tea_sketch *sketch = sketch_new();
	const struct tea_sketch_key key = { 0x12345678, 0x9abcdef0 };
	/* Shares three counters, and one bit of the filter. */
	const struct tea_sketch_key other = { 0x12345678, 0x9abc1111 };
	uint32_t i, period;

	for (period = 0; period < 2; period++) {
		for (i = 1; i < 10; i++)
			assert_false(tea_sketch__packet(sketch, &key, 10));
		assert_true(tea_sketch__packet(sketch, &key, 10));
		for (i = 0; i < 70000; i++)
			assert_false(tea_sketch__packet(sketch, &key, 10));
		assert_int_equal(sketch->counters[0][0x5678], 65535);
		assert_int_equal(sketch->counters[3][0x9abc], 65535);

		/* The counter that is not shared decides. */
		for (i = 1; i < 10; i++)
			assert_false(tea_sketch__packet(sketch, &other, 10));
		assert_true(tea_sketch__packet(sketch, &other, 10));
		assert_int_equal(sketch->counters[2][0x1111], 10);
		tea_sketch__clear(sketch);
		assert_int_equal(sketch->counters[0][0x5678], 0);
	}
	free(sketch);
}

static void packets_have_the_distribution(void **state)
{
	struct zipf *zipf = zipf__new(1000, 0.99);
	struct dart_random random = dart_random__of(SEED);
	uint32_t counts[1000] = { 0 }, i, below = 0;
	const double expected = zipf__below(zipf, 1);

	for (i = 0; i < 1000000; i++) {
		const uint32_t number = zipf__next(zipf, &random);

		assert_in_range(number, 0, 999);
		counts[number]++;
	}
	/* Within five standard deviations. */
	assert_true(fabs(counts[0] - 1e6 * expected) < 5 * sqrt(1e6 * expected));
	assert_true(fabs(counts[9] - 1e6 * expected / pow(10, 0.99)) <
		    5 * sqrt(1e6 * expected / 9));
	for (i = 0; i < 100; i++)
		below += counts[i];
	assert_true(fabs(below / 1e6 - zipf__below(zipf, 100)) < 5 * 0.5e-3);
	assert_true(fabs(zipf__below(zipf, 2000) - 1) < 1e-12);
	zipf__free(zipf);

	zipf = zipf__new(1, 0);
	assert_int_equal(zipf__next(zipf, &random), 0);
	zipf__free(zipf);
}

static void cache_absorbs(void **state)
{
	struct cached_traffic traffic = {
		.flows = 20000, .skew = 0.99, .cache = 64, .threshold = 16,
		.period = 50000, .warm = 3, .periods = 2, .seed = 1,
	};
	struct cached_load load, again;
	uint64_t all = 0, missed = 0;
	uint32_t i;

	cached_traffic__run(&traffic, &load);
	assert_int_equal(load.packets, 100000);
	for (i = 0; i < DART_TEA_SHARES; i++) {
		assert_true(load.missed[i] <= load.all[i]);
		all += load.all[i];
		missed += load.missed[i];
	}
	assert_int_equal(all, load.packets);
	assert_int_equal(missed, load.packets - load.absorbed);
	/* Nearly the result of a cache that knows the flows. */
	assert_true((double)load.absorbed / load.packets > load.best - 0.02);
	assert_true((double)load.absorbed / load.packets < load.best + 0.02);

	cached_traffic__run(&traffic, &again);
	assert_memory_equal(&again, &load, sizeof(load));
	traffic.cache = 0;
	cached_traffic__run(&traffic, &load);
	assert_int_equal(load.absorbed, 0);
	assert_memory_equal(load.missed, load.all, sizeof(load.all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an estimate is never below the packets of a key, and rarely above",
		     estimates_are_never_too_low),
		TEST("a popular key is reported once in a period, counters stay at 65535",
		     keys_are_reported_once),
		TEST("packets by flow have a Zipf distribution", packets_have_the_distribution),
		TEST("a cache absorbs nearly as much as if it knew all flows, the same in each run",
		     cache_absorbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
