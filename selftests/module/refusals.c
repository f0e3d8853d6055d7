// SPDX-License-Identifier: GPL-2.0-only
/* Calls of the device that are refused, and leave its region unchanged. */
#include "selftests/lib/capability.h"
#include "selftests/lib/device.h"
#include "selftests/lib/unchanged_region.h"

static void test_unknown_call(void **state)
{
	struct unchanged_region *fixture = *state;
	uint64_t argument[64] = {};

	assert_int_equal(device_call(fixture->region, _IO(DART_ZERO_IOC_MAGIC, 0x7f), argument),
			 -ENOTTY);
}

static void test_sizes(void **state)
{
	struct unchanged_region *fixture = *state;
	struct dart_zero_window window = {
		.size = sizeof(window) - 1,
		.source = DART_ZERO_SOURCE_VMSTAT,
		.fd = -1,
	};
	struct dart_zero_map map = { .size = 0, .fd = fixture->map };
	struct dart_zero_remove remove = {
		.size = sizeof(remove) + 4,
		.id = fixture->before[0].id,
	};
	struct dart_zero_list list = { .size = ~0u };
	struct dart_zero_info info = { .size = 4 };
	struct dart_zero_info filled = { .size = sizeof(filled), .used = 1 };
	struct dart_zero_quarantine quarantine = { .size = 4 };
	struct dart_zero_quarantine filled_quarantine = {
		.size = sizeof(filled_quarantine),
		.pages = 1,
	};
	int region = fixture->region;

	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_MAP, &map),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_REMOVE, &remove),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_LIST, &list),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_INFO, &info),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_INFO, &filled),
			 -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_QUARANTINE,
				     &quarantine), -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_QUARANTINE,
				     &filled_quarantine), -EINVAL);
}

static void test_flags_and_reserved(void **state)
{
	struct unchanged_region *fixture = *state;
	struct dart_zero_window window = {
		.size = sizeof(window),
		.source = DART_ZERO_SOURCE_VMSTAT,
		.fd = -1,
		.flags = 1,
	};
	struct dart_zero_map map = {
		.size = sizeof(map),
		.fd = fixture->map,
		.reserved = 1,
	};
	struct dart_zero_remove remove = {
		.size = sizeof(remove),
		.id = fixture->before[0].id,
		.flags = 0x80000000,
	};
	int region = fixture->region;

	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window), -EINVAL);
	window.flags = 0;
	window.extent.name[3] = 1;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, &window), -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_MAP, &map), -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_REMOVE, &remove), -EINVAL);
}

static void test_bad_address(void **state)
{
	struct unchanged_region *fixture = *state;
	struct dart_zero_list list = { .size = sizeof(list), .count = 2 };
	/* Readable, not writable: the answer cannot be given. */
	struct dart_zero_window *window =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int region = fixture->region;

	window->size = sizeof(*window);
	window->source = DART_ZERO_SOURCE_VMSTAT;
	window->fd = -1;
	assert_int_equal(mprotect(window, PAGE, PROT_READ), 0);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, window), -EFAULT);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_WINDOW, NULL), -EFAULT);
	assert_int_equal(device_call(region, DART_ZERO_IOC_LIST, &list), -EFAULT);
	munmap(window, PAGE);
}

static void test_counters(void **state)
{
	struct dart_zero_counters good = {
		.size = sizeof(good),
		.flags = DART_ZERO_COUNTERS_CREATE,
		.count = 1,
		.name = "refused",
	}, bad;
	struct unchanged_region *fixture = *state;
	int region = fixture->region;

	bad = good;
	bad.count = 0;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad), -EINVAL);
	bad.count = 4097;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad), -EINVAL);
	bad = good;
	bad.flags = 0;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad), -EINVAL);
	bad.count = 0;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad), -ENOENT);
	bad = good;
	bad.name[3] = ' ';
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad), -EINVAL);
	bad = good;
	bad.name[20] = 'x';
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad), -EINVAL);
	memset(bad.name, 'x', sizeof(bad.name));
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_COUNTERS, &bad), -EINVAL);
}

