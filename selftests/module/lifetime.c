// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a region, in every order of its parts, leaves no map, no pinned page
 * and no reference to the module.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "selftests/lib/device.h"
#include "selftests/lib/leftovers.h"
#include "selftests/lib/loopback.h"

#define PAGES 3

struct fixture {
	int region, map;
	uint32_t id;
	const char *address;
	size_t capacity;
	struct dart_zero_extent extent;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
};

static void build(struct fixture *fixture)
{
	uint64_t value = 42;
	uint32_t key = 0;

	fixture->context = loopback__open_device();
	fixture->pd = ibv_alloc_pd(fixture->context);
	assert_non_null(fixture->pd);

	fixture->map = array_map("lifetime", 8, PAGES * PAGE / 8, BPF_F_MMAPABLE);
	fixture->id = map_id(fixture->map);
	assert_int_equal(bpf_map_update_elem(fixture->map, &key, &value, 0), 0);

	fixture->region = device_open();
	assert_int_equal(device_add_map(fixture->region, fixture->map, &fixture->extent), 0);
	fixture->address = device_map(fixture->region);
	fixture->capacity = device_info(fixture->region).capacity;
	fixture->mr = ibv_reg_mr(fixture->pd, (char *)fixture->address + fixture->extent.data,
				 PAGES * PAGE, IBV_ACCESS_REMOTE_READ);
	assert_non_null(fixture->mr);
}

/* The four steps that end a region; every order of them is tried. */
static void close_region(struct fixture *fixture)
{
	close(fixture->region);
}

static void unmap_region(struct fixture *fixture)
{
	assert_int_equal(munmap((void *)fixture->address, fixture->capacity), 0);
}

static void close_map(struct fixture *fixture)
{
	close(fixture->map);
}

static void deregister(struct fixture *fixture)
{
	assert_int_equal(ibv_dereg_mr(fixture->mr), 0);
}

static void (*const ends[4])(struct fixture *) = {
	close_region, unmap_region, close_map, deregister,
};

static void end_in_order(const int order[4])
{
	bool ended[4] = {};
	long before = leftovers__pinned_pages();
	struct fixture fixture;

	build(&fixture);
	assert_int_equal(leftovers__pinned_pages() - before, PAGES);
	for (int i = 0; i < 4; i++) {
		bool region_lives, pinned;

		ends[order[i]](&fixture);
		ended[order[i]] = true;
		region_lives = !ended[0] || !ended[1];
		pinned = !ended[3];

		assert_int_equal(leftovers__module_references(), region_lives);
		assert_int_equal(leftovers__map_exists(fixture.id), region_lives || !ended[2]);
		assert_int_equal(leftovers__pinned_pages() - before, pinned ? PAGES : 0);
		if (!ended[1])
			assert_int_equal(*fixture.address, 42);
	}
	ibv_dealloc_pd(fixture.pd);
	ibv_close_device(fixture.context);
}

static void test_every_order(void **state)
{
	for (int code = 0; code < 256; code++) {
		const int order[4] = { code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6 & 3 };
		unsigned int seen = 0;

		for (int i = 0; i < 4; i++)
			seen |= 1u << order[i];
		if (seen == 0xf)
			end_in_order(order);
	}
}

/* A region holds the memory of a map only while it shows it. */
static void test_removed_extent_releases_map(void **state)
{
	struct fixture fixture;

	build(&fixture);
	close_map(&fixture);
	assert_true(leftovers__map_exists(fixture.id));
	assert_int_equal(device_remove(fixture.region, fixture.extent.id), 0);
	assert_false(leftovers__map_exists(fixture.id));

	deregister(&fixture);
	unmap_region(&fixture);
	close_region(&fixture);
	ibv_dealloc_pd(fixture.pd);
	ibv_close_device(fixture.context);
}

/* Each hole is the zero page, of which pins are not counted. */
static void test_holes(void **state)
{
	struct ibv_context *context = loopback__open_device();
	struct ibv_pd *pd = ibv_alloc_pd(context);
	int region = device_open();
	size_t capacity = device_info(region).capacity;
	const char *address = device_map(region);
	long before = leftovers__pinned_pages();
	struct ibv_mr *mr;

	mr = ibv_reg_mr(pd, (char *)address, PAGES * PAGE, IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(leftovers__pinned_pages(), before);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(leftovers__pinned_pages(), before);
	munmap((void *)address, capacity);
	close(region);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
}

static void test_killed_process(void **state)
{
	long before = leftovers__pinned_pages();
	struct fixture *fixture = mmap(NULL, sizeof(*fixture), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status, ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (!child) {
		build(fixture);
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(leftovers__pinned_pages() - before, PAGES);
	assert_int_equal(leftovers__module_references(), 1);
	assert_true(leftovers__map_exists(fixture->id));

	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(leftovers__pinned_pages(), before);
	assert_int_equal(leftovers__module_references(), 0);
	assert_false(leftovers__map_exists(fixture->id));
	munmap(fixture, sizeof(*fixture));
}

static void test_unload(void **state)
{
	assert_int_equal(system("modprobe -r dart_zero"), 0);
	assert_int_equal(access(DART_ZERO_DEVICE, F_OK), -1);
	assert_int_equal(system("modprobe dart_zero"), 0);
	close(device_open());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("when region, mapping, map and memory registration end in any order, nothing is left",
		     test_every_order),
		TEST("a map without an owner is freed when its extent is removed",
		     test_removed_extent_releases_map),
		TEST("a memory registration over holes counts no pin, so that no number of them overflows",
		     test_holes),
		TEST("a killed process leaves no map, no pinned page and no reference to the module",
		     test_killed_process),
		TEST("an unloaded module takes its device away and can be loaded again",
		     test_unload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
