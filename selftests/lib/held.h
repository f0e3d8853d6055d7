/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects that outlive a test if a reference to them was not dropped.  kmemleak does
 * not report them, because they can still be reached.
 */
#ifndef DART_TEST_HELD_H
#define DART_TEST_HELD_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "leftovers.h"

#define HELD_SECONDS_MAX 60

/* Objects on which no reference is left once all regions are closed. */
struct held {
	uint32_t namespaces;
	uint32_t cgroups;	/* removed cgroups that still exist */
};

static inline uint32_t dying_cgroups(void)
{
	FILE *file = fopen("/sys/fs/cgroup/cgroup.stat", "re");
	uint32_t value = 0;
	char name[64] = "";

	assert_non_null(file);
	while (strcmp(name, "nr_dying_descendants"))
		assert_int_equal(fscanf(file, "%63s %u", name, &value), 2);
	fclose(file);
	return value;
}

static inline struct held held_now(void)
{
	struct dart_zero_namespaces list = { .size = sizeof(list) };
	int region = device_open();

	assert_int_equal(device_call(region, DART_ZERO_IOC_NAMESPACES, &list), -ENOSPC);
	close(region);
	return (struct held){
		.namespaces = list.count,
		.cgroups = dying_cgroups(),
	};
}

/* Prints a point of TAP.  Objects end after a while, unannounced: polls for that. */
static inline bool all_released(const struct held *before, uint32_t map)
{
	const char *point = "a region that was closed holds no map, namespace or cgroup";
	struct held now;

	for (int i = 0; i < HELD_SECONDS_MAX * 10; i++) {
		now = held_now();
		if (now.namespaces <= before->namespaces && now.cgroups <= before->cgroups &&
		    !leftovers__map_exists(map)) {
			printf("ok - %s\n", point);
			return true;
		}
		usleep(100000);
	}
	printf("# namespaces: %u, before: %u; removed cgroups: %u, before: %u; map: %s\n",
	       now.namespaces, before->namespaces, now.cgroups, before->cgroups,
	       leftovers__map_exists(map) ? "exists" : "removed");
	printf("not ok - %s\n", point);
	return false;
}

#endif /* DART_TEST_HELD_H */
