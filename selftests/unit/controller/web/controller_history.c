// SPDX-License-Identifier: GPL-2.0-only
/* Columns of values and times, and the history of a target made of them. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tools/controller/web/history.h"

#include "selftests/unit/unit.h"
#include "selftests/unit/controller/decode/controller_plans.h"

#define COUNT	  500
#define SECOND_NS 1000000000LL
#define BEGIN_NS  1700000000000000000LL

static uint64_t bits_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void expect_values(const double *values, size_t count)
{
	struct value_column column = { };
	struct value_reader reader = { };
	double value;
	size_t i;

	for (i = 0; i < count; i++)
		assert_int_equal(value_column__append(&column, values[i]), 0);
	/* A copy of its exact size: the sanitizer notices reads beyond its end. */
	reader.length = value_column__bytes(&column);
	reader.bytes = memcpy(malloc(reader.length ?: 1), column.bytes, reader.length);
	for (i = 0; i < count; i++) {
		assert_true(value_reader__next(&reader, &value));
		assert_true(bits_of(value) == bits_of(values[i]));
	}
	free((uint8_t *)reader.bytes);
	value_column__clear(&column);
}

static void test_values(void **state)
{
	static const double values[] = {
		0, 0, 1, 2, 3, 3, 2, -0.0, 0, 0.1, 0.2, 0.3, 1e300, -1e300,
		INFINITY, -INFINITY, NAN, 4503599627370497.5, 9007199254740992,
		-9007199254740992, 9007199254740993, 18446744073709551615.0,
		1, 5e-324, 2.2250738585072014e-308, 42, 42, 43, 1e15, 1e15 + 1,
	};

	expect_values(values, sizeof(values) / sizeof(values[0]));
}

/* A typical shape of counters and gauges, or random bits. */
static double next_value(uint64_t *random, unsigned int shape, double before)
{
	uint64_t bits;
	double value;

	switch (shape) {
	case 0:
		return before + random__below(random, 1000);
	case 1:
		return before + random__below(random, 1000000) * 1e-9;
	case 2:
		return random__below(random, 20) ? before : random__below(random, 100);
	case 3:
		return (double)random__below(random, 1U << 31) * random__below(random, 1U << 31) -
		       4e15;
	default:
		bits = (uint64_t)random__below(random, UINT32_MAX) << 32 |
		       random__below(random, UINT32_MAX);
		memcpy(&value, &bits, sizeof(value));
		return value;
	}
}

static void test_random_values(void **state)
{
	uint64_t random = 1;
	double values[COUNT];
	unsigned int round, shape, i;

	for (round = 0; round < 2000; round++) {
		shape = round % 6;
		for (i = 0; i < COUNT; i++)
			values[i] = next_value(&random,
					       shape < 5 ? shape : random__below(&random, 5),
					       i ? values[i - 1] : 0);
		expect_values(values, 1 + random__below(&random, COUNT));
	}
}

static void test_foreign_bytes(void **state)
{
	struct value_reader values;
	struct time_reader times;
	uint64_t random = 2;
	uint8_t bytes[64];
	int64_t time_us;
	double value;
	unsigned int round, i;

	for (round = 0; round < 20000; round++) {
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = random__below(&random, 256);
		values = (struct value_reader){ .bytes = bytes };
		values.length = random__below(&random, sizeof(bytes) + 1);
		times = (struct time_reader){ .bytes = bytes };
		times.length = values.length;
		for (i = 0; value_reader__next(&values, &value); i++)
			assert_true(i <= sizeof(bytes) * 8);
		for (i = 0; time_reader__next(&times, &time_us); i++)
			assert_true(i <= sizeof(bytes));
	}
}

static void test_random_times(void **state)
{
	uint64_t random = 3;
	int64_t times[COUNT], time_us;
	unsigned int round, i;

	for (round = 0; round < 500; round++) {
		struct time_column column = { };
		struct time_reader reader = { };

		for (i = 0; i < COUNT; i++) {
			if (round % 2)
				times[i] = (int64_t)((uint64_t)random__below(&random, UINT32_MAX)
						     << 32);
			else
				times[i] = (i ? times[i - 1] : BEGIN_NS / 1000) + 999000 +
					   random__below(&random, 2000);
			assert_int_equal(time_column__append(&column, times[i]), 0);
		}
		reader.bytes = column.bytes;
		reader.length = column.length;
		for (i = 0; i < COUNT; i++) {
			assert_true(time_reader__next(&reader, &time_us));
			assert_int_equal(time_us, times[i]);
		}
		assert_false(time_reader__next(&reader, &time_us));
		if (!(round % 2)) /* microseconds of jitter cost two bytes */
			assert_true(column.length <= COUNT * 2 + 16);
		time_column__clear(&column);
	}
}

/* ---- histories */

static const char *const numbers[] = { "0", "1", "2", "3", "4", "5", "6", "7", NULL };
static const struct test_family families[] = {
	{ "a_total", METRIC_COUNTER, "n", numbers },
	{ "b", METRIC_GAUGE, "n", numbers },
	{ "c", METRIC_GAUGE, NULL, NULL },
};
#define SERIES 17

static struct metric_plan *make_plan(void)
{
	return test_plan__new(families, 3);
}

/* The value and the time of a series in a scrape, with torn rows and diverging clocks. */
static struct metric_point point_of(uint32_t scrape, uint32_t series)
{
	const int64_t jitter = scrape % 7 * 1000 * (series % 3);

	if (scrape % 11 == series)
		return (struct metric_point){ };
	return (struct metric_point){
		.value = series < 8 ? scrape * (series + 0.5) : sin(scrape * 0.1) * series,
		.time_ns = BEGIN_NS + scrape * SECOND_NS + jitter,
	};
}

