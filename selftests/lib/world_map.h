/* SPDX-License-Identifier: GPL-2.0-only */
/* An eBPF map that is shown in a region, as its owner knows it. */
#ifndef DART_TEST_WORLD_MAP_H
#define DART_TEST_WORLD_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define WORLD_PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define WORLD_MAP_PAGES_MAX 4

/* The upper half of every value. */
#define WORLD_MAGIC 0xda27da27ull

struct world_extent {
	uint32_t id;		/* 0: not in the region */
	uint64_t first;		/* page of the region */
	uint64_t pages;
};

/* Its value k is the first and the last 8 bytes of page k. */
struct world_map {
	int fd;			/* of its owner, -1 if closed */
	bool is_registered;	/* the memory registration is of its pages */
	uint32_t map_id;	/* 0: the map does not exist */
	uint64_t pages;
	uint64_t values[WORLD_MAP_PAGES_MAX];
	struct world_extent extent;
};

/* Settle checks that the map exists while it is held, and forgets it afterwards. */
void world_map__create(struct world_map *map, uint64_t pages, uint32_t seed);
void world_map__update(struct world_map *map, uint64_t page, uint32_t value);
void world_map__close(struct world_map *map);
void world_map__settle(struct world_map *map);

#endif /* DART_TEST_WORLD_MAP_H */
