// SPDX-License-Identifier: GPL-2.0-only
/* Looks at all processes: soon after an event, ever more rarely, and in a small part of the time. */
#include "agent/application/looks.h"
#include "selftests/unit/unit.h"

#define SECOND UINT64_C(1000000)

static struct looks looks;

static int begin(void **state)
{
	looks__init(&looks);
	return 0;
}

/* A look that takes @us. */
static void look(uint64_t now, uint64_t us)
{
	looks__begin(&looks, now);
	looks__end(&looks, now + us);
}

static void test_first(void **state)
{
	assert_int_equal(looks__delay(&looks, false, 100 * SECOND), UINT64_MAX);
	looks__ask_at_once(&looks);
	assert_int_equal(looks__delay(&looks, false, 100 * SECOND), 0);
	look(100 * SECOND, 1000);
	assert_int_equal(looks__delay(&looks, false, 101 * SECOND), UINT64_MAX);
}

static void test_soon(void **state)
{
	uint64_t now = 100 * SECOND, before = 0, delay;
	int i;

	for (i = 0; i < 12; i++) {
		looks__ask_soon(&looks, now);
		delay = looks__delay(&looks, false, now);
		if (i)
			assert_true(delay >= before);
		assert_true(delay <= LOOK_US);
		before = delay;
		now += delay;
		look(now, 10);
	}
	assert_int_equal(before, LOOK_US);
	/* Nothing has happened for a while. */
	now += 3 * LOOK_US;
	looks__ask_soon(&looks, now);
	assert_true(looks__delay(&looks, false, now) <= LOOK_FIRST_US);
}

static void test_needed(void **state)
{
	const uint64_t now = 100 * SECOND;

	look(now, 1000);
	assert_int_equal(looks__delay(&looks, true, now), LOOK_US);
	assert_int_equal(looks__delay(&looks, true, now + LOOK_US), 0);
}

/* Events that each ask for a look, as ends of programs that a user starts again and again. */
static void test_share(void **state)
{
	const uint64_t takes = 300000; /* beside 20,000 processes */
	uint64_t now = 100 * SECOND, spent = 0, delay;
	const uint64_t end = now + 100 * SECOND;
	int count = 0;

	while (now < end) {
		looks__ask_at_once(&looks);
		delay = looks__delay(&looks, false, now);
		if (delay) {
			now += delay < 5000 ? delay : 5000;
			continue;
		}
		look(now, takes);
		now += takes;
		spent += takes;
		count++;
	}
	assert_true(count >= 20);
	assert_true(spent <= 100 * SECOND / 8);
	/* A rest has an upper limit, however long the look before it took. */
	look(now, 60 * SECOND);
	looks__ask_at_once(&looks);
	assert_int_equal(looks__delay(&looks, false, now + 60 * SECOND), LOOK_US);
}

/* On a small host a look follows each event. */
static void test_small(void **state)
{
	uint64_t now = 100 * SECOND;

	look(now, 200);
	now += 10000;
	looks__ask_at_once(&looks);
	assert_int_equal(looks__delay(&looks, false, now), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST_FIXTURE("an event asks for one look, at once", test_first, begin, NULL),
		TEST_FIXTURE("looks come ever later while events ask for them", test_soon, begin,
			     NULL),
		TEST_FIXTURE("without events looks go on every 10 s", test_needed, begin, NULL),
		TEST_FIXTURE(
			"looks take an eighth of the time at most, however many events ask for them",
			test_share, begin, NULL),
		TEST_FIXTURE("a host with few processes is looked at after each event", test_small,
			     begin, NULL),
	};

	return cmocka_run_group_tests_name("application_looks", tests, NULL, NULL);
}
