// SPDX-License-Identifier: GPL-2.0-only
/* A module that was loaded with windows=0 maps maps, slabs and records only. */
#include "selftests/lib/device.h"
#include "selftests/lib/record.h"

static void test_default(void **state)
{
	int region = device_open();

	assert_int_equal(device_info(region).flags, 0);
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, NULL), 0);
	close(region);
}

static void test_refused(void **state)
{
	int region;

	assert_int_equal(module_reload("windows=0"), 0);
	region = device_open();
	assert_int_equal(device_info(region).flags, DART_ZERO_INFO_NO_WINDOWS);
	for (uint32_t source = 0; source < 256; source++) {
		int ret = device_add_window(region, source, NULL);

		assert_int_equal(ret, -EACCES);
	}
	assert_int_equal(device_add_counters(region, "none", 0, NULL), -EACCES);
	assert_int_equal(device_add_counters(region, "new", 1, NULL), -EACCES);
	assert_int_equal(device_info(region).extents, 0);
	close(region);
}

static void test_taken(void **state)
{
	const struct dart_zero_piece first_word = { .width = 8, .count = 1 };
	static uint64_t words[RECORD_ROW_WORDS_MAX];
	int map = array_map("windows_off", 8, 1, BPF_F_MMAPABLE);
	int region = device_open();
	const char *address = device_map(region);
	struct dart_zero_record record =
		record_of(record_pages_new(region, 1), DART_ZERO_SOURCE_CPUSTAT, &first_word);

	assert_int_equal(device_add_map(region, map, NULL), 0);
	assert_int_equal(record_add(region, &record), 0);
	record_row_next(address, &record, 0, words);
	assert_int_equal(munmap((void *)address, device_info(region).capacity), 0);
	close(region);
	close(map);
}

static int unload(void **state)
{
	return module_reload("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("by default windows are shown, and INFO has no flag", test_default),
		TEST("with windows=0 every window and all counters are refused with EACCES",
		     test_refused),
		TEST("with windows=0 maps and records are shown", test_taken),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
