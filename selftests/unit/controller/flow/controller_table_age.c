// SPDX-License-Identifier: GPL-2.0-only
/* How long a controller uses a table that changes. */
#include "agent/base/lease.h"
#include "selftests/unit/unit.h"
#include "tools/controller/flow/table_age.h"

#define MS 1000000ULL

static struct table_age table_seen_at(uint64_t posted_ns)
{
	struct table_age age = {
		.lease_ns = 2000 * MS,
		.fetched_ns = posted_ns,
	};

	table_age__renew(&age, posted_ns);
	return age;
}

static void test_covers(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	assert_true(table_age__covers(&age, 5000 * MS));
	assert_true(table_age__covers(&age, 7000 * MS - 1));
	assert_false(table_age__covers(&age, 7000 * MS));
}

static void test_renewed(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	age.changed = true;
	table_age__renew(&age, 6000 * MS);
	assert_false(age.changed);
	assert_true(table_age__covers(&age, 8000 * MS - 1));
	assert_false(table_age__covers(&age, 8000 * MS));
}

static void test_permits(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	assert_true(table_age__permits(&age, 6000 * MS - 1));
	assert_false(table_age__permits(&age, 6000 * MS));
}

static void test_expired(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	table_age__expire(&age);
	assert_true(age.changed);
	assert_false(table_age__permits(&age, 5000 * MS));
	table_age__renew(&age, 5001 * MS);
	assert_true(table_age__permits(&age, 5001 * MS));
	/* Neither a long lease nor a recent boot of this machine overflows. */
	age.lease_ns = UINT32_MAX * MS;
	table_age__expire(&age);
	assert_false(table_age__permits(&age, 5001 * MS));
}

static void test_no_lease(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	age.lease_ns = 0;
	assert_false(table_age__permits(&age, 5000 * MS));
	assert_false(table_age__covers(&age, 5000 * MS));
	assert_int_equal(table_age__due(&age), 5001 * MS);
}

static void test_costly(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	age.lease_ns = 0;
	age.cost_ns = 20 * MS;
	assert_int_equal(table_age__due(&age), 5080 * MS);
	/* A lease that leaves more time decides. */
	age.lease_ns = 2000 * MS;
	assert_int_equal(table_age__due(&age), 5500 * MS);
	age.cost_ns = 200 * MS;
	assert_int_equal(table_age__due(&age), 5800 * MS);
}

static void test_due(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	assert_int_equal(table_age__due(&age), 5500 * MS);
	age.lease_ns = 400 * MS;
	assert_int_equal(table_age__due(&age), 5100 * MS);
	age.lease_ns = UINT32_MAX * MS;
	assert_int_equal(table_age__due(&age), 5500 * MS);
}

static void test_told(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);
	unsigned int looks = 0;
	uint64_t now_ns;

	age.changed = true;
	table_age__tell(&age);
	assert_false(age.changed);
	/* An update may be late: the lease does not begin again. */
	assert_true(table_age__covers(&age, 7000 * MS - 1));
	assert_false(table_age__covers(&age, 7000 * MS));

	assert_true(table_age__told_due(&age) <= 5000 * MS);
	for (; table_age__told_due(&age) <= 5000 * MS; looks++)
		table_age__take_told(&age, 5000 * MS);
	assert_int_equal(looks, TABLE_TOLD_MOST);
	assert_int_equal(table_age__told_due(&age), 5500 * MS);
	/* With an update each 10 ms. */
	for (now_ns = 5010 * MS; now_ns <= 105000 * MS; now_ns += 10 * MS) {
		if (table_age__told_due(&age) > now_ns)
			continue;
		table_age__take_told(&age, now_ns);
		looks++;
	}
	assert_int_equal(looks, TABLE_TOLD_MOST + 200);
}

/* The last READ that may begin, and every retransmission is needed. */
static void test_added(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);

	assert_true(table_age__added_due(&age) <= 5000 * MS);
	age.length = 20000;
	table_age__take_added(&age, 5000 * MS);
	assert_int_equal(table_age__added_due(&age), 5010 * MS);
	age.length = DART_CONTROL_MIRROR_MAX;
	table_age__take_added(&age, 5000 * MS);
	assert_int_equal(table_age__added_due(&age), 5131 * MS + 72000);
}

static void test_retries(void **state)
{
	struct table_age age = table_seen_at(5000 * MS);
	uint64_t begin_ns;

	age.lease_ns = LEASE_MS * MS;
	begin_ns = age.current_ns + age.lease_ns / 2 - 1;
	assert_true(table_age__permits(&age, begin_ns));
	assert_true(table_age__covers(&age, begin_ns + DART_CONTROL_RETRIES_MS * MS));
	/* 7 times 268.4 ms. */
	assert_int_equal(DART_CONTROL_RETRIES_MS, 1880);
	assert_int_equal(LEASE_SECONDS, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("values that have landed within the lease are valid, later ones are not",
		     test_covers),
		TEST("a header that is the same begins the lease again", test_renewed),
		TEST("READs of values begin in the first half of the lease", test_permits),
		TEST("a READ that may begin ends within the lease of an agent, retransmissions included",
		     test_retries),
		TEST("after the agent has said that it is too late the table is another one before every scrape",
		     test_expired),
		TEST("without a lease, a table is checked before every scrape", test_no_lease),
		TEST("a table that costs the control loop much is fetched more rarely, whatever the lease",
		     test_costly),
		TEST("a mirror is looked at twice a second on average, and eight times at once",
		     test_told),
		TEST("a mirror is looked at for added entries each 10 ms, and more rarely if it is long",
		     test_added),
		TEST("a table that has changed is fetched twice a second, or four times in a short lease",
		     test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
