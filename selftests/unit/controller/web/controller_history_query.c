// SPDX-License-Identifier: GPL-2.0-only
/* The past in plots: groups of series, rates, and envelopes. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include <libdart/clock.h>

#include "tools/controller/web/history_query.h"

#include "selftests/unit/unit.h"
#include "selftests/unit/controller/decode/controller_plans.h"

#define SECOND_US 1000000LL
#define BEGIN_US  1700000000000000LL

static const char *const modes[] = { "idle", "system", "user", NULL };
static const char *const fewer_modes[] = { "idle", "user", NULL };
static const struct test_family families[] = {
	{ "cpu_total", METRIC_COUNTER, "mode", modes },
	{ "load", METRIC_GAUGE, NULL, NULL },
};
static const struct test_family fewer_families[] = {
	{ "cpu_total", METRIC_COUNTER, "mode", fewer_modes },
};

static void append(struct history *history, struct metric_plan *plan,
		   int64_t time_us, const double *values)
{
	struct metric_point points[8];
	const struct metric_scrape scrape = {
		.plan = plan,
		.points = points,
		.time_ns = time_us * 1000,
	};
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		points[i] = (struct metric_point){ values[i], time_us * 1000 };
	assert_int_equal(history__append(history, &scrape), 0);
}

/* The answer as a tree. */
static json_t *ask(struct history *history, const struct selection_query *query,
		   int64_t from_us, int64_t to_us, uint32_t buckets)
{
	const struct envelope_span span = { from_us, to_us, buckets };
	struct json_text text = { };
	struct history_view view;
	json_error_t error;
	json_t *json;

	assert_int_equal(history__view(history, INT64_MIN, INT64_MAX, &view), 0);
	assert_int_equal(history_query__print(&view, query, &span, &text), 0);
	json = json_loadb(text.bytes, text.length, 0, &error);
	if (!json)
		fail_msg("%s: %.*s", error.text, (int)text.length, text.bytes);
	json_text__clear(&text);
	history_view__clear(&view);
	return json;
}

static const char *labels_of(json_t *json, size_t group)
{
	return json_string_value(
		json_object_get(json_array_get(json_object_get(json, "groups"), group), "labels"));
}

static double number_at(json_t *json, size_t group, const char *name, size_t at)
{
	json_t *object = json_array_get(json_object_get(json, "groups"), group);

	return json_number_value(json_array_get(json_object_get(object, name), at));
}

static size_t group_count(json_t *json)
{
	return json_array_size(json_object_get(json, "groups"));
}

static void test_rates(void **state)
{
	const struct selection_query each = { .family = "cpu_total" };
	const struct selection_query sum = { .family = "cpu_total", .by = "" };
	const struct selection_query raw = { .family = "cpu_total",
					     .label = "mode",
					     .value = "user",
					     .rate = SELECTION_RATE_NEVER };
	struct metric_plan *plan = test_plan__new(families, 2);
	struct history *history = history__new();
	json_t *json;
	int i;

	for (i = 0; i < 10; i++) {
		const double values[] = { i * 0.5, i * 0.25, i == 7 ? 0 : i, 3 };

		append(history, plan, BEGIN_US + i * SECOND_US, values);
	}
	json = ask(history, &each, BEGIN_US, BEGIN_US + 10 * SECOND_US, 1000);
	assert_true(json_is_true(json_object_get(json, "rate")));
	assert_int_equal(group_count(json), 3);
	assert_string_equal(labels_of(json, 1), "mode=\"system\"");
	assert_int_equal(json_array_size(json_object_get(json, "t")), 9);
	assert_true(number_at(json, 0, "min", 4) == 0.5);
	assert_true(number_at(json, 1, "min", 8) == 0.25);
	/* The counter began again with 0, and was 8 a second later. */
	assert_true(number_at(json, 2, "min", 5) == 1);
	assert_true(number_at(json, 2, "min", 6) == 0);
	assert_true(number_at(json, 2, "min", 7) == 8);
	json_decref(json);

	json = ask(history, &sum, BEGIN_US, BEGIN_US + 10 * SECOND_US, 1000);
	assert_int_equal(group_count(json), 1);
	assert_string_equal(labels_of(json, 0), "");
	assert_true(number_at(json, 0, "min", 3) == 1.75);
	json_decref(json);

	json = ask(history, &raw, BEGIN_US, BEGIN_US + 10 * SECOND_US, 1000);
	assert_true(json_is_false(json_object_get(json, "rate")));
	assert_int_equal(group_count(json), 1);
	assert_true(number_at(json, 0, "min", 9) == 9);
	json_decref(json);
	history__free(history);
	metric_plan__put(plan);
}

