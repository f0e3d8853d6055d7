// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of work requests: late completions belong to no user. */
#include <libdart/rdma/slots_internal.h>

#include "selftests/unit/unit.h"

#define COUNT 64

static void open_slots(struct dart_slots *slots, uint32_t count)
{
	assert_int_equal(dart_slots__open(slots, count), 0);
}

static void test_full(void **state)
{
	uint64_t numbers[COUNT];
	struct dart_slots slots;

	open_slots(&slots, COUNT);
	for (int i = 0; i < COUNT; i++) {
		numbers[i] = dart_slots__take(&slots);
		assert_true(numbers[i] != DART_SLOTS_NONE);
		for (int k = 0; k < i; k++)
			assert_true(numbers[i] != numbers[k]);
	}
	assert_true(dart_slots__take(&slots) == DART_SLOTS_NONE);
	dart_slots__give_back(&slots, numbers[17]);
	numbers[0] = dart_slots__take(&slots);
	assert_true(numbers[0] != DART_SLOTS_NONE);
	assert_true(numbers[0] != numbers[17]);
	assert_true(dart_slots__take(&slots) == DART_SLOTS_NONE);
	dart_slots__close(&slots);
}

/* The completion of a user that left comes before and after the next user enters. */
static void test_late(void **state)
{
	int first, second;
	uint64_t before, after;
	struct dart_slots slots;

	open_slots(&slots, 1);
	before = dart_slots__take(&slots);
	assert_null(dart_slots__find(&slots, before));
	dart_slots__enter(&slots, before, &first);
	assert_ptr_equal(dart_slots__find(&slots, before), &first);
	dart_slots__leave(&slots, before);
	assert_null(dart_slots__find(&slots, before));
	dart_slots__give_back(&slots, before);

	after = dart_slots__take(&slots);
	assert_true(after != before);
	assert_null(dart_slots__find(&slots, before));
	assert_null(dart_slots__find(&slots, after));
	dart_slots__enter(&slots, after, &second);
	assert_null(dart_slots__find(&slots, before));
	assert_ptr_equal(dart_slots__find(&slots, after), &second);
	dart_slots__close(&slots);
}

/* Numbers that a broken device may make up. */
static void test_any_number(void **state)
{
	static const uint64_t numbers[] = { 0,		1,
					    COUNT,	DART_SLOTS_MAX - 1,
					    UINT32_MAX, DART_SLOTS_NONE };
	struct dart_slots slots;
	uint64_t number;
	int user;

	open_slots(&slots, COUNT);
	number = dart_slots__take(&slots);
	dart_slots__enter(&slots, number, &user);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		assert_null(dart_slots__find(&slots, numbers[i]));
	for (unsigned int bit = 0; bit < 64; bit++)
		assert_null(dart_slots__find(&slots, number ^ 1ULL << bit));
	dart_slots__close(&slots);
}

/* Users come and go at random: a lookup finds only present users. */
static void test_churn(void **state)
{
	struct {
		uint64_t number, last;
	} users[COUNT] = {};
	struct dart_slots slots;
	uint64_t seed = 1;

	open_slots(&slots, COUNT / 2);
	for (int round = 0; round < 100000; round++) {
		const uint32_t i = random__below(&seed, COUNT);

		if (users[i].number) {
			assert_ptr_equal(dart_slots__find(&slots, users[i].number), &users[i]);
			dart_slots__leave(&slots, users[i].number);
			dart_slots__give_back(&slots, users[i].number);
			users[i].last = users[i].number;
			users[i].number = 0;
		} else {
			users[i].number = dart_slots__take(&slots);
			if (users[i].number == DART_SLOTS_NONE)
				users[i].number = 0;
			else
				dart_slots__enter(&slots, users[i].number, &users[i]);
		}
		assert_null(dart_slots__find(&slots, users[i].last));
	}
	dart_slots__close(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("as many users as there are slots have numbers, all of them different",
		     test_full),
		TEST("a completion of a queue pair that is gone belongs to nobody, before and after its place is taken",
		     test_late),
		TEST("a number that was never given belongs to nobody", test_any_number),
		TEST("users that come and go at random are found while they are there, and never later",
		     test_churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
