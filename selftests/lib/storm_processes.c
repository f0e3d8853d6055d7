// SPDX-License-Identifier: GPL-2.0-only
/* Operations of a storm with a second process or thread. */
#include "storm_processes.h"

#include <sys/wait.h>

#include "device.h"
#include "storm.h"
#include "storm_extents.h"

/* The child sees its inherited mappings, and later changes in them. */
void storm__fork(struct storm *storm)
{
	struct world *world = storm->world;
	struct world_page pages[WORLD_ARENA_PAGES];
	int start[2], status;
	pid_t child;
	char byte;

	memcpy(pages, world->pages, sizeof(pages));
	assert_int_equal(pipe2(start, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		world__map_references(world);
		status = read(start[0], &byte, 1) != 1;
		for (int i = 0; i < WORLD_ARENA_PAGES; i++)
			status |= !world__is_inherited_right(world, pages, i);
		_exit(status);
	}
	if (storm__draw(storm, 2))
		storm__remove_map(storm);
	else
		storm__add_map(storm);
	assert_int_equal(write(start[1], "", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(start[0]);
	close(start[1]);
}

/* The child makes a region, a mapping and a memory registration before exec(). */
void storm__exec(struct storm *storm)
{
	struct world_map *map = storm__draw_map(storm);
	int status;
	pid_t child;

	if (map->fd < 0)
		return;
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct ibv_context *context = loopback__open_device();
		int region = open(DART_ZERO_DEVICE, O_RDWR);
		struct dart_zero_extent extent;
		void *address;

		if (device_add_map(region, map->fd, &extent))
			_exit(2);
		address = mmap(NULL, WORLD_PAGE, PROT_READ, MAP_SHARED, region, extent.offset);
		if (!ibv_reg_mr(ibv_alloc_pd(context), address, WORLD_PAGE, IBV_ACCESS_REMOTE_READ))
			_exit(3);
		execlp("true", "true", NULL);
		_exit(4);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* One thread closes a region that the other uses: each call works or gets EBADF. */
void storm__close_elsewhere(struct storm *storm)
{
	struct world_map *map = storm__draw_map(storm);
	int region, ret;
	void *address;

	if (map->fd < 0)
		return;
	region = device_open();
	assert_int_equal(device_add_map(region, map->fd, NULL), 0);
	storm->to_close = region;
	sem_post(&storm->go);
	ret = device_add_window(region, DART_ZERO_SOURCE_VMSTAT, NULL);
	assert_true(!ret || ret == -EBADF);
	address = mmap(NULL, WORLD_PAGE, PROT_READ, MAP_SHARED, region, 0);
	assert_true(address != MAP_FAILED || errno == EBADF);
	ret = device_add_map(region, map->fd, NULL);
	assert_true(ret == -EEXIST || ret == -EBADF);
	sem_wait(&storm->closed);
	if (address != MAP_FAILED) {
		assert_int_equal(*(uint64_t *)address, map->values[0]);
		munmap(address, WORLD_PAGE);
	}
}
