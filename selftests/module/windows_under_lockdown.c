// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel that is locked down for integrity takes windows, which only read; a kernel
 * that is locked down for confidentiality refuses new windows, but still takes maps.
 * Runs last of its directory: lockdown cannot be undone.
 */
#include <sys/mount.h>

#include "selftests/lib/device.h"

static void lock_down(const char *mode)
{
	int fd;

	mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
	fd = open("/sys/kernel/security/lockdown", O_WRONLY);
	if (fd < 0)
		skip();
	assert_int_equal(write(fd, mode, strlen(mode)), strlen(mode));
	close(fd);
}

static void test_lockdown(void **state)
{
	int map = array_map("lockdown", 8, 1, BPF_F_MMAPABLE);
	int region = device_open();

	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, NULL), 0);
	lock_down("integrity");
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_SOFTNET, NULL), 0);
	lock_down("confidentiality");
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_VMSTAT, NULL), -EPERM);
	assert_int_equal(device_add_map(region, map, NULL), 0);
	assert_int_equal(device_info(region).extents, 3);
	close(region);
	close(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("lockdown for integrity permits windows; for confidentiality it refuses new ones, keeps open ones and permits maps",
		     test_lockdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
