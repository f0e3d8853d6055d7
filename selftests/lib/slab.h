/* SPDX-License-Identifier: GPL-2.0-only */
/* Slabs and slices of <linux/dart_zero.h>, for tests. */
#ifndef DART_TEST_SLAB_H
#define DART_TEST_SLAB_H

#include "device.h"

static inline int slab_add(int region, uint32_t pages, struct dart_zero_extent *extent)
{
	struct dart_zero_slab slab = { .size = sizeof(slab), .pages = pages };
	int ret = device_call(region, DART_ZERO_IOC_ADD_SLAB, &slab);

	*extent = slab.extent;
	return ret;
}

/* Returns its id; @extent may be NULL. */
static inline uint32_t slab_new(int region, uint32_t pages, struct dart_zero_extent *extent)
{
	struct dart_zero_extent slab;

	assert_int_equal(slab_add(region, pages, &slab), 0);
	if (extent)
		*extent = slab;
	return slab.id;
}

static inline int slice_new(int region, uint32_t slab, uint32_t pages,
			    struct dart_zero_slice *slice)
{
	*slice = (struct dart_zero_slice){
		.size = sizeof(*slice),
		.slab = slab,
		.pages = pages,
	};
	return device_call(region, DART_ZERO_IOC_ADD_SLICE, slice);
}

static inline int slice_adopt(int region, int fd, struct dart_zero_adoption *adoption)
{
	*adoption = (struct dart_zero_adoption){
		.size = sizeof(*adoption),
		.fd = fd,
	};
	return device_call(region, DART_ZERO_IOC_ADOPT_SLICE, adoption);
}

static inline volatile uint64_t *slice_map(const struct dart_zero_slice *slice)
{
	void *memory = mmap(NULL, slice->pages * PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED, slice->fd, 0);

	assert_true(memory != MAP_FAILED);
	return memory;
}

/* Slices of a closed region, each one page of a slab of @pages pages. */
static inline void slices_without_region(uint32_t pages, struct dart_zero_slice *slices, int count)
{
	int region = device_open();
	uint32_t slab = slab_new(region, pages, NULL);

	for (int i = 0; i < count; i++)
		assert_int_equal(slice_new(region, slab, 1, &slices[i]), 0);
	close(region);
}

#endif /* DART_TEST_SLAB_H */