/* The kernel counts every 2 s, the host is read every 0.5 s. */
static void test_pressure(void **state)
{
	static const struct test_family pressures[] = {
		{ "node_pressure_cpu_waiting_seconds_total", METRIC_COUNTER, NULL, NULL },
	};
	const struct selection_query query = { .family =
						       "node_pressure_cpu_waiting_seconds_total" };
	struct metric_plan *plan = test_plan__new(pressures, 1);
	struct history *history = history__new();
	double value, rate;
	json_t *json;
	int i;

	for (i = 0; i < 40; i++) {
		/* A quarter of the time, until 12 s; then more than can be, counted late. */
		value = i < 24 ? i / 4 * 0.5 : i < 32 ? 2.5 : 20;
		append(history, plan, BEGIN_US + i * SECOND_US / 2, &value);
	}
	json = ask(history, &query, BEGIN_US, BEGIN_US + 20 * SECOND_US, 1000);
	for (i = 8; i < 24; i++) {
		rate = number_at(json, 0, "min", i - 4);
		if (rate != 0.25)
			fail_msg("%g at %d", rate, i);
	}
	/* It last grew at 10 s: 2 s later it may still grow, 2.5 s later it did not. */
	assert_true(number_at(json, 0, "min", 24 - 4) == 0.25);
	assert_true(number_at(json, 0, "min", 25 - 4) == 0);
	assert_true(number_at(json, 0, "min", 32 - 4) == 1);
	json_decref(json);
	history__free(history);
	metric_plan__put(plan);
}

static void test_envelope(void **state)
{
	const struct selection_query query = { .family = "load" };
	struct metric_plan *plan = test_plan__new(families, 2);
	struct history *history = history__new();
	double mean;
	json_t *json;
	int i;

	for (i = 0; i < 1000; i++) {
		const double values[] = { 0, 0, 0, i == 777 ? 1000 : i % 2 };

		append(history, plan, BEGIN_US + i * SECOND_US / 10, values);
	}
	json = ask(history, &query, BEGIN_US, BEGIN_US + 100 * SECOND_US, 10);
	assert_int_equal(json_array_size(json_object_get(json, "t")), 10);
	for (i = 0; i < 10; i++) {
		assert_true(number_at(json, 0, "min", i) == 0);
		assert_true(number_at(json, 0, "max", i) == (i == 7 ? 1000 : 1));
		mean = number_at(json, 0, "mean", i);
		assert_true(fabs(mean - (i == 7 ? 10.49 : 0.5)) < 1e-9);
	}
	json_decref(json);
	/* A part of the time, where some buckets contain no point. */
	json = ask(history, &query, BEGIN_US + 99 * SECOND_US, BEGIN_US + 101 * SECOND_US, 40);
	assert_int_equal(json_array_size(json_object_get(json, "t")), 10);
	assert_true(number_at(json, 0, "min", 9) == 1);
	json_decref(json);
	history__free(history);
	metric_plan__put(plan);
}

static void test_changes(void **state)
{
	const struct selection_query query = { .family = "cpu_total" };
	struct metric_plan *plan = test_plan__new(families, 2);
	struct metric_plan *fewer = test_plan__new(fewer_families, 1);
	struct history *history = history__new();
	const double values[] = { 1, 2, 3, 0 }, more[] = { 2, 4, 6, 0 };
	const double less[] = { 3, 9 };
	json_t *json;

	append(history, plan, BEGIN_US, values);
	append(history, plan, BEGIN_US + SECOND_US, more);
	append(history, fewer, BEGIN_US + 2 * SECOND_US, less);
	json = ask(history, &query, BEGIN_US, BEGIN_US + 3 * SECOND_US, 100);
	assert_int_equal(group_count(json), 3);
	/* Rates go on across plans. */
	assert_true(number_at(json, 2, "min", 1) == 3);
	assert_true(json_is_null(json_array_get(
		json_object_get(json_array_get(json_object_get(json, "groups"), 1), "min"), 1)));
	json_decref(json);
	history__free(history);
	metric_plan__put(plan);
	metric_plan__put(fewer);
}

