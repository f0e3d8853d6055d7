// SPDX-License-Identifier: GPL-2.0-only
/* The capacity of a link. */
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/flow/capacity.h"

#define GBIT_S 1000000000ULL
#define MS 1000000ULL

static void add(struct capacity *capacity, int targets, uint64_t interval_ns, uint64_t bytes)
{
	while (targets--)
		capacity__add(capacity, interval_ns, bytes);
}

static void test_in_flight(void **state)
{
	/* The clusters and the deployment of the paper. */
	assert_int_equal(capacity__product(25 * GBIT_S), 18750);
	assert_int_equal(capacity__product(200 * GBIT_S), 150000);
	assert_int_equal(capacity__credit(100 * GBIT_S), 262144);
	assert_int_equal(capacity__credit(200 * GBIT_S), 500000);
	/* Slow, and not known. */
	assert_int_equal(capacity__credit(GBIT_S), 262144);
	assert_int_equal(capacity__credit(0), 262144);
	assert_int_equal(capacity__product(0), 16384);
}

static void test_rule(void **state)
{
	struct capacity capacity = {};
	char text[256] = "";

	/* 131,072 bytes ten times a second: 25 Gbit/s for 2,384 hosts. */
	add(&capacity, 2384, 100 * MS, 131072);
	assert_false(capacity__exceeds(&capacity, 25 * GBIT_S, text, sizeof(text)));
	assert_string_equal(text, "");
	add(&capacity, 1, 100 * MS, 131072);
	assert_true(capacity__exceeds(&capacity, 25 * GBIT_S, text, sizeof(text)));
	assert_string_equal(
		text,
		"2,384 of 2,385 agents fit at 100 ms: scrapes of 131,072 bytes on average need 25.0 Gbit/s, and the port has 25.0 (choose entries or longer intervals)");
	assert_false(capacity__exceeds(&capacity, 0, text, sizeof(text)));
}

static void test_one(void **state)
{
	struct capacity capacity = {};
	char text[256];

	add(&capacity, 1, 60000 * MS, 1ULL << 40);
	assert_true(capacity__exceeds(&capacity, 10 * GBIT_S, text, sizeof(text)));
	assert_memory_equal(text, "0 of 1 agents fit at 1 min: ", 28);
}

static void test_unknown(void **state)
{
	struct capacity capacity = {};
	char text[256];

	/* No target has a table yet: no statement is possible. */
	add(&capacity, 900, 100 * MS, 0);
	assert_false(capacity__exceeds(&capacity, 1, text, sizeof(text)));
	/* The check assumes that the 900 resemble the others: 1 MB on average. */
	add(&capacity, 50, 1000 * MS, 500000);
	add(&capacity, 50, 1000 * MS, 1500000);
	assert_false(capacity__exceeds(&capacity, 73 * GBIT_S, text, sizeof(text)));
	assert_true(capacity__exceeds(&capacity, 36 * GBIT_S, text, sizeof(text)));
	assert_memory_equal(
		text, "494 of 1,000 agents fit at their intervals: scrapes of 1,000,000 bytes", 70);
}

static void test_removed(void **state)
{
	struct capacity capacity = {}, empty = {};
	char text[256];
	int i;

	add(&capacity, 100, 100 * MS, 1000000);
	add(&capacity, 100, 100 * MS, 0);
	assert_true(capacity__exceeds(&capacity, 10 * GBIT_S, text, sizeof(text)));
	for (i = 0; i < 60; i++) {
		capacity__remove(&capacity, 100 * MS, 1000000);
		capacity__remove(&capacity, 100 * MS, 0);
	}
	assert_int_equal(capacity.targets, 80);
	assert_false(capacity__exceeds(&capacity, 10 * GBIT_S, text, sizeof(text)));
	assert_true(capacity__exceeds(&capacity, 6 * GBIT_S, text, sizeof(text)));
	assert_memory_equal(text, "75 of 80 agents fit at 100 ms: ", 31);
	for (i = 0; i < 40; i++) {
		capacity__remove(&capacity, 100 * MS, 1000000);
		capacity__remove(&capacity, 100 * MS, 0);
	}
	assert_memory_equal(&capacity, &empty, sizeof(empty));
}

/* A truncated sentence is still a sentence. */
static void test_short(void **state)
{
	struct capacity capacity = {};
	char text[8];

	add(&capacity, 2, MS, 1 << 20);
	assert_true(capacity__exceeds(&capacity, GBIT_S, text, sizeof(text)));
	assert_string_equal(text, "0 of 2 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("what may be in flight is that of the paper's networks, and of slow ones a minimum",
		     test_in_flight),
		TEST("as many agents fit as bandwidth by interval by bytes, and one more does not",
		     test_rule),
		TEST("an agent alone may not fit, and intervals are told in their unit", test_one),
		TEST("agents whose scrapes are not known are taken for average ones, unless none is known",
		     test_unknown),
		TEST("agents that are removed need no room any more", test_removed),
		TEST("a sentence that is too long is cut", test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
