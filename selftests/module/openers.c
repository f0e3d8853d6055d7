// SPDX-License-Identifier: GPL-2.0-only
/* The permissions that the opener of a region and the caller need to add to it. */
#include "selftests/lib/capability.h"
#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/record.h"
#include "selftests/lib/slab.h"
#include "selftests/lib/test.h"

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
	return device_add_counters(region, "openers", 1, NULL);
}

static int add_slab(int region)
{
	struct dart_zero_extent extent;

	return slab_add(region, 1, &extent);
}

static int add_record(int region)
{
	return record_describe(region, DART_ZERO_SOURCE_CPUSTAT);
}

static int list_namespaces(int region)
{
	return device_namespaces(region, 0);
}

static int adopt_nothing(int region)
{
	struct dart_zero_adoption adoption;

	return slice_adopt(region, -1, &adoption);
}

static const struct {
	int (*call)(int region);
	int allowed;		/* the result of an allowed call */
} calls[] = {
	{ add_window, 0 },
	{ add_map, 0 },
	{ add_counters, 0 },
	{ add_record, 0 },
	{ add_slab, 0 },
	{ list_namespaces, 0 },
	{ adopt_nothing, -EBADF },
};

/* Opens a region and makes each call, each with CAP_SYS_ADMIN or without. */
static void assert_calls(bool opener_is_admin, bool caller_is_admin, bool is_allowed)
{
	int results[sizeof(calls) / sizeof(calls[0])];
	struct dart_zero_info info;
	int region;

	capability_set(CAP_SYS_ADMIN, opener_is_admin);
	region = device_open();
	capability_set(CAP_SYS_ADMIN, caller_is_admin);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		results[i] = calls[i].call(region);
	capability_set(CAP_SYS_ADMIN, true);
	info = device_info(region);
	close(region);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_int_equal(results[i], is_allowed ? calls[i].allowed : -EPERM);
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

/* No call that may change a region, by a descriptor that is not open for writing. */
static void assert_nothing_changes(int fd)
{
	uint32_t extents = device_info(fd).extents;
	struct dart_zero_slice slice;
	int none;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		assert_int_equal(calls[i].call(fd), -EBADF);
	assert_int_equal(device_remove(fd, 1), -EBADF);
	assert_int_equal(slice_new(fd, 2, 1, &slice), -EBADF);
	assert_int_equal(device_quarantine(fd), -EBADF);
	assert_int_equal(device_open_reader(fd, &none), -EBADF);
	assert_int_equal(device_info(fd).extents, extents);
}

static void test_opened_for_reading(void **state)
{
	int region = open(DART_ZERO_DEVICE, O_RDONLY | O_CLOEXEC);

	assert_true(region >= 0);
	assert_nothing_changes(region);
	close(region);
}

static uint64_t load(const char *address)
{
	return *(const volatile uint64_t *)address;
}

static void test_reader(void **state)
{
	int map = array_map("openers", 8, 1, BPF_F_MMAPABLE);
	struct dart_zero_reader bad = { .size = sizeof(bad), .flags = 1 };
	int region = device_open(), reader;
	struct dart_zero_extent extent;
	uint64_t value = 42, capacity;
	struct dart_zero_event event;
	const char *address;
	uint32_t key = 0;

	assert_int_equal(device_call(region, DART_ZERO_IOC_OPEN_READER, &bad), -EINVAL);
	assert_int_equal(bpf_map_update_elem(map, &key, &value, 0), 0);
	assert_int_equal(device_open_reader(region, &reader), 0);
	assert_int_equal(fcntl(reader, F_GETFD), FD_CLOEXEC);
	address = device_map(reader);
	capacity = device_info(reader).capacity;
	assert_int_equal(load(address), 0);
	assert_int_equal(device_add_map(region, map, &extent), 0);
	assert_int_equal(slab_new(region, 1, NULL), 2);
	assert_int_equal(load(address + extent.data), 42);
	assert_nothing_changes(reader);
	assert_int_equal(read(reader, &event, sizeof(event)), -1);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0),
			 MAP_FAILED);
	assert_int_equal(mprotect((void *)address, PAGE, PROT_READ | PROT_WRITE), -1);

	assert_int_equal(device_remove(region, extent.id), 0);
	assert_int_equal(load(address + extent.data), 0);
	assert_int_equal(device_add_map(region, map, &extent), 0);
	close(region);
	assert_int_equal(device_info(reader).extents, 2);
	assert_int_equal(load(address + extent.data), 42);
	close(reader);
	assert_int_equal(load(address + extent.data), 42);
	munmap((void *)address, capacity);
	assert_int_equal(leftovers__module_references(), 0);
	close(map);
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
		TEST("a region that was opened for reading alone takes no call that may change it",
		     test_opened_for_reading),
		TEST("a reader of a region sees its extents come and go, changes nothing, and keeps the region",
		     test_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
