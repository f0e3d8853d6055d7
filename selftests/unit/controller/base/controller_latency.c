// SPDX-License-Identifier: GPL-2.0-only
/* Percentiles of times are as exact as they promise. */
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/latency.h"

#define TIMES 5000

static struct latency latency;

static int clear(void **state)
{
	memset(&latency, 0, sizeof(latency));
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* 0.8 % and 8 ns. */
static void assert_close(uint64_t found, uint64_t exact)
{
	const uint64_t error = exact / 125 + 8;

	assert_in_range(found, exact > error ? exact - error : 0, exact + error);
}

/* Of @count times below 2^@bits ns, each power of two as often as any other. */
static void check_percentiles(unsigned int bits, uint64_t *seed)
{
	static uint64_t times[TIMES];
	unsigned int i, percent;

	clear(NULL);
	for (i = 0; i < TIMES; i++) {
		times[i] = ((uint64_t)random__below(seed, 1U << 31) << 31 |
			    random__below(seed, 1U << 31)) &
			   ((1ULL << random__below(seed, bits + 1)) - 1);
		latency__add(&latency, times[i]);
	}
	qsort(times, TIMES, sizeof(*times), compare);
	assert_int_equal(latency.min, times[0]);
	assert_int_equal(latency.max, times[TIMES - 1]);
	for (percent = 1; percent <= 100; percent++)
		assert_close(latency__percentile(&latency, percent),
			     times[(TIMES * percent + 99) / 100 - 1]);
}

static void test_percentiles(void **state)
{
	uint64_t seed = 7;

	for (unsigned int bits = 1; bits <= 34; bits++)
		check_percentiles(bits, &seed);
}

/* Each edge of a bucket, from both sides. */
static void test_edges(void **state)
{
	for (uint64_t ns = 1; ns < 1ULL << 34; ns += 1 + ns / 1000) {
		clear(NULL);
		/* Values on both sides: the value is neither minimum nor maximum. */
		latency__add(&latency, 0);
		latency__add(&latency, ns);
		latency__add(&latency, 1ULL << 34);
		assert_close(latency__percentile(&latency, 50), ns);
	}
}

static void test_few(void **state)
{
	assert_int_equal(latency__percentile(&latency, 50), 0);
	latency__add(&latency, 12345);
	for (unsigned int percent = 0; percent <= 100; percent++)
		assert_int_equal(latency__percentile(&latency, percent), 12345);
	latency__add(&latency, UINT64_MAX);
	assert_int_equal(latency__percentile(&latency, 99), UINT64_MAX);
	assert_close(latency__percentile(&latency, 50), 12345);
	assert_int_equal(latency.max, UINT64_MAX);
}

static void test_overflow(void **state)
{
	unsigned int i, ten = 0;

	for (i = 0; i < 10; i++)
		latency__add(&latency, 1000000);
	for (i = 0; i < LATENCY_BUCKETS; i++) {
		if (latency.buckets[i] == 10)
			ten = i;
	}
	assert_true(ten);
	latency.buckets[ten] = UINT32_MAX;
	latency.buckets[ten + 1] = UINT32_MAX / 2;
	latency__add(&latency, 1000000);
	assert_int_equal(latency.buckets[ten], UINT32_MAX / 2 + 1);
	assert_int_equal(latency.buckets[ten + 1], UINT32_MAX / 4);
	assert_int_equal(latency.count, 11);
	assert_close(latency__percentile(&latency, 50), 1000000);
}

static void test_size(void **state)
{
	assert_in_range(sizeof(struct latency), 1, 6500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("percentiles of times up to 17 s are within 0.8 % and 8 ns",
			     test_percentiles, clear, NULL),
		TEST_FIXTURE("so are those at the edges of buckets", test_edges,
			     clear, NULL),
		TEST_FIXTURE("minimum and maximum are exact, and bound all percentiles",
			     test_few, clear, NULL),
		TEST_FIXTURE("a bucket does not overflow: what was long ago counts less",
			     test_overflow, clear, NULL),
		TEST_FIXTURE("a histogram takes 6.5 kB at most", test_size, clear, NULL),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
