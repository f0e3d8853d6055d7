// SPDX-License-Identifier: GPL-2.0-only
/* Windows on disks, by every kind of descriptor of a block device. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "selftests/lib/device.h"
#include "selftests/lib/test.h"

#define DISK "/dev/loop0"
#define NO_DISK "/run/no-disk"

/* Adds a window on the disk at @path; returns 0 or -errno. */
static int add(int region, const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC), ret;
	struct dart_zero_extent extent;

	assert_true(fd >= 0);
	ret = device_add_selected(region, DART_ZERO_SOURCE_DISK, fd, 0, &extent);
	close(fd);
	return ret;
}

/* EEXIST: the region shows the same memory already. */
static void test_same_counters(void **state)
{
	int region = device_open();

	assert_int_equal(add(region, DISK, O_PATH), 0);
	assert_int_equal(add(region, DISK, O_RDONLY), -EEXIST);
	assert_int_equal(add(region, DISK, O_PATH), -EEXIST);
	close(region);
}

static void test_no_disk(void **state)
{
	int region = device_open();

	/* A number that no driver registered. */
	assert_int_equal(mknod(NO_DISK, S_IFBLK | 0600, makedev(251, 251)), 0);
	assert_int_equal(add(region, NO_DISK, O_PATH), -ENODEV);
	assert_int_equal(add(region, "/dev/null", O_PATH), -EINVAL);
	assert_int_equal(device_info(region).extents, 0);
	unlink(NO_DISK);
	close(region);
}

static int load_driver(void **state)
{
	return system("modprobe loop");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a window takes an O_PATH descriptor of a disk for the same disk as an open one",
		     test_same_counters),
		TEST("a window on a device number without a disk is refused", test_no_disk),
	};

	return cmocka_run_group_tests(tests, load_driver, NULL);
}
