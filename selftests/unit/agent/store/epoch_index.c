// SPDX-License-Identifier: GPL-2.0-only
/* The list of a folder's epochs is read again after a change, and only then. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/store/epoch_index.h"
#include "selftests/unit/unit.h"

struct fixture {
	char state[64];
	struct epoch_folder folder;
	struct epoch_index index;
};

static int open_fixture(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct dart_error error;

	assert_non_null(fixture);
	snprintf(fixture->state, sizeof(fixture->state), "/tmp/epochs.XXXXXX");
	assert_non_null(mkdtemp(fixture->state));
	assert_int_equal(epoch_folder__open(&fixture->folder, fixture->state, "paths", &error), 0);
	fixture->index.folder = &fixture->folder;
	*state = fixture;
	return 0;
}

static int close_fixture(void **state)
{
	struct fixture *fixture = *state;
	char command[128];

	epoch_index__close(&fixture->index);
	snprintf(command, sizeof(command), "rm -r %s", fixture->state);
	assert_int_equal(system(command), 0);
	free(fixture);
	return 0;
}

/* An epoch of 1000 ns; its file need not be whole to be listed. */
static void add(const struct fixture *fixture, uint64_t since_ns)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command), "mkdir -p %s && : >%s/%llu-%llu.dart",
		 fixture->folder.path, fixture->folder.path, (unsigned long long)since_ns,
		 (unsigned long long)since_ns + 1000);
	assert_int_equal(system(command), 0);
}

static void refresh(struct fixture *fixture, size_t count, uint64_t passes)
{
	struct dart_error error;

	assert_int_equal(epoch_index__refresh(&fixture->index, &error), 0);
	assert_int_equal(fixture->index.list.count, count);
	assert_int_equal(fixture->index.passes, passes);
}

/* As if the folder had changed last a minute ago, @more seconds later. */
static void age(const struct fixture *fixture, long more)
{
	struct timespec times[2];

	assert_int_equal(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
	times[0].tv_sec += more - 60;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, fixture->folder.path, times, 0), 0);
}

static void test_changes(void **state)
{
	struct fixture *fixture = *state;

	/* A folder that does not exist may be created at any moment. */
	refresh(fixture, 0, 1);
	refresh(fixture, 0, 2);
	add(fixture, 1000);
	age(fixture, 0);
	refresh(fixture, 1, 3);
	refresh(fixture, 1, 3);
	refresh(fixture, 1, 3);
	add(fixture, 2000);
	age(fixture, 1);
	refresh(fixture, 2, 4);
	refresh(fixture, 2, 4);
}

/* Two changes within a tick of the kernel have one time. */
static void test_tick(void **state)
{
	struct fixture *fixture = *state;

	add(fixture, 1000);
	refresh(fixture, 1, 1);
	add(fixture, 2000);
	refresh(fixture, 2, 2);
	/* A clock that was set back. */
	age(fixture, 3600);
	refresh(fixture, 2, 3);
	refresh(fixture, 2, 4);
}

static void test_find(void **state)
{
	struct fixture *fixture = *state;
	uint64_t since;

	for (since = 1000; since <= 9000; since += 2000)
		add(fixture, since);
	refresh(fixture, 5, 1);
	assert_int_equal(epoch_index__first(&fixture->index, 0), 0);
	assert_int_equal(epoch_index__first(&fixture->index, 1999), 0);
	/* The first one has ended then. */
	assert_int_equal(epoch_index__first(&fixture->index, 2000), 1);
	assert_int_equal(epoch_index__first(&fixture->index, 9999), 4);
	assert_int_equal(epoch_index__first(&fixture->index, 10000), 5);
	assert_int_equal(epoch_index__find(&fixture->index, 5000)->until_ns, 6000);
	assert_null(epoch_index__find(&fixture->index, 5001));
	assert_null(epoch_index__find(&fixture->index, 4000));
	assert_null(epoch_index__find(&fixture->index, 11000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a folder is read again after it changed, and only then",
			     test_changes, open_fixture, close_fixture),
		TEST_FIXTURE("a folder that changed just now, or in the future, is read each time",
			     test_tick, open_fixture, close_fixture),
		TEST_FIXTURE("epochs are found by their beginning, and by a time", test_find,
			     open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
