// SPDX-License-Identifier: GPL-2.0-only
/* What the opener of a region and the caller need to add to it. */
#include <linux/capability.h>
#include <sys/syscall.h>

#include "selftests/lib/device.h"
#include "selftests/lib/test.h"

static void set_admin(bool on)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	assert_int_equal(syscall(SYS_capget, &header, data), 0);
	if (on)
		data[0].effective |= 1u << CAP_SYS_ADMIN;
	else
		data[0].effective &= ~(1u << CAP_SYS_ADMIN);
	assert_int_equal(syscall(SYS_capset, &header, data), 0);
}

static int add_window(int region)
{
	return device_add_window(region, DART_ZERO_SOURCE_SOFTNET, NULL);
}

static int add_map(int region)
{
	int map = array_map("openers", 8, 1, BPF_F_MMAPABLE);
	int ret = device_add_map(region, map, NULL);

	close(map);
	return ret;
}

static int add_counters(int region)
{
	struct dart_zero_counters counters = {
		.size = sizeof(counters),
		.flags = DART_ZERO_COUNTERS_CREATE,
		.count = 1,
		.name = "openers",
	};

	return device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &counters);
}

static int add_slab(int region)
{
	struct dart_zero_slab slab = { .size = sizeof(slab), .pages = 1 };

	return device_call(region, DART_ZERO_IOC_ADD_SLAB, &slab);
}

static int list_namespaces(int region)
{
	uint32_t inodes[64];
	struct dart_zero_namespaces list = {
		.size = sizeof(list),
		.count = 64,
		.inodes = (uintptr_t)inodes,
	};

	return device_call(region, DART_ZERO_IOC_NAMESPACES, &list);
}

static int adopt_nothing(int region)
{
	struct dart_zero_adoption adoption = {
		.size = sizeof(adoption),
		.fd = -1,
	};

	return device_call(region, DART_ZERO_IOC_ADOPT_SLICE, &adoption);
}

static const struct {
	int (*call)(int region);
	int allowed;		/* what it returns if it is allowed */
} calls[] = {
	{ add_window, 0 },
	{ add_map, 0 },
	{ add_counters, 0 },
	{ add_slab, 0 },
	{ list_namespaces, 0 },
	{ adopt_nothing, -EBADF },
};

/* Opens a region and makes each call, each with CAP_SYS_ADMIN or without. */
static void assert_calls(bool opener_is_admin, bool caller_is_admin,
			 bool is_allowed)
{
	int results[sizeof(calls) / sizeof(calls[0])];
	struct dart_zero_info info;
	int region;

	set_admin(opener_is_admin);
	region = device_open();
	set_admin(caller_is_admin);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		results[i] = calls[i].call(region);
	set_admin(true);
	info = device_info(region);
	close(region);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_int_equal(results[i],
				 is_allowed ? calls[i].allowed : -EPERM);
	if (!is_allowed)
		assert_int_equal(info.extents, 0);
}

static void test_both(void **state)
{
	assert_calls(true, true, true);
}

static void test_opener_alone(void **state)
{
	assert_calls(true, false, false);
}

static void test_caller_alone(void **state)
{
	assert_calls(false, true, false);
}

static void test_neither(void **state)
{
	assert_calls(false, false, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a process with CAP_SYS_ADMIN adds to a region that was opened with it",
		     test_both),
		TEST("a process without CAP_SYS_ADMIN adds nothing to a region that was opened with it",
		     test_opener_alone),
		TEST("a process with CAP_SYS_ADMIN adds nothing to a region that was opened without it",
		     test_caller_alone),
		TEST("a process without CAP_SYS_ADMIN adds nothing to a region that was opened without it",
		     test_neither),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
