// SPDX-License-Identifier: GPL-2.0-only
/* How long places in a generation of the table can be used. */
#include "agent/base/lease.h"
#include "agent/table/generations.h"
#include "selftests/unit/unit.h"

#define MS INT64_C(1000000)
#define LEASE (LEASE_MS * MS)

static void test_rewritten(void **state)
{
	struct generations generations = {};

	generations__publish(&generations, 1, true, 0);
	generations__publish(&generations, 2, false, 1);
	generations__publish(&generations, 3, true, 2);
	generations__publish(&generations, 4, false, 3);
	assert_false(generations__can_use(&generations, 2, 4));
	assert_true(generations__can_use(&generations, 3, 4));
	assert_true(generations__can_use(&generations, 4, 4));
	assert_false(generations__can_use(&generations, 5, 4));
	assert_false(generations__can_use(&generations, 0, 4));
}

static void test_present(void **state)
{
	struct generations generations = {};

	generations__publish(&generations, 1, true, 0);
	assert_true(generations__can_use(&generations, 1, 1000 * LEASE));
}

/* A generation that was replaced a long time after its publication. */
static void test_replaced(void **state)
{
	struct generations generations = {};

	generations__publish(&generations, 1, true, 0);
	generations__publish(&generations, 2, false, 100 * LEASE);
	generations__publish(&generations, 3, false, 200 * LEASE);
	assert_false(generations__can_use(&generations, 1, 200 * LEASE));
	assert_true(generations__can_use(&generations, 2, 200 * LEASE));
	assert_true(generations__can_use(&generations, 2, 201 * LEASE - 1 * MS));
	assert_false(generations__can_use(&generations, 2, 201 * LEASE));
	assert_true(generations__can_use(&generations, 3, 300 * LEASE));
}

/*
 * The table changes at random times: no generation can be used longer than a lease after
 * it was replaced, and each can be used for seven eighths of it.
 */
static void test_random(void **state)
{
	enum { COUNT = 2000 };
	static int64_t replaced[COUNT + 1];
	struct generations generations = {};
	uint64_t seed = 1, generation, asked, can_use = 0;
	int64_t now = 0, age;

	for (generation = 1; generation <= COUNT; generation++) {
		generations__publish(&generations, generation, generation == 1, now);
		replaced[generation - 1] = now;
		now += (int64_t)random__below(&seed, generation % 100 < 50 ? 20 : 2000) * MS;
		for (asked = 1; asked < generation; asked++) {
			age = now - replaced[asked];
			if (!generations__can_use(&generations, asked, now)) {
				if (age < LEASE * 7 / 8 - 1 * MS)
					fail_msg("generation %d was not usable", (int)asked);
				continue;
			}
			assert_true(age < LEASE);
			can_use++;
		}
	}
	assert_true(can_use > COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the places of a generation end with a rewrite of the table", test_rewritten),
		TEST("the present generation can be used for any time", test_present),
		TEST("a generation that was valid for long can be used for a lease after it was replaced",
		     test_replaced),
		TEST("of 2,000 generations each can be used for most of a lease after it was replaced, and none for longer",
		     test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
