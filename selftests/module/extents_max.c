// SPDX-License-Identifier: GPL-2.0-only
/* Fills a region with the largest number of extents; tools/bench/growth measures the calls. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "selftests/lib/device.h"
#include "selftests/lib/slab.h"

static void test_extents_max(void **state)
{
	int region = device_open();
	const uint32_t most = device_info(region).extents_max;
	uint32_t *ids = calloc(most, sizeof(*ids));
	struct dart_zero_slab slab = { .size = sizeof(slab), .pages = 1 };

	assert_non_null(ids);
	for (uint32_t i = 0; i < most; i++)
		ids[i] = slab_new(region, 1, NULL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLAB, &slab), -ENOSPC);
	assert_int_equal(device_info(region).extents, most);
	assert_int_equal(device_info(region).used, (uint64_t)most * PAGE);

	for (uint32_t i = 0; i < most; i++)
		assert_int_equal(device_remove(region, ids[i]), 0);
	assert_int_equal(device_info(region).used, 0);
	free(ids);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a region takes extents_max extents and no more, and is empty when all of them are removed",
		     test_extents_max),
	};
	struct utsname kernel;

	if (uname(&kernel) || strstr(kernel.release, "-debug-")) {
		puts("1..0 # SKIP a debug kernel takes minutes for so many extents");
		return 4;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