static void append(struct history *history, struct metric_plan *plan, uint32_t scrape)
{
	struct metric_point points[SERIES];
	const struct metric_scrape told = {
		.plan = plan,
		.points = points,
		.time_ns = BEGIN_NS + scrape * SECOND_NS,
	};
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		points[i] = point_of(scrape, i);
	assert_int_equal(history__append(history, &told), 0);
}

/* All points from scrape @first on are in @history, in their order. */
static uint32_t expect_all(struct history *history, int64_t first, uint32_t count)
{
	struct history_view view;
	struct history_reader reader;
	struct metric_point expected;
	uint32_t scrape, i, k, seen = 0;
	int64_t time_us;
	double value;
	size_t chunk;

	assert_int_equal(history__view(history, INT64_MIN, INT64_MAX, &view), 0);
	for (chunk = 0; chunk < view.count; chunk++)
		seen += history_chunk__scrapes(view.chunks[chunk]);
	if (first < 0)
		first = count - seen;
	assert_int_equal(seen, count - first);
	scrape = first;
	for (chunk = 0; chunk < view.count; chunk++) {
		for (i = 0; i < SERIES; i++) {
			history_reader__init(&reader, view.chunks[chunk], i);
			for (k = 0; history_reader__next(&reader, &time_us, &value); k++) {
				expected = point_of(scrape + k, i);
				assert_int_equal(value_column__is_gap(value), !expected.time_ns);
				if (!expected.time_ns)
					continue;
				assert_true(value == expected.value);
				assert_int_equal(time_us, expected.time_ns / 1000);
			}
			assert_int_equal(k, history_chunk__scrapes(view.chunks[chunk]));
		}
		scrape += history_chunk__scrapes(view.chunks[chunk]);
	}
	history_view__clear(&view);
	return seen;
}

static void test_history(void **state)
{
	struct metric_plan *plan = make_plan();
	struct history *history = history__new();
	uint32_t i;

	assert_non_null(history);
	for (i = 0; i < 3 * HISTORY_CHUNK_SCRAPES + 5; i++) {
		append(history, plan, i);
		if (i % 50 == 0)
			expect_all(history, 0, i + 1);
	}
	expect_all(history, 0, i);
	assert_int_equal(history__points(history), i * SERIES);
	history__free(history);
	metric_plan__put(plan);
}

static void test_bounds(void **state)
{
	struct metric_plan *plan = make_plan();
	struct history *history = history__new();
	uint32_t i, kept;

	for (i = 0; i < 2000; i++) {
		append(history, plan, i);
		history__trim(history, 40000, INT64_MIN);
		assert_true(history__bytes(history) <= 40000);
	}
	kept = expect_all(history, -1, i);
	assert_in_range(kept, 100, 1000);

	/* By age: the remaining points begin with a whole chunk. */
	history__trim(history, SIZE_MAX, (BEGIN_NS + (i - 10) * SECOND_NS) / 1000);
	assert_in_range(expect_all(history, -1, i), 10, HISTORY_CHUNK_SCRAPES * 2);

	/* Not even the growing chunk fits. */
	history__trim(history, 100, INT64_MIN);
	assert_int_equal(history__points(history), 0);
	append(history, plan, 0);
	assert_int_equal(expect_all(history, 0, 1), 1);
	history__free(history);
	metric_plan__put(plan);
}

static void test_plans(void **state)
{
	struct history *history = history__new();
	struct metric_plan *plan = NULL;
	size_t before;
	uint32_t i;

	for (i = 0; i < 1000; i++) {
		if (i % 3 == 0) {
			if (plan)
				metric_plan__put(plan);
			plan = make_plan();
		}
		append(history, plan, i);
		before = history__bytes(history);
		history__trim(history, 100000, INT64_MIN);
		assert_true(history__bytes(history) <= before);
	}
	/* Old plans are counted as well: there are fewer scrapes than bytes of points allow. */
	assert_in_range(expect_all(history, -1, i), 20, 200);
	history__free(history);
	metric_plan__put(plan);
}

static void test_views(void **state)
{
	struct metric_plan *plan = make_plan();
	struct history *history = history__new();
	struct history_view view;
	struct history_reader reader;
	int64_t time_us;
	double value;
	uint32_t i;

	for (i = 0; i < 300; i++)
		append(history, plan, i);
	assert_int_equal(history__view(history, (BEGIN_NS + 130 * SECOND_NS) / 1000,
				       (BEGIN_NS + 150 * SECOND_NS) / 1000, &view),
			 0);
	assert_int_equal(view.count, 1);
	history__free(history);
	metric_plan__put(plan);
	/* The view holds its chunks and their plan. */
	assert_string_equal(history_chunk__plan(view.chunks[0])->families[0].name, "a_total");
	history_reader__init(&reader, view.chunks[0], 16);
	for (i = 0; history_reader__next(&reader, &time_us, &value); i++)
		assert_int_equal(time_us / 1000000, BEGIN_NS / SECOND_NS + 120 + i);
	assert_int_equal(i, HISTORY_CHUNK_SCRAPES);
	history_view__clear(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("values of each kind are read as they were written, bit by bit", test_values),
		TEST("a million values in the shapes of counters and gauges, and any bits, are read as they were written",
		     test_random_values),
		TEST("times with jitter cost two bytes, and any times are read as they were written",
		     test_random_times),
		TEST("columns of any bytes end, and nothing behind them is read",
		     test_foreign_bytes),
		TEST("a history has the points of each series with their own times, and the gaps of torn rows",
		     test_history),
		TEST("a history stays within its bytes and its age, and drops the oldest first",
		     test_bounds),
		TEST("plans that only the past has count as its bytes", test_plans),
		TEST("a view stays readable after its history has ended", test_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
