// SPDX-License-Identifier: GPL-2.0-only
/* Epochs of tables: none is repeated while clocks jump, and 24 bits wrap. */
#include <dart/tea.h>

#include "agent/tea/table_kept.h"
#include "selftests/unit/unit.h"

#define MAX DART_TEA_EPOCH_MAX

static void test_first(void **state)
{
	assert_int_equal(table_epoch__next(0, 0), 1);
	assert_int_equal(table_epoch__next(0, 99), 100);
	assert_int_equal(table_epoch__next(0, MAX - 1), MAX);
	assert_int_equal(table_epoch__next(0, MAX), 1);
}

static void test_clock(void **state)
{
	/* It goes on. */
	assert_int_equal(table_epoch__next(100, 199), 200);
	/* It stands still, or is set back. */
	assert_int_equal(table_epoch__next(100, 99), 101);
	assert_int_equal(table_epoch__next(100, 5), 101);
	/* The clock is so far back that the number could be ahead. */
	assert_int_equal(table_epoch__next(100, MAX / 2 + 200), 101);
}

static void test_wrap(void **state)
{
	assert_int_equal(table_epoch__next(MAX, MAX - 1), 1);
	assert_int_equal(table_epoch__next(MAX - 1, MAX - 2), MAX);
	assert_int_equal(table_epoch__next(MAX - 5, MAX + 7), 8);
	assert_int_equal(table_epoch__next(3, MAX - 4), 4);
}

static void test_order(void **state)
{
	assert_true(table_epoch__is_behind(5, 0));
	assert_true(table_epoch__is_behind(5, 4));
	assert_false(table_epoch__is_behind(5, 5));
	assert_false(table_epoch__is_behind(4, 5));
	assert_true(table_epoch__is_behind(1, MAX));
	assert_false(table_epoch__is_behind(MAX, 1));
}

static void test_many(void **state)
{
	uint32_t last = MAX - 500, next;
	int i;

	/* A thousand tables in one second, beyond the end. */
	for (i = 0; i < 1000; i++, last = next) {
		next = table_epoch__next(last, MAX - 501);
		assert_int_equal(next, last % MAX + 1);
		assert_in_range(next, 1, MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the first epoch is that of the clock, and never 0", test_first),
		TEST("an epoch is behind the last one, whatever the clock says", test_clock),
		TEST("after the largest epoch comes 1", test_wrap),
		TEST("half of all epochs are behind one", test_order),
		TEST("many tables of one second have different epochs", test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
