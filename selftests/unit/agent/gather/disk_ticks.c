// SPDX-License-Identifier: GPL-2.0-only
/* The busy time of a disk never falls between two rows, unless its counters began anew. */
#include "agent/gather/disk_ticks.h"
#include "selftests/unit/unit.h"

static uint64_t keep(struct disk_ticks *last, uint64_t requests, uint64_t io_ticks)
{
	struct dart_zero_disk_io io = {
		.read_ios = requests / 2,
		.write_ios = requests - requests / 2,
		.io_ticks = io_ticks,
	};

	disk_ticks__keep(last, &io);
	return io.io_ticks;
}

static void test_estimates(void **state)
{
	struct disk_ticks last = {};

	assert_int_equal(keep(&last, 10, 500), 500);
	/* 4 ms too many were added while the last request ended. */
	assert_int_equal(keep(&last, 11, 496), 500);
	assert_int_equal(keep(&last, 11, 499), 500);
	assert_int_equal(keep(&last, 12, 501), 501);
}

static void test_resets(void **state)
{
	struct disk_ticks last = {};

	assert_int_equal(keep(&last, 10, 500), 500);
	assert_int_equal(keep(&last, 2, 8), 8);
	assert_int_equal(keep(&last, 3, 6), 8);
}

static void test_overflow(void **state)
{
	struct disk_ticks last = {};

	assert_int_equal(keep(&last, 10, UINT32_MAX - 1), UINT32_MAX - 1);
	assert_int_equal(keep(&last, 11, 5), 5);
	assert_int_equal(keep(&last, 12, 4), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a sum below an estimate does not fall", test_estimates),
		TEST("counters that begin anew are shown", test_resets),
		TEST("an overflow of 32 bits is shown", test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
