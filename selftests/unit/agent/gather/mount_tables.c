// SPDX-License-Identifier: GPL-2.0-only
/* Mounts that threads share: they are up to date, and read once for each change. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "agent/gather/mount_tables.h"
#include "selftests/unit/unit.h"

static char place[] = "/tmp/dart-mounts-XXXXXX";

/* Mounts of this process alone. */
static int make_place(void **state)
{
	assert_non_null(mkdtemp(place));
	*state = unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ?
			 NULL :
			 place;
	return 0;
}

static int remove_place(void **state)
{
	return rmdir(place);
}

static const struct mounts *take(void)
{
	const struct mounts *mounts;

	assert_int_equal(mount_tables__take(MOUNTS_OF_DARTD, &mounts), 0);
	return mounts;
}

static void give(const struct mounts *mounts)
{
	mount_tables__give(MOUNTS_OF_DARTD, mounts);
}

static bool has_place(const struct mounts *mounts)
{
	return mounts__at(mounts, place);
}

static void test_same(void **state)
{
	const struct mounts *first = take(), *second = take();

	assert_true(first->count > 0);
	assert_ptr_equal(first, second);
	give(first);
	give(second);
	second = take();
	assert_ptr_equal(first, second);
	give(second);
}

static void test_changes(void **state)
{
	const struct mounts *before, *after;
	int i;

	if (!*state)
		skip();
	for (i = 0; i < 20; i++) {
		before = take();
		assert_false(has_place(before));
		assert_int_equal(mount("test", place, "tmpfs", 0, NULL), 0);
		after = take();
		assert_true(has_place(after));
		/* The earlier ones remain as they were. */
		assert_false(has_place(before));
		give(before);
		assert_ptr_equal(take(), after);
		give(after);
		assert_int_equal(umount(place), 0);
		before = take();
		assert_false(has_place(before));
		give(before);
		give(after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("mounts that did not change are read once", test_same),
		TEST("each change is seen at once, and threads that have earlier mounts keep them",
		     test_changes),
	};

	return cmocka_run_group_tests(tests, make_place, remove_place);
}
