// SPDX-License-Identifier: GPL-2.0-only
/* Processes that are tried again: the list tells its caller of each one that it cannot keep. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <libdart/clock.h>

#include "agent/application/candidates.h"
#include "selftests/unit/unit.h"

static struct candidates candidates;

/* Any descriptor can be in the place of a pidfd; @is_closed tells whether it was closed. */
static bool add(pid_t pid, unsigned int tries, bool *is_closed)
{
	const struct candidate_process process = {
		.pid = pid,
		.pidfd = open("/dev/null", O_RDONLY | O_CLOEXEC),
		.tries = tries,
	};
	bool is_kept;

	assert_true(process.pidfd >= 0);
	is_kept = candidates__add(&candidates, &process);
	*is_closed = fcntl(process.pidfd, F_GETFD) < 0;
	return is_kept;
}

/* More programs can start at once than there is room for. */
static void test_full(void **state)
{
	bool is_closed;
	pid_t pid = 1;

	while (add(pid, 0, &is_closed)) {
		assert_false(is_closed);
		pid++;
	}
	assert_true(is_closed);
	assert_true(pid > 100);
	/* A process that is in the list needs no other way. */
	assert_true(add(1, 0, &is_closed));
	assert_true(is_closed);
	assert_int_equal(candidates.count, pid - 1);
}

static void test_last_try(void **state)
{
	bool is_closed;

	assert_true(add(1, CANDIDATE_TRIES_MAX - 1, &is_closed));
	assert_false(add(2, CANDIDATE_TRIES_MAX, &is_closed));
	assert_true(is_closed);
}

static void test_due(void **state)
{
	const int64_t began = dart_clock__ns(CLOCK_MONOTONIC);
	struct candidate_process process;
	bool is_closed;

	assert_int_equal(candidates__delay(&candidates), UINT64_MAX);
	assert_true(add(4711, 0, &is_closed));
	while (!candidates__take(&candidates, &process))
		assert_true(candidates__delay(&candidates) <= 20000);
	assert_true(dart_clock__ns(CLOCK_MONOTONIC) - began > 19000000);
	assert_int_equal(process.pid, 4711);
	assert_int_equal(process.tries, 1);
	assert_int_equal(close(process.pidfd), 0);
	assert_int_equal(candidates.count, 0);
}

static int open_all(void **state)
{
	candidates__open(&candidates);
	return 0;
}

static int close_all(void **state)
{
	candidates__close(&candidates);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST_FIXTURE("the list tells of a process without room, and keeps the processes that it has",
			     test_full, open_all, close_all),
		TEST_FIXTURE("a process is dropped after its last try", test_last_try, open_all,
			     close_all),
		TEST_FIXTURE("a process is due after its delay, with its tries counted", test_due,
			     open_all, close_all),
	};

	return cmocka_run_group_tests_name("application_candidates", tests, NULL, NULL);
}
