// SPDX-License-Identifier: GPL-2.0-only
/* The capacity of regions, and the share of it that one user's namespaces may take. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftests/lib/device.h"

/* MiB: small, so that few windows fill it. */
#define CAPACITY 1

static int load_small(void **state)
{
	char parameter[24];

	snprintf(parameter, sizeof(parameter), "capacity=%d", CAPACITY);
	return module_reload(parameter);
}

static int load_default(void **state)
{
	return module_reload("");
}

/*
 * A child with a new network namespace, in a new user namespace of @user unless
 * that is 0; it ends when @gate is closed.  Returns a descriptor of the namespace.
 */
static int namespace_of(uid_t user, const int gate[2])
{
	char path[64], byte;
	int ready[2], fd;
	pid_t child;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(gate[1]);
		if ((user && setresuid(user, user, user)) ||
		    unshare(CLONE_NEWNET | (user ? CLONE_NEWUSER : 0)) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(gate[0], &byte, 1) != 0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/*
 * Adds windows on namespaces of @user until the module refuses one; counts their pages,
 * shared pages once.
 */
static int fill(int region, uid_t user, const int gate[2], uint64_t *pages)
{
	bool *is_counted = calloc((CAPACITY << 20) / PAGE, sizeof(*is_counted));
	struct dart_zero_extent extent;

	*pages = 0;
	for (;;) {
		int fd = namespace_of(user, gate);

		for (uint32_t source = DART_ZERO_SOURCE_IP; source <= DART_ZERO_SOURCE_ICMP6;
		     source++) {
			int ret = device_add_selected(region, source, fd, 0, &extent);

			if (ret) {
				close(fd);
				free(is_counted);
				return ret;
			}
			if (!is_counted[extent.offset / PAGE])
				*pages += extent.pages;
			is_counted[extent.offset / PAGE] = true;
		}
		close(fd);
	}
}

static void test_quota(void **state)
{
	const uint64_t eighth = (CAPACITY << 20) / PAGE / 8;
	int region = device_open(), gate[2];
	struct dart_zero_extent extent;
	uint64_t pages, window;

	assert_int_equal(device_info(region).capacity, CAPACITY << 20);
	assert_int_equal(pipe(gate), 0);
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, &extent), 0);
	window = 2 * extent.copies;
	for (uid_t user = 1000; user < 1002; user++) {
		assert_int_equal(fill(region, user, gate, &pages), -EDQUOT);
		assert_in_range(pages, eighth - window, eighth);
	}
	/* Nothing limits root but the capacity. */
	assert_int_equal(fill(region, 0, gate, &pages), -ENOSPC);
	assert_true(pages > eighth);

	close(gate[1]);
	close(gate[0]);
	while (wait(NULL) > 0)
		;
	close(region);
}

static void test_refused_capacity(void **state)
{
	assert_int_equal(system("modprobe -r dart_zero"), 0);
	assert_int_not_equal(system("modprobe dart_zero capacity=0"), 0);
	assert_int_not_equal(system("modprobe dart_zero capacity=1048577"), 0);
	assert_int_equal(system("modprobe dart_zero"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("the namespaces of one user take an eighth of a region at most, those of root all that the parameter capacity of the module gives it",
			     test_quota, load_small, load_default),
		TEST("a capacity of 0 or above 1 TiB is refused when the module is loaded",
		     test_refused_capacity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
