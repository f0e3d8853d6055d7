// SPDX-License-Identifier: GPL-2.0-only
/* A fixture of cmocka: a region that a test must not change. */
#include "unchanged_region.h"

#include "device.h"

static void list_extents(int region, struct dart_zero_extent extents[2])
{
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = 2,
		.extents = (uintptr_t)extents,
	};

	assert_int_equal(device_call(region, DART_ZERO_IOC_LIST, &list), 0);
	assert_int_equal(list.count, 2);
}

int unchanged_region__setup(void **state)
{
	struct unchanged_region *fixture = test_calloc(1, sizeof(*fixture));

	fixture->region = device_open();
	fixture->map = array_map("refusals", 8, 1, BPF_F_MMAPABLE);
	assert_int_equal(device_add_window(fixture->region, DART_ZERO_SOURCE_CPUSTAT, NULL), 0);
	assert_int_equal(device_add_map(fixture->region, fixture->map, NULL), 0);
	list_extents(fixture->region, fixture->before);
	*state = fixture;
	return 0;
}

int unchanged_region__teardown(void **state)
{
	struct unchanged_region *fixture = *state;
	struct dart_zero_extent after[2];

	list_extents(fixture->region, after);
	assert_memory_equal(fixture->before, after, sizeof(after));
	close(fixture->map);
	close(fixture->region);
	test_free(fixture);
	return 0;
}
