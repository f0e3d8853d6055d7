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

/* A file need not be whole to be listed. */
static void add_long(const struct fixture *fixture, uint64_t since_ns, uint64_t until_ns)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command), "mkdir -p %s && : >%s/%llu-%llu.dart",
		 fixture->folder.path, fixture->folder.path, (unsigned long long)since_ns,
		 (unsigned long long)until_ns);
	assert_int_equal(system(command), 0);
}

/* An epoch of 1000 ns. */
static void add(const struct fixture *fixture, uint64_t since_ns)
{
	add_long(fixture, since_ns, since_ns + 1000);
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

/* A second change has the time of the first one, and comes after the folder was read. */
static void test_whole_seconds(void **state)
{
	struct fixture *fixture = *state;
	struct timespec times[2] = {};

	add(fixture, 1000);
	times[0].tv_sec = times[1].tv_sec = time(NULL) - 1;
	assert_int_equal(utimensat(AT_FDCWD, fixture->folder.path, times, 0), 0);
	refresh(fixture, 1, 1);
	add(fixture, 2000);
	assert_int_equal(utimensat(AT_FDCWD, fixture->folder.path, times, 0), 0);
	refresh(fixture, 2, 2);
	times[0].tv_sec = times[1].tv_sec = time(NULL) - 60;
	assert_int_equal(utimensat(AT_FDCWD, fixture->folder.path, times, 0), 0);
	refresh(fixture, 2, 3);
	refresh(fixture, 2, 3);
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

/* Beginnings of epochs, in ns, and their banks. */
struct taken {
	uint64_t since_ns[8];
	int banks[8];
	size_t count, most;
};

static int take(void *argument, const struct epoch_item *item, int bank)
{
	struct taken *taken = argument;

	if (taken->count == taken->most)
		return 1;
	taken->since_ns[taken->count] = item->since_ns;
	taken->banks[taken->count++] = bank;
	return 0;
}

static struct taken select_from(const struct fixture *fixture, const struct epoch_item *banks,
				uint64_t since_ns, uint64_t until_ns)
{
	struct taken taken = { .most = 8 };

	assert_int_equal(
		epoch_index__select(&fixture->index, banks, since_ns, until_ns, take, &taken), 0);
	return taken;
}

/*
 * A host without a clock of its own began epochs in 1970, twice, and ended them when the network
 * told the time: these epochs overlap all that was written before.
 */
static void test_overlap(void **state)
{
	const struct epoch_item banks[DART_EPOCH_BANKS] = { { 0, 0, 0 }, { 9000, 0, 0 } };
	struct fixture *fixture = *state;
	struct taken taken;

	add_long(fixture, 10, 1000);
	add_long(fixture, 12, 9000);
	add(fixture, 1000);
	add(fixture, 2000);
	add(fixture, 3000);
	refresh(fixture, 5, 1);
	assert_int_equal(epoch_index__find(&fixture->index, 10)->until_ns, 1000);
	assert_int_equal(epoch_index__find(&fixture->index, 12)->until_ns, 9000);
	assert_int_equal(epoch_index__find(&fixture->index, 3000)->until_ns, 4000);
	taken = select_from(fixture, banks, 3500, 3500);
	assert_int_equal(taken.count, 2);
	assert_int_equal(taken.since_ns[0], 12);
	assert_int_equal(taken.since_ns[1], 3000);
	taken = select_from(fixture, banks, 5000, 20000);
	assert_int_equal(taken.count, 2);
	assert_int_equal(taken.since_ns[0], 12);
	assert_int_equal(taken.banks[0], -1);
	assert_int_equal(taken.since_ns[1], 9000);
	assert_int_equal(taken.banks[1], 1);
}

/* The present epoch began before epochs of files: the clock was set back. */
static void test_select(void **state)
{
	struct epoch_item banks[DART_EPOCH_BANKS] = { { 2500, 0, 0 }, { 2000, 2500, 0 } };
	struct taken taken = { .most = 1 };
	struct fixture *fixture = *state;
	static const uint64_t since_ns[] = { 1000, 2000, 2500, 5000 };
	static const int places[] = { -1, 1, 0, -1 };

	add(fixture, 1000);
	/* The file of an epoch whose bank is not clear yet. */
	add_long(fixture, 2000, 2500);
	add(fixture, 5000);
	refresh(fixture, 3, 1);
	assert_int_equal(epoch_index__select(&fixture->index, banks, 0, 9000, take, &taken), 1);
	assert_int_equal(taken.count, 1);
	taken = select_from(fixture, banks, 0, 9000);
	assert_int_equal(taken.count, 4);
	assert_memory_equal(taken.since_ns, since_ns, sizeof(since_ns));
	assert_memory_equal(taken.banks, places, sizeof(places));
	/* Both times are included, and the end of an epoch is not. */
	taken = select_from(fixture, banks, 2000, 2000);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.banks[0], 1);
	taken = select_from(fixture, banks, 2500, 4999);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.banks[0], 0);
	taken = select_from(fixture, banks, 6000, 9000);
	assert_int_equal(taken.count, 1);
	banks[0] = banks[1] = (struct epoch_item){};
	taken = select_from(fixture, banks, 2000, 2000);
	assert_int_equal(taken.count, 1);
	assert_int_equal(taken.banks[0], -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a folder is read again after it changed, and only then", test_changes,
			     open_fixture, close_fixture),
		TEST_FIXTURE("a folder that changed just now, or in the future, is read each time",
			     test_tick, open_fixture, close_fixture),
		TEST_FIXTURE("whole seconds as times of a folder hide no file", test_whole_seconds,
			     open_fixture, close_fixture),
		TEST_FIXTURE("epochs are found by their beginning, and by a time", test_find,
			     open_fixture, close_fixture),
		TEST_FIXTURE("epochs whose times overlap are all found", test_overlap, open_fixture,
			     close_fixture),
		TEST_FIXTURE("banks and files are selected in the order of their beginnings",
			     test_select, open_fixture, close_fixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
