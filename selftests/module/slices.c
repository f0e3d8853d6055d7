// SPDX-License-Identifier: GPL-2.0-only
/* Slices: each process writes its own pages, and the region reads them all. */
#include <infiniband/verbs.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/slab.h"

static uint64_t load(const char *address)
{
	return *(const volatile uint64_t *)address;
}

static void test_written_and_read(void **state)
{
	int region = device_open();
	const char *address = device_map(region);
	struct dart_zero_slice slices[3];
	uint32_t slab = slab_new(region, 8, NULL);

	for (int i = 0; i < 3; i++) {
		assert_int_equal(slice_new(region, slab, 2, &slices[i]), 0);
		slice_map(&slices[i])[PAGE / 8] = 100 + i;
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(load(address + slices[i].data), 0);
		assert_int_equal(load(address + slices[i].data + PAGE), 100 + i);
		munmap((void *)slice_map(&slices[i]), 2 * PAGE);
	}
	device_no_event(region);
	close(region);
	/* Slices outlive the region, whose end their owners need not notice. */
	slice_map(&slices[1])[0] = 7;
	for (int i = 0; i < 3; i++)
		close(slices[i].fd);
}

static void test_mapped_only_whole(void **state)
{
	struct dart_zero_slice slice;
	int region = device_open();

	assert_int_equal(slice_new(region, slab_new(region, 4, NULL), 1, &slice), 0);
	assert_ptr_equal(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, slice.fd, 0), MAP_FAILED);
	assert_int_equal(errno, ENXIO);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, slice.fd, PAGE), MAP_FAILED);
	assert_int_equal(errno, ENXIO);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, slice.fd, 0),
			 MAP_FAILED);
	assert_int_equal(errno, EINVAL);
	assert_ptr_equal(mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED,
			      slice.fd, 0), MAP_FAILED);
	assert_int_equal(errno, EPERM);
	assert_ptr_equal(mremap((void *)slice_map(&slice), PAGE, 2 * PAGE,
				MREMAP_MAYMOVE), MAP_FAILED);
	assert_int_equal(errno, EFAULT);
	close(slice.fd);
	close(region);
}

/* A process with pinned pages could write to them after they went to another owner. */
static void test_not_pinned(void **state)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(devices[0]);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct dart_zero_slice slice;
	int region = device_open();

	assert_non_null(pd);
	ibv_free_device_list(devices);
	assert_int_equal(slice_new(region, slab_new(region, 1, NULL), 1, &slice), 0);
	assert_null(ibv_reg_mr(pd, (void *)slice_map(&slice), PAGE, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(errno, EFAULT);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	close(slice.fd);
	close(region);
}

static void test_owner_dies(void **state)
{
	struct dart_zero_slice slice, next;
	int region = device_open();
	const char *address = device_map(region);
	uint32_t slab = slab_new(region, 1, NULL);
	pid_t owner;

	assert_int_equal(slice_new(region, slab, 1, &slice), 0);
	owner = fork();
	if (!owner) {
		slice_map(&slice)[0] = 42;
		_exit(0);
	}
	assert_int_equal(waitpid(owner, NULL, 0), owner);
	device_no_event(region);
	close(slice.fd);
	assert_int_equal(device_event(region, DART_ZERO_EVENT_SLICE_GONE), slice.id);
	assert_int_equal(load(address + slice.data), 42);
	assert_int_equal(slice_new(region, slab, 1, &next), -ENOSPC);

	assert_int_equal(device_remove(region, slice.id), 0);
	assert_int_equal(slice_new(region, slab, 1, &next), 0);
	assert_int_not_equal(next.id, slice.id);
	assert_int_equal(next.data, slice.data);
	assert_int_equal(load(address + next.data), 0);
	close(next.fd);
	close(region);
}

static void test_removed_while_mapped(void **state)
{
	struct dart_zero_slice slice, next;
	int region = device_open();
	uint32_t slab = slab_new(region, 1, NULL);
	volatile uint64_t *memory;

	assert_int_equal(slice_new(region, slab, 1, &slice), 0);
	memory = slice_map(&slice);
	assert_int_equal(device_remove(region, slab), -EBUSY);
	assert_int_equal(device_remove(region, slice.id), 0);
	assert_int_equal(device_remove(region, slice.id), -ENOENT);
	assert_int_equal(slice_new(region, slab, 1, &next), -ENOSPC);
	close(slice.fd);
	memory[0] = 1;
	assert_int_equal(slice_new(region, slab, 1, &next), -ENOSPC);
	munmap((void *)memory, PAGE);
	device_no_event(region);
	assert_int_equal(slice_new(region, slab, 1, &next), 0);
	assert_int_equal(slice_map(&next)[0], 0);
	close(region);
}

static void test_refusals(void **state)
{
	struct dart_zero_extent extent;
	struct dart_zero_slice slice;
	int region = device_open();

	slab_new(region, 300, &extent);
	assert_int_equal(device_add_window(region, DART_ZERO_SOURCE_CPUSTAT, NULL), 0);
	assert_int_equal(slice_new(region, extent.id, 0, &slice), -EINVAL);
	assert_int_equal(slice_new(region, extent.id, 257, &slice), -EINVAL);
	assert_int_equal(slice_new(region, extent.id + 1, 1, &slice), -ENOENT);
	assert_int_equal(slice_new(region, 99, 1, &slice), -ENOENT);
	slice = (struct dart_zero_slice){ .size = 8, .slab = 1, .pages = 1 };
	assert_int_equal(device_call(region, DART_ZERO_IOC_ADD_SLICE, &slice), -EINVAL);
	assert_int_equal(device_remove(region, extent.id), 0);
	close(region);
}

static void test_many(void **state)
{
	enum { COUNT = 1000 };
	static struct dart_zero_slice slices[COUNT];
	int region = device_open();
	const char *address = device_map(region);
	uint32_t slab = slab_new(region, COUNT, NULL);

	for (int i = 0; i < COUNT; i++) {
		volatile uint64_t *memory;

		assert_int_equal(slice_new(region, slab, 1, &slices[i]), 0);
		memory = slice_map(&slices[i]);
		memory[0] = i;
		munmap((void *)memory, PAGE);
	}
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(load(address + slices[i].data), i);
	for (int i = 0; i < COUNT; i++)
		close(slices[i].fd);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(device_remove(region,
			device_event(region, DART_ZERO_EVENT_SLICE_GONE)), 0);
	assert_int_equal(device_remove(region, slab), 0);
	close(region);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the region shows what the owners write to three slices, and slices outlive the region",
		     test_written_and_read),
		TEST("a slice can be mapped neither beyond its end nor privately nor executable, and cannot grow",
		     test_mapped_only_whole),
		TEST("the pages of a slice cannot be registered for RDMA by its owner",
		     test_not_pinned),
		TEST("a slice whose owner exits is reported, keeps its values until it is removed, and is then cleared",
		     test_owner_dies),
		TEST("the pages of a removed slice are not lent again while the old owner has them mapped",
		     test_removed_while_mapped),
		TEST("ADD_SLICE refuses no pages, too many pages, an extent that is not a slab and a struct of a wrong size",
		     test_refusals),
		TEST("a slab of 1000 pages lends each page once and shows it, and can be removed after the last",
		     test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