static void test_nothing(void **state)
{
	const struct selection_query queries[] = {
		{ .family = "none" },
		{ .family = "cpu_total", .label = "mode", .value = "nice" },
		{ .family = "" },
	};
	struct metric_plan *plan = test_plan__new(families, 2);
	struct history *history = history__new();
	const double values[] = { 1, 2, 3, 0 };
	json_t *json;
	size_t i;

	for (i = 0; i < 3; i++) {
		json = ask(history, &queries[i], 0, 1, 1);
		assert_int_equal(group_count(json), 0);
		json_decref(json);
		append(history, plan, BEGIN_US + i * SECOND_US, values);
	}
	history__free(history);
	metric_plan__put(plan);
}

/* Against the same done the simple way, from points in an array. */
static void test_random(void **state)
{
	const struct selection_query query = { .family = "load" };
	struct metric_plan *plan = test_plan__new(families, 2);
	double least[64], greatest[64], values[4] = { };
	struct history *history;
	uint64_t random = 5;
	unsigned int round, i, count, at;
	int64_t time_us, width;
	json_t *json;

	for (round = 0; round < 200; round++) {
		history = history__new();
		count = 1 + random__below(&random, 63);
		width = 1000 * (1 + random__below(&random, 100));
		for (i = 0; i < count; i++)
			least[i] = INFINITY, greatest[i] = -INFINITY;
		time_us = BEGIN_US;
		for (i = 0; i < 400; i++) {
			values[3] = random__below(&random, 1000);
			append(history, plan, time_us, values);
			at = (time_us - BEGIN_US) / width;
			if (at < count) {
				least[at] = fmin(least[at], values[3]);
				greatest[at] = fmax(greatest[at], values[3]);
			}
			time_us += 1 + random__below(&random, 20000);
		}
		/* Times lie at least a microsecond before each border, except the very last. */
		json = ask(history, &query, BEGIN_US, BEGIN_US + count * width, count);
		for (i = at = 0; i < count; i++) {
			if (!isfinite(least[i]))
				continue;
			assert_true(number_at(json, 0, "min", at) <= least[i]);
			if (i < count - 1)
				assert_true(number_at(json, 0, "min", at) == least[i]);
			at++;
		}
		assert_true(json_array_size(json_object_get(json, "t")) - at <= 1);
		json_decref(json);
		history__free(history);
	}
	metric_plan__put(plan);
}

#define CONTAINERS 1000
#define PLANS 300

/* CPU time of a question for containers, of which @ended end before each plan, and others begin. */
static int64_t cost_of(unsigned int ended)
{
	static char names[CONTAINERS + PLANS * 10][16];
	static const char *values[CONTAINERS + 1];
	const struct test_family family = { "memory", METRIC_GAUGE, "name", values };
	const struct selection_query query = { .family = "memory", .by = "name" };
	const struct envelope_span span = { BEGIN_US, BEGIN_US + PLANS * SECOND_US, 100 };
	struct history *history = history__new();
	struct metric_point points[CONTAINERS];
	struct metric_scrape scrape = { .points = points };
	struct json_text text = {};
	struct history_view view;
	struct metric_plan *plan;
	unsigned int i, k;
	int64_t begun_ns;

	for (k = 0; k < CONTAINERS + PLANS * ended; k++)
		snprintf(names[k], sizeof(names[k]), "c%05u", k);
	for (i = 0; i < PLANS; i++) {
		for (k = 0; k < CONTAINERS; k++)
			values[k] = names[i * ended + k];
		plan = test_plan__new(&family, 1);
		scrape.plan = plan;
		scrape.time_ns = (BEGIN_US + i * SECOND_US) * 1000;
		for (k = 0; k < CONTAINERS; k++)
			points[k] = (struct metric_point){ k, scrape.time_ns };
		assert_int_equal(history__append(history, &scrape), 0);
		metric_plan__put(plan);
	}
	assert_int_equal(history__view(history, INT64_MIN, INT64_MAX, &view), 0);
	begun_ns = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(history_query__print(&view, &query, &span, &text), 0);
	begun_ns = dart_clock__ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
	json_text__clear(&text);
	history_view__clear(&view);
	history__free(history);
	return begun_ns;
}

static void test_many_ended(void **state)
{
	assert_in_range(cost_of(10), 1, 5 * cost_of(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("counters become rates, each or added up, also when they begin again",
		     test_rates),
		TEST("the rate of a pressure stays while the kernel has not counted, and is 1 at most",
		     test_pressure),
		TEST("a spike of one point in a thousand is in its bucket's maximum",
		     test_envelope),
		TEST("series that end have holes, and rates of others go on with the next plan",
		     test_changes),
		TEST("containers that come and go cost about as much as others", test_many_ended),
		TEST("families and labels that no series has give no group", test_nothing),
		TEST("buckets of random points have their least values", test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
