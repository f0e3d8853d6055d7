// SPDX-License-Identifier: GPL-2.0-only
/* How many requests a second each user can make. */
#include "agent/socket/request_rate.h"
#include "selftests/unit/unit.h"

#define MS INT64_C(1000000)

/* Makes as many requests as are allowed now. */
static uint32_t flood(struct request_rates *rates, uid_t uid, int64_t now)
{
	uint32_t count = 0;

	for (; count < 100000 && request_rates__allow(rates, uid, now); count++)
		request_rates__count(rates, uid, now);
	return count;
}

static void test_rate(void **state)
{
	struct request_rates rates = {};
	uint32_t count = 0;
	int i;

	request_rates__limit(&rates, 50);
	assert_int_equal(flood(&rates, 1000, 5 * MS), 500);
	assert_int_equal(flood(&rates, 1000, 24 * MS), 0);
	assert_int_equal(flood(&rates, 1000, 25 * MS), 1);
	for (i = 1; i <= 100; i++)
		count += flood(&rates, 1000, 25 * MS + i * 10 * MS);
	assert_int_equal(count, 50);
	request_rates__close(&rates);
}

/* Two ms of time cost eight; less than a quarter of a request's own cost costs nothing more. */
static void test_time(void **state)
{
	struct request_rates rates = {};

	request_rates__limit(&rates, 1000);
	request_rates__count(&rates, 1000, 0);
	request_rates__spend(&rates, 1000, 2 * MS);
	assert_int_equal(flood(&rates, 1000, 0), 10000 - 8);
	request_rates__spend(&rates, 1000, MS / 4);
	assert_int_equal(flood(&rates, 1000, MS), 1);
	/* Root, and a user whose reserve is full again. */
	request_rates__spend(&rates, 0, 1000 * MS);
	assert_int_equal(flood(&rates, 0, 0), 100000);
	request_rates__close(&rates);
}

static void test_others(void **state)
{
	struct request_rates rates = {};

	request_rates__limit(&rates, 50);
	assert_int_equal(flood(&rates, 1000, 0), 500);
	assert_int_equal(flood(&rates, 1001, 0), 500);
	assert_int_equal(flood(&rates, 0, 0), 100000);
	request_rates__close(&rates);
}

static void test_default(void **state)
{
	struct request_rates rates = {};

	request_rates__limit(&rates, 0);
	assert_true(flood(&rates, 1000, 0) >= 8000);
	request_rates__close(&rates);
}

static void test_memory(void **state)
{
	struct request_rates rates = {};
	uid_t uid;

	request_rates__limit(&rates, 1000);
	for (uid = 1; uid < 100; uid++)
		request_rates__count(&rates, uid, 0);
	request_rates__count(&rates, 100, 5 * MS);
	assert_int_equal(SLIST_FIRST(&rates.users)->uid, 100);
	assert_null(SLIST_NEXT(SLIST_FIRST(&rates.users), link));
	request_rates__close(&rates);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a user has 10 s of requests in reserve, and then as many a second as the limit",
		     test_rate),
		TEST("a request that takes long counts as four times its time", test_time),
		TEST("a user that floods takes nothing from others, and root has no limit",
		     test_others),
		TEST("the default lets a process register 8,000 slices at once", test_default),
		TEST("a user whose reserve is full takes no memory", test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
