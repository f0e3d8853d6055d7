// SPDX-License-Identifier: GPL-2.0-only
/*
 * On a locked down kernel no window can be opened; maps can still be added, and
 * windows that are open stay.  Comes last: there is no way back from lockdown.
 */
#include "selftests/lib/device.h"

#include <sys/mount.h>

static void lock_down(void)
{
	int fd;

	mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
	fd = open("/sys/kernel/security/lockdown", O_WRONLY);
	if (fd < 0)
		skip();
	assert_int_equal(write(fd, "integrity", 9), 9);
	close(fd);
}

static void test_lockdown(void **state)
{
	int map = array_map("lockdown", 8, 1, BPF_F_MMAPABLE);
	int region = device_open();

	(void)state;
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT,
					   NULL), 0);
	lock_down();
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_VMSTAT,
					   NULL), -EPERM);
	assert_int_equal(device_add_map(region, map, NULL), 0);
	assert_int_equal(device_info(region).extents, 2);
	close(region);
	close(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lockdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
