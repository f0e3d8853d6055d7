// SPDX-License-Identifier: GPL-2.0-only
/* Which rows of an entry a pass fetches: the ones that have changed, and the others in turn. */
#include <errno.h>

#include "agent/application/turns.h"
#include "selftests/unit/unit.h"

#define ROWS 240

static const struct application_row *find(const struct turns *turns, uint32_t row)
{
	const struct application_row *found = NULL;
	uint32_t i;

	for (i = 0; i < turns->count; i++) {
		if (turns->rows[i].row != row)
			continue;
		assert_null(found); /* each row once */
		found = &turns->rows[i];
	}
	return found;
}

static void mark(struct turns *turns, uint32_t row)
{
	const struct application_row *found = find(turns, row);

	assert_non_null(found);
	turns->rows[found - turns->rows].has_changed = true;
}

static unsigned int count_whole(const struct turns *turns)
{
	unsigned int count = 0, i;

	for (i = 0; i < turns->count; i++)
		count += turns->rows[i].is_whole;
	return count;
}

static void test_first(void **state)
{
	struct turns turns;
	int i;

	assert_int_equal(turns__open(&turns, ROWS, 100), 0);
	for (i = 0; i < 3; i++) {
		turns__choose(&turns);
		assert_int_equal(count_whole(&turns), ROWS);
		/* rows that get their first values have not changed */
		mark(&turns, 5);
		turns__end(&turns, i < 2 ? -EFAULT : 0);
	}
	turns__choose(&turns);
	assert_null(find(&turns, 5));
	turns__end(&turns, -EFAULT);
	turns__choose(&turns);
	assert_int_equal(count_whole(&turns), ROWS);
	turns__close(&turns);
}

static void test_turns(void **state)
{
	unsigned int visits[ROWS] = {}, pass, i;
	struct turns turns;

	assert_int_equal(turns__open(&turns, ROWS, 1000), 0);
	turns__choose(&turns);
	turns__end(&turns, 0);
	for (pass = 0; pass < 10; pass++) {
		turns__choose(&turns);
		assert_int_equal(turns.count, ROWS / 10);
		assert_int_equal(count_whole(&turns), ROWS / 10);
		for (i = 0; i < turns.count; i++)
			visits[turns.rows[i].row]++;
		turns__end(&turns, 0);
	}
	for (i = 0; i < ROWS; i++)
		assert_int_equal(visits[i], 1);
	turns__close(&turns);
}

static void test_changes(void **state)
{
	const struct application_row *found;
	unsigned int pass, whole = 0;
	struct turns turns;

	assert_int_equal(turns__open(&turns, ROWS, 1000), 0);
	turns__choose(&turns);
	turns__end(&turns, 0);
	turns__choose(&turns);
	mark(&turns, 3);
	turns__end(&turns, 0);
	for (pass = 0; pass < 20; pass++) {
		turns__choose(&turns);
		found = find(&turns, 3);
		whole += found && found->is_whole;
		assert_true(found || pass >= 10);
		assert_true(!found || found->is_whole || pass < 10);
		turns__end(&turns, 0);
	}
	assert_int_equal(whole, 2);
	turns__close(&turns);
}

static void test_small_and_slow(void **state)
{
	static const unsigned int sizes[][2] = { { TURNS_ROWS_MIN, 10 },
						 { ROWS, TURNS_MS },
						 { ROWS, 60000 } };
	struct turns turns;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(turns__open(&turns, sizes[i][0], sizes[i][1]), 0);
		turns__choose(&turns);
		turns__end(&turns, 0);
		turns__choose(&turns);
		assert_int_equal(count_whole(&turns), sizes[i][0]);
		turns__end(&turns, 0);
		turns__close(&turns);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("the first pass fetches all rows, and so does one after an error", test_first),
		TEST("each row is fetched once in its turn", test_turns),
		TEST("a row that changes is fetched in each pass for a while", test_changes),
		TEST("few rows, and rows that are gathered seldom, have no turns",
		     test_small_and_slow),
	};

	return cmocka_run_group_tests_name("application_turns", tests, NULL, NULL);
}
