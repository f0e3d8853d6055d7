/* SPDX-License-Identifier: GPL-2.0-only */
/* A fixture of cmocka: a region that a test must not change. */
#ifndef DART_TEST_UNCHANGED_REGION_H
#define DART_TEST_UNCHANGED_REGION_H

#include <linux/dart_zero.h>

#include "test.h"

struct unchanged_region {
	int region;	/* with a window on CPU times and @map */
	int map;
	struct dart_zero_extent before[2];
};

int unchanged_region__setup(void **state);

/* Fails the test if the list of extents changed. */
int unchanged_region__teardown(void **state);

/* Defines a test whose @state is a struct unchanged_region. */
#define UNCHANGED_TEST(sentence, function) \
	TEST_FIXTURE(sentence, function, unchanged_region__setup, \
		     unchanged_region__teardown)

#endif /* DART_TEST_UNCHANGED_REGION_H */
