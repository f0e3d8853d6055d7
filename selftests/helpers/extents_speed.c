// SPDX-License-Identifier: GPL-2.0-only
/*
 * extents_speed: fills a region with as many extents as it takes, empties it, and prints as
 * JSON the time to add an extent to an empty and to a full region, and to remove one from
 * each, in us, averaged over a sixteenth of all; for tools/bench.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "selftests/lib/device.h"
#include "selftests/lib/slab.h"

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* Fills the region from @from to @count extents; returns the us for each. */
static double fill(int region, uint32_t *ids, uint32_t from, uint32_t count)
{
	double start = now_us();

	for (uint32_t i = from; i < count; i++)
		ids[i] = slab_new(region, 1, NULL);
	return (now_us() - start) / (count - from);
}

static double empty(int region, const uint32_t *ids, uint32_t from, uint32_t count)
{
	double start = now_us();

	for (uint32_t i = from; i < count; i++)
		assert_int_equal(device_remove(region, ids[i]), 0);
	return (now_us() - start) / (count - from);
}

int main(void)
{
	const int region = device_open();
	const uint32_t most = device_info(region).extents_max;
	const uint32_t few = most / 16;
	uint32_t *ids = calloc(most, sizeof(*ids));
	double added_first, added_last, removed_first, removed_last;

	assert_non_null(ids);
	added_first = fill(region, ids, 0, few);
	fill(region, ids, few, most - few);
	added_last = fill(region, ids, most - few, most);
	removed_first = empty(region, ids, most - few, most);
	empty(region, ids, few, most - few);
	removed_last = empty(region, ids, 0, few);
	printf("{\"extents\": %" PRIu32 ", \"add_empty_us\": %.1f, \"add_full_us\": %.1f, "
	       "\"remove_empty_us\": %.1f, \"remove_full_us\": %.1f}\n", most,
	       added_first, added_last, removed_last, removed_first);
	free(ids);
	close(region);
	return 0;
}
