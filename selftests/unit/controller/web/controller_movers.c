// SPDX-License-Identifier: GPL-2.0-only
/* Changes on a host: their order, and the distinction from chance. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tools/controller/web/movers.h"

#include "selftests/unit/unit.h"
#include "selftests/unit/controller/decode/controller_plans.h"

#define SECOND_US 1000000LL
#define BEGIN_US  1700000000000000LL
#define SPAN_S	  10

static const struct test_family families[] = {
	{ "forks_total", METRIC_COUNTER, NULL, NULL },
	{ "load", METRIC_GAUGE, NULL, NULL },
	{ "memory_bytes", METRIC_GAUGE, NULL, NULL },
	{ "node_netstat_Tcp_CurrEstab", METRIC_UNTYPED, NULL, NULL },
	{ "node_netstat_Tcp_InSegs", METRIC_UNTYPED, NULL, NULL },
	{ "read_bytes_total", METRIC_COUNTER, NULL, NULL },
	{ "wait_seconds_total", METRIC_COUNTER, NULL, NULL },
};
#define SERIES (sizeof(families) / sizeof(families[0]))

/* Values in the first span, and in the second: rates of counters, values of gauges. */
static json_t *compare(const double before[SERIES], const double now[SERIES])
{
	struct metric_plan *plan = test_plan__new(families, SERIES);
	struct history *history = history__new();
	struct metric_point points[SERIES] = { };
	const struct metric_scrape scrape = { .plan = plan, .points = points };
	struct json_text text = { };
	struct history_view view;
	int64_t time_us = 0;
	json_t *json;
	uint32_t k;
	int i;

	for (i = 0; i <= 2 * SPAN_S; i++) {
		time_us = BEGIN_US + i * SECOND_US;
		for (k = 0; k < SERIES; k++) {
			double value = i > SPAN_S ? now[k] : before[k];

			points[k].time_ns = time_us * 1000;
			if (families[k].type == METRIC_COUNTER ||
			    strstr(families[k].name, "InSegs"))
				points[k].value += value;
			else
				points[k].value = value;
		}
		assert_int_equal(history__append(history, &scrape), 0);
	}
	assert_int_equal(history__view(history, INT64_MIN, INT64_MAX, &view), 0);
	assert_int_equal(movers__print(&view, time_us, SPAN_S * SECOND_US, 10, &text), 0);
	json = json_loadb(text.bytes, text.length, 0, NULL);
	assert_true(json_is_array(json));
	json_text__clear(&text);
	history_view__clear(&view);
	history__free(history);
	metric_plan__put(plan);
	return json;
}

static const char *family_at(json_t *movers, size_t at)
{
	return json_string_value(json_object_get(json_array_get(movers, at), "family"));
}

static double number_at(json_t *movers, size_t at, const char *name)
{
	return json_number_value(json_object_get(json_array_get(movers, at), name));
}

static void test_order(void **state)
{
	static const double before[] = { 100, 20, 1e9, 50, 900, 1e6, 0.5 };
	static const double now[] = { 200, 20, 9e8, 50, 900, 1e7, 0.6 };
	json_t *movers = compare(before, now);

	assert_int_equal(json_array_size(movers), 4);
	assert_string_equal(family_at(movers, 0), "read_bytes_total");
	assert_string_equal(family_at(movers, 1), "forks_total");
	assert_string_equal(family_at(movers, 2), "wait_seconds_total");
	assert_string_equal(family_at(movers, 3), "memory_bytes");
	assert_true(number_at(movers, 1, "before") == 100);
	assert_true(number_at(movers, 1, "now") == 200);
	assert_true(number_at(movers, 3, "change") < 0);
	json_decref(movers);
}

/* For an untyped count the rates are compared, for another untyped value the values. */
static void test_untyped(void **state)
{
	static const double before[] = { 0, 0, 0, 50, 900, 0, 0 };
	static const double now[] = { 0, 0, 0, 100, 1200, 0, 0 };
	json_t *movers = compare(before, now);

	assert_int_equal(json_array_size(movers), 2);
	assert_string_equal(family_at(movers, 0), "node_netstat_Tcp_CurrEstab");
	assert_true(number_at(movers, 0, "now") == 100);
	assert_string_equal(family_at(movers, 1), "node_netstat_Tcp_InSegs");
	assert_true(number_at(movers, 1, "before") == 900);
	assert_true(number_at(movers, 1, "now") == 1200);
	json_decref(movers);
}

static void test_chance(void **state)
{
	static const double before[] = { 0, 0, 0, 7, 0, 0, 0 };
	static const double now[] = { 0, 0.005, 4096, 7, 0, 100, 0.0001 };
	json_t *movers = compare(before, now);

	assert_int_equal(json_array_size(movers), 0);
	json_decref(movers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("series are in the order of their relative change, with both values",
		     test_order),
		TEST("of counts without a type the rates are compared", test_untyped),
		TEST("what differs by chance has not changed, even from nothing", test_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
