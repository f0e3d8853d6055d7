// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of objects that come and go stay small. */
#include <stdbool.h>

#include <libdart/rdma/slots_internal.h>

#include "selftests/unit/unit.h"

#define COUNT 64

static uint32_t take(struct dart_numbers *numbers)
{
	uint32_t number;

	assert_int_equal(dart_numbers__take(numbers, &number), 0);
	return number;
}

static void test_new(void **state)
{
	struct dart_numbers numbers = {};

	for (uint32_t i = 0; i < COUNT; i++)
		assert_int_equal(take(&numbers), i);
	dart_numbers__close(&numbers);
}

static void test_again(void **state)
{
	struct dart_numbers numbers = {};

	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(take(&numbers), 0);
		dart_numbers__give_back(&numbers, 0);
	}
	dart_numbers__close(&numbers);
}

/*
 * At most COUNT numbers are in use at once, at random: no two are equal, and all are below COUNT.
 */
static void test_churn(void **state)
{
	struct dart_numbers numbers = {};
	bool is_given[COUNT] = {};
	uint32_t given[COUNT], number, place, count = 0;
	uint64_t seed = 1;

	for (int i = 0; i < 100000; i++) {
		if (count < COUNT && (!count || random__below(&seed, 2))) {
			number = take(&numbers);
			assert_true(number < COUNT);
			assert_false(is_given[number]);
			is_given[number] = true;
			given[count++] = number;
		} else {
			place = random__below(&seed, count);
			number = given[place];
			given[place] = given[--count];
			is_given[number] = false;
			dart_numbers__give_back(&numbers, number);
		}
	}
	dart_numbers__close(&numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("numbers are given from 0 on", test_new),
		TEST("a number that was given back is given again", test_again),
		TEST("what comes and goes at random has different numbers, below the most at once",
		     test_churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
