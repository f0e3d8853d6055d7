// SPDX-License-Identifier: GPL-2.0-only
/* A region with as many extents as it takes: no call looks through all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>

#include "selftests/lib/device.h"
#include "selftests/lib/slab.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Fills the region up to @count extents; returns the seconds per extent. */
static double fill(int region, uint32_t *ids, uint32_t from, uint32_t count)
{
	double start = now();

	for (uint32_t i = from; i < count; i++)
		ids[i] = slab_new(region, 1, NULL);
	return (now() - start) / (count - from);
}

static double empty(int region, const uint32_t *ids, uint32_t from,
		    uint32_t count)
{
	double start = now();

	for (uint32_t i = from; i < count; i++)
		assert_int_equal(device_remove(region, ids[i]), 0);
	return (now() - start) / (count - from);
}

static void test_extents_max(void **state)
{
	int region = device_open();
	const uint32_t most = device_info(region).extents_max;
	const uint32_t few = most / 16;
	uint32_t *ids = calloc(most, sizeof(*ids));
	struct dart_zero_slab slab = { .size = sizeof(slab), .pages = 1 };
	double first, last, removed_last, removed_first;

	assert_non_null(ids);
	first = fill(region, ids, 0, few);
	fill(region, ids, few, most - few);
	last = fill(region, ids, most - few, most);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLAB, &slab),
			 -ENOSPC);
	assert_int_equal(device_info(region).extents, most);
	assert_int_equal(device_info(region).used, (uint64_t)most * PAGE);

	removed_first = empty(region, ids, most - few, most);
	empty(region, ids, few, most - few);
	removed_last = empty(region, ids, 0, few);
	assert_int_equal(device_info(region).used, 0);
	print_message("# us to add an extent: %.0f, %.0f to a full region; to remove one: %.0f, %.0f from a full region\n",
		      first * 1e6, last * 1e6, removed_last * 1e6,
		      removed_first * 1e6);
	/* Calls that look through all take 60 times as long; other machines disturb. */
	assert_true(last < 16 * first);
	assert_true(removed_first < 16 * removed_last);
	free(ids);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a region takes extents_max extents and no more; to add or remove one takes less than 16 times as long in a full as in an empty one",
		     test_extents_max),
	};
	struct utsname kernel;

	if (uname(&kernel) || strstr(kernel.release, "-debug-")) {
		puts("1..0 # SKIP a debug kernel takes minutes for so many extents");
		return 4;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
