// SPDX-License-Identifier: GPL-2.0-only
/* Slices outlive the region that lent them, and another region adopts them. */
#include <stdlib.h>

#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/slab.h"

static uint64_t load(const char *address)
{
	return *(const volatile uint64_t *)address;
}

static void test_adopted(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slices[2];
	volatile uint64_t *memory;
	const char *address;
	int region;

	slices_without_region(8, slices, 2);
	memory = slice_map(&slices[1]);
	memory[0] = 17;

	region = device_open();
	address = device_map(region);
	/* Maps the hole that the slab will take. */
	assert_int_equal(load(address + PAGE), 0);
	assert_int_equal(slice_adopt(region, slices[1].fd, &adoption), 0);
	assert_int_equal(adoption.pages, 1);
	assert_int_equal(adoption.slab.kind, DART_ZERO_EXTENT_SLAB);
	assert_int_equal(adoption.slab.pages, 8);
	assert_int_equal(adoption.slab.copies, 8);
	assert_int_equal(adoption.data, adoption.slab.data + PAGE);
	assert_int_equal(device_info(region).extents, 1);
	assert_int_equal(load(address + adoption.data), 17);
	memory[0] = 18;
	assert_int_equal(load(address + adoption.data), 18);

	device_no_event(region);
	munmap((void *)memory, PAGE);
	close(slices[1].fd);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_SLICE_GONE), adoption.id);
	assert_int_equal(load(address + adoption.data), 18);
	assert_int_equal(device_remove(region, adoption.slab.id), -EBUSY);
	assert_int_equal(device_remove(region, adoption.id), 0);
	assert_int_equal(load(address + adoption.data), 0);
	close(slices[0].fd);
	assert_int_equal(device_remove(region, adoption.slab.id), 0);
	close(region);
}

static void test_one_slab(void **state)
{
	struct dart_zero_adoption first, second;
	struct dart_zero_slice slices[3], next;
	int region = device_open();

	slices_without_region(4, slices, 3);
	assert_int_equal(slice_adopt(region, slices[0].fd, &first), 0);
	assert_int_equal(slice_adopt(region, slices[2].fd, &second), 0);
	assert_int_equal(second.slab.id, first.slab.id);
	assert_int_equal(second.data, first.data + 2 * PAGE);
	assert_int_equal(device_info(region).extents, 1);

	/* The pages of the slice that was not adopted are not free. */
	assert_int_equal(slice_new(region, first.slab.id, 1, &next), 0);
	assert_int_equal(next.data, first.data + 3 * PAGE);
	assert_int_equal(slice_new(region, first.slab.id, 1, &next), -ENOSPC);
	close(slices[1].fd);
	assert_int_equal(slice_new(region, first.slab.id, 1, &next), 0);
	assert_int_equal(next.data, first.data + PAGE);
	close(region);
}

static void test_adopted_twice(void **state)
{
	struct dart_zero_adoption adoption, again;
	struct dart_zero_slice slices[2];
	int region = device_open(), other = device_open();

	slices_without_region(2, slices, 2);
	assert_int_equal(slice_adopt(region, slices[0].fd, &adoption), 0);
	assert_int_equal(slice_adopt(region, slices[0].fd, &again), -EEXIST);
	assert_int_equal(again.id, adoption.id);
	assert_int_equal(slice_adopt(other, slices[0].fd, &again), -EBUSY);
	assert_int_equal(again.id, 0);
	/* No region contains this slice, but one contains its slab. */
	assert_int_equal(slice_adopt(other, slices[1].fd, &again), -EBUSY);
	assert_int_equal(device_info(other).extents, 0);

	close(region);
	assert_int_equal(slice_adopt(other, slices[1].fd, &again), 0);
	assert_int_equal(slice_adopt(other, slices[0].fd, &again), 0);
	close(other);
	close(slices[0].fd);
	close(slices[1].fd);
}

static void test_removed_and_adopted(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	int region = device_open();
	const char *address = device_map(region);
	uint32_t slab = slab_new(region, 1, NULL);

	assert_int_equal(slice_new(region, slab, 1, &slice), 0);
	slice_map(&slice)[0] = 5;
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), -EEXIST);
	assert_int_equal(device_remove(region, slice.id), 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	assert_int_not_equal(adoption.id, slice.id);
	assert_int_equal(adoption.slab.id, slab);
	assert_int_equal(adoption.data, slice.data);
	assert_int_equal(load(address + slice.data), 5);
	close(region);
	close(slice.fd);
}

