// SPDX-License-Identifier: GPL-2.0-only
/* Operations of a storm on maps, windows and memory registrations. */
#include "storm_extents.h"

#include "device.h"
#include "storm.h"

void storm__add_map(struct storm *storm)
{
	struct world_map *map = storm__draw_map(storm);
	bool is_there = map->extent.id;

	assert_int_equal(world__add_map(storm->world, map),
			 map->fd < 0 ? -EBADF : is_there ? -EEXIST : 0);
}

void storm__add_window(struct storm *storm)
{
	struct world_window *window = &storm->world->windows[storm__draw(storm, WORLD_WINDOWS)];
	bool is_there = window->extent.id;

	assert_int_equal(world__add_window(storm->world, window), is_there ? -EEXIST : 0);
}

void storm__remove_window(struct storm *storm)
{
	struct world_window *window = &storm->world->windows[storm__draw(storm, WORLD_WINDOWS)];
	bool is_there = window->extent.id;

	assert_int_equal(world__remove(storm->world, &window->extent), is_there ? 0 : -ENOENT);
}

void storm__remove_map(struct storm *storm)
{
	struct world_map *map = storm__draw_map(storm);
	bool is_there = map->extent.id;

	assert_int_equal(world__remove(storm->world, &map->extent), is_there ? 0 : -ENOENT);
	world_map__settle(map);
}

void storm__owner(struct storm *storm)
{
	struct world_map *map = storm__draw_map(storm);
	uint32_t value = storm__draw(storm, UINT32_MAX);

	if (!map->map_id) {
		world_map__create(map, 1 + value % WORLD_MAP_PAGES_MAX, value);
	} else if (map->fd >= 0 && !storm__draw(storm, 4)) {
		world_map__close(map);
		world_map__settle(map);
	} else if (map->fd >= 0) {
		world_map__update(map, storm__draw(storm, map->pages), value);
	}
}

void storm__register(struct storm *storm)
{
	struct world_map *map = storm__draw_map(storm);

	if (!map->extent.id || storm__keeps_registration(storm))
		return;
	storm__register_extent(storm, &map->extent, map->values);
	storm->mr_map = map;
	map->is_registered = true;
}

/* All that is mapped can be registered, also holes and windows, but not for writing. */
void storm__register_some(struct storm *storm)
{
	int writing = storm__draw(storm, 4) ? 0 : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct run run = storm__draw_run(storm, 8);
	struct ibv_mr *mr;

	mr = ibv_reg_mr(storm->loopback->pd, storm__at(storm, run.first), run.count * WORLD_PAGE,
			IBV_ACCESS_REMOTE_READ | writing);
	if (writing || !storm__is_readable(storm, run)) {
		assert_null(mr);
		assert_int_equal(errno, EFAULT);
	} else {
		assert_non_null(mr);
		assert_int_equal(ibv_dereg_mr(mr), 0);
	}
}

/* READ works even if the pages are no longer mapped and their owner no longer exists. */
void storm__read(struct storm *storm)
{
	for (uint64_t page = 0; storm->mr && page < storm->mr_pages; page++) {
		const uint64_t *word = loopback__read(storm->loopback,
			(uintptr_t)storm->mr->addr + page * WORLD_PAGE,
			storm->mr->rkey, WORLD_PAGE);

		assert_int_equal(word[0], *storm->mr_values[page]);
		assert_int_equal(word[WORLD_PAGE / sizeof(*word) - 1], *storm->mr_values[page]);
	}
}
