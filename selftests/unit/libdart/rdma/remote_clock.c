// SPDX-License-Identifier: GPL-2.0-only
/* The clock of a host, compared by a thread that can be interrupted between any two readings. */
#include <stdlib.h>
#include <time.h>

#include "selftests/unit/unit.h"

#define MS INT64_C(1000000)
#define EPOCH_NS (INT64_C(1700000000) * 1000 * MS) /* of CLOCK_REALTIME at 0 of CLOCK_MONOTONIC */

static int64_t elapsed_ns;
static int64_t pause_ns;	/* before each reading */

static int played_gettime(clockid_t clock, struct timespec *time)
{
	int64_t ns;

	elapsed_ns += pause_ns;
	ns = elapsed_ns + (clock == CLOCK_REALTIME ? EPOCH_NS : 0);
	*time = (struct timespec){ .tv_sec = ns / (1000 * MS), .tv_nsec = ns % (1000 * MS) };
	return 0;
}

#define clock_gettime played_gettime
#include "tools/lib/dart/rdma/remote_clock_internal.h"

/* The host, whose clock is @ahead_ns ahead, takes its time @after_ns after the question. */
static void expect_within(int64_t ahead_ns, int64_t after_ns, int64_t way_ns)
{
	const uint64_t asked_ns = dart_monotonic_ns();
	const uint64_t time_ns = EPOCH_NS + elapsed_ns + after_ns + ahead_ns;
	uint64_t uncertainty_ns = 0;
	int64_t offset_ns = 0;

	elapsed_ns += way_ns;
	dart_remote_clock__compare(asked_ns, time_ns, &offset_ns, &uncertainty_ns);
	assert_true((uint64_t)llabs(offset_ns - ahead_ns) <= uncertainty_ns);
}

static void test_interrupted(void **state)
{
	int64_t after_ns;

	for (pause_ns = 0; pause_ns <= 100 * MS; pause_ns += 10 * MS) {
		for (after_ns = 0; after_ns <= 4 * MS; after_ns += MS) {
			expect_within(0, after_ns, 4 * MS);
			expect_within(5000 * MS, after_ns, 4 * MS);
			expect_within(-5000 * MS, after_ns, 4 * MS);
		}
	}
}

static void test_untold(void **state)
{
	uint64_t uncertainty_ns = 7;
	int64_t offset_ns = 3;

	dart_remote_clock__compare(0, 0, &offset_ns, &uncertainty_ns);
	assert_int_equal(offset_ns, 3);
	assert_int_equal(uncertainty_ns, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the offset is within its uncertainty, whenever the thread is interrupted",
		     test_interrupted),
		TEST("a host that does not tell its time has no offset", test_untold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
