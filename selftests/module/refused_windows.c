// SPDX-License-Identifier: GPL-2.0-only
/* Windows that are refused, and leave their region unchanged. */
#include "selftests/lib/device.h"
#include "selftests/lib/unchanged_region.h"

static void test_unknown_source(void **state)
{
	struct unchanged_region *fixture = *state;

	assert_int_equal(device_add_window(fixture->region, DART_ZERO_SOURCE_NONE, NULL), -EINVAL);
	assert_int_equal(device_add_window(fixture->region, 6, NULL), -EINVAL);
	assert_int_equal(device_add_window(fixture->region, ~0u, NULL), -EINVAL);
}

/* Selectors that the source does not take, and missing selectors that it needs. */
static void test_selectors(void **state)
{
	static const struct {
		uint32_t source;
		int fd;
		uint32_t netns, ifindex;
		int code;
	} cases[] = {
		{ DART_ZERO_SOURCE_VMSTAT, 0, 0, 0, EINVAL },
		{ DART_ZERO_SOURCE_VMSTAT, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_VMSTAT, -1, 0, 1, EINVAL },
		{ DART_ZERO_SOURCE_TCP, -1, 0, 0, EINVAL },
		{ DART_ZERO_SOURCE_TCP, 9999, 0, 0, EBADF },
		{ DART_ZERO_SOURCE_TCP, -1, 1, 0, ENOENT },
		{ DART_ZERO_SOURCE_TCP, 0, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_TCP, -1, 1, 1, EINVAL },
		{ DART_ZERO_SOURCE_NETDEV, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_NETDEV, -1, 1, 1, ENOENT },
		{ DART_ZERO_SOURCE_DISK, -1, 0, 0, EINVAL },
		{ DART_ZERO_SOURCE_DISK, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_DISK, 9999, 0, 0, EBADF },
		{ DART_ZERO_SOURCE_CGROUP_CPU, -1, 1, 0, EINVAL },
		{ DART_ZERO_SOURCE_CGROUP_CPU, 9999, 0, 0, EBADF },
	};
	struct unchanged_region *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dart_zero_window window = {
			.size = sizeof(window),
			.source = cases[i].source,
			.fd = cases[i].fd,
			.netns = cases[i].netns,
			.ifindex = cases[i].ifindex,
		};

		assert_int_equal(device_call(fixture->region, DART_ZERO_IOC_ADD_WINDOW, &window),
				 -cases[i].code);
	}
}

static void test_wrong_file(void **state)
{
	static const struct {
		uint32_t source;
		const char *path;
		int code;
	} cases[] = {
		{ DART_ZERO_SOURCE_TCP, "/dev/null", EINVAL },
		{ DART_ZERO_SOURCE_TCP, "/proc/self/ns/mnt", EINVAL },
		{ DART_ZERO_SOURCE_DISK, "/dev/null", EINVAL },
		{ DART_ZERO_SOURCE_CGROUP_CPU, "/tmp", EBADF },
		{ DART_ZERO_SOURCE_CGROUP_CPU, "/sys/fs/cgroup", EINVAL },
	};
	struct unchanged_region *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dart_zero_window window = {
			.size = sizeof(window),
			.source = cases[i].source,
			.fd = open(cases[i].path, O_RDONLY | O_CLOEXEC),
		};

		assert_true(window.fd >= 0);
		assert_int_equal(device_call(fixture->region, DART_ZERO_IOC_ADD_WINDOW, &window),
				 -cases[i].code);
		close(window.fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNCHANGED_TEST("a window on an unknown source is refused",
			       test_unknown_source),
		UNCHANGED_TEST("a window whose selector is not the one that its source needs is refused",
			       test_selectors),
		UNCHANGED_TEST("a window whose descriptor is of another kind of file than its source needs is refused",
			       test_wrong_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