static void test_refusals(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	int region = device_open(), other = device_open(), pipes[2];

	slices_without_region(1, &slice, 1);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(slice_adopt(region, pipes[0], &adoption), -EINVAL);
	assert_int_equal(slice_adopt(region, region, &adoption), -EINVAL);
	assert_int_equal(slice_adopt(region, other, &adoption), -EINVAL);
	assert_int_equal(slice_adopt(region, -1, &adoption), -EBADF);
	assert_int_equal(slice_adopt(region, 1000, &adoption), -EBADF);

	adoption = (struct dart_zero_adoption){ .size = 8, .fd = slice.fd };
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE, &adoption), -EINVAL);
	adoption.size = sizeof(adoption);
	adoption.flags = 1;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE, &adoption), -EINVAL);
	adoption.flags = 0;
	adoption.slab.id = 1;
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE, &adoption), -EINVAL);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE, NULL), -EFAULT);
	assert_int_equal(device_info(region).extents, 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	close(pipes[0]);
	close(pipes[1]);
	close(slice.fd);
	close(other);
	close(region);
}

/* The argument can be read, but not written. */
static void test_fault(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	int region = device_open();
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	slices_without_region(1, &slice, 1);
	adoption = (struct dart_zero_adoption){
		.size = sizeof(adoption),
		.fd = slice.fd,
	};
	memcpy(page, &adoption, sizeof(adoption));
	assert_int_equal(mprotect(page, PAGE, PROT_READ), 0);
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADOPT_SLICE, page), -EFAULT);
	assert_int_equal(device_info(region).extents, 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	munmap(page, PAGE);
	close(slice.fd);
	close(region);
}

static int load_small(void **state)
{
	return module_reload("capacity=1");
}

static int load_default(void **state)
{
	return module_reload("");
}

static void test_full(void **state)
{
	struct dart_zero_adoption adoption;
	struct dart_zero_slice slice;
	uint32_t last = 0;
	int region;

	region = device_open();
	slices_without_region(1, &slice, 1);
	for (uint64_t i = device_info(region).capacity / PAGE; i; i--)
		last = slab_new(region, 1, NULL);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), -ENOSPC);
	assert_int_equal(device_remove(region, last), 0);
	assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
	close(slice.fd);
	close(region);
}

static void test_released(void **state)
{
	enum { ROUNDS = 64, PAGES = 1024 };
	long before = leftovers__memory_kib(), references;

	references = leftovers__module_references();
	for (int i = 0; i < ROUNDS; i++) {
		struct dart_zero_adoption adoption;
		struct dart_zero_slice slice;
		int region;

		slices_without_region(PAGES, &slice, 1);
		/* Every second orphan is never adopted. */
		region = device_open();
		if (i % 2)
			assert_int_equal(slice_adopt(region, slice.fd, &adoption), 0);
		close(i % 4 < 2 ? region : slice.fd);
		close(i % 4 < 2 ? slice.fd : region);
	}
	assert_int_equal(leftovers__module_references(), references);
	assert_in_range(leftovers__memory_kib() - before + 65536, 0,
			65536 + ROUNDS * PAGES * 4 / 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: the module can be unloaded as long as no test uses it. */
		TEST_FIXTURE("a full region refuses to adopt a slice of another slab until an extent is removed",
			     test_full, load_small, load_default),
		TEST("a slice of a closed region is adopted by another one with its values, its slab and its event",
		     test_adopted),
		TEST("two slices of a slab are adopted into one extent, which lends the free pages and no others",
		     test_one_slab),
		TEST("a slice that a region has is refused to it with its id and to other regions, and so is its slab until the region is closed",
		     test_adopted_twice),
		TEST("a region adopts a slice again that was removed from it",
		     test_removed_and_adopted),
		TEST("ADOPT_SLICE refuses descriptors that are not of slices, a wrong size and members that are not zero, and changes nothing",
		     test_refusals),
		TEST("ADOPT_SLICE adds neither slice nor slab if it cannot write its result",
		     test_fault),
		TEST("the memory of slabs is freed when the last slice and region are closed, adopted or not",
		     test_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