static void test_twice(void **state)
{
	struct unchanged_region *fixture = *state;

	assert_int_equal(device_add_window(fixture->region, DART_ZERO_SOURCE_CPUSTAT, NULL),
			 -EEXIST);
	assert_int_equal(device_add_map(fixture->region, fixture->map, NULL), -EEXIST);
}

static void test_remove_unknown(void **state)
{
	struct unchanged_region *fixture = *state;

	assert_int_equal(device_remove(fixture->region, 0), -ENOENT);
	assert_int_equal(device_remove(fixture->region, 4711), -ENOENT);
}

static void test_list_room(void **state)
{
	struct unchanged_region *fixture = *state;
	struct dart_zero_extent extent;
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = 1,
		.extents = (uintptr_t)&extent,
	};

	assert_int_equal(device_call(fixture->region, DART_ZERO_IOC_LIST, &list), -ENOSPC);
	assert_int_equal(list.count, 2);
}

static void test_capacity(void **state)
{
	struct unchanged_region *fixture = *state;
	struct dart_zero_slab slab = {
		.size = sizeof(slab),
		.pages = device_info(fixture->region).capacity / PAGE + 1,
	};

	assert_int_equal(device_call(fixture->region, DART_ZERO_IOC_ADD_SLAB, &slab), -ENOSPC);
}

static void test_capability(void **state)
{
	struct unchanged_region *fixture = *state;
	int map = array_map("capability", 8, 1, BPF_F_MMAPABLE);
	int window_ret, map_ret;

	capability_set(CAP_SYS_ADMIN, false);
	window_ret = device_add_window(fixture->region, DART_ZERO_SOURCE_SOFTNET, NULL);
	map_ret = device_add_map(fixture->region, map, NULL);
	device_info(fixture->region);
	capability_set(CAP_SYS_ADMIN, true);

	close(map);
	assert_int_equal(window_ret, -EPERM);
	assert_int_equal(map_ret, -EPERM);
}

static void test_mappings(void **state)
{
	struct unchanged_region *fixture = *state;
	struct dart_zero_info info = device_info(fixture->region);
	int read_only = open(DART_ZERO_DEVICE, O_RDONLY | O_CLOEXEC);
	const struct {
		int fd, protection, flags, code;
		off_t offset;
	} refused[] = {
		{ fixture->region, PROT_READ, MAP_PRIVATE, EINVAL, 0 },
		{ fixture->region, PROT_READ | PROT_WRITE, MAP_SHARED, EPERM, 0 },
		{ read_only, PROT_READ | PROT_WRITE, MAP_SHARED, EACCES, 0 },
		{ fixture->region, PROT_READ | PROT_EXEC, MAP_SHARED, EPERM, 0 },
		{ fixture->region, PROT_READ, MAP_SHARED, EINVAL, PAGE },
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		errno = 0;
		assert_ptr_equal(mmap(NULL, info.capacity, refused[i].protection, refused[i].flags,
				      refused[i].fd, refused[i].offset),
				 MAP_FAILED);
		assert_int_equal(errno, refused[i].code);
	}
	close(read_only);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNCHANGED_TEST("a call with an unknown number is refused",
			       test_unknown_call),
		UNCHANGED_TEST("structs of a wrong size, and ones of INFO and QUARANTINE that are not empty, are refused",
			       test_sizes),
		UNCHANGED_TEST("unknown flags and reserved fields that are not zero are refused",
			       test_flags_and_reserved),
		UNCHANGED_TEST("arguments that cannot be read or written are refused",
			       test_bad_address),
		UNCHANGED_TEST("counters without a count, with too many, unknown or of an invalid name are refused",
			       test_counters),
		UNCHANGED_TEST("a source or map that the region already shows is refused",
			       test_twice),
		UNCHANGED_TEST("the removal of an unknown extent is refused", test_remove_unknown),
		UNCHANGED_TEST("LIST into too few elements is refused, and says how many are needed",
			       test_list_room),
		UNCHANGED_TEST("a slab of more pages than the region has is refused",
			       test_capacity),
		UNCHANGED_TEST("without CAP_SYS_ADMIN windows and maps are refused, and INFO is not",
			       test_capability),
		UNCHANGED_TEST("mappings of a region that are private, writable, executable or beyond its end are refused",
			       test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
