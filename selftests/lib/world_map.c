// SPDX-License-Identifier: GPL-2.0-only
/* An eBPF map that is shown in a region, as its owner knows it. */
#include "world_map.h"

#include "device.h"
#include "leftovers.h"

void world_map__update(struct world_map *map, uint64_t page, uint32_t value)
{
	uint64_t *words = calloc(1, WORLD_PAGE);
	uint32_t key = page;

	assert_non_null(words);
	map->values[page] = WORLD_MAGIC << 32 | value;
	words[0] = map->values[page];
	words[WORLD_PAGE / sizeof(uint64_t) - 1] = map->values[page];
	assert_int_equal(bpf_map_update_elem(map->fd, &key, words, BPF_ANY), 0);
	free(words);
}

void world_map__create(struct world_map *map, uint64_t pages, uint32_t seed)
{
	*map = (struct world_map){
		.fd = array_map("storm", WORLD_PAGE, pages, BPF_F_MMAPABLE),
		.pages = pages,
	};
	map->map_id = map_id(map->fd);
	for (uint64_t page = 0; page < pages; page++)
		world_map__update(map, page, seed + page);
}

void world_map__close(struct world_map *map)
{
	close(map->fd);
	map->fd = -1;
}

/* Only the owner and the region hold the map. */
void world_map__settle(struct world_map *map)
{
	if (!map->map_id)
		return;
	assert_int_equal(leftovers__map_exists(map->map_id), map->fd >= 0 || map->extent.id);
	if (map->fd < 0 && !map->extent.id && !map->is_registered)
		map->map_id = 0;
}
