/* SPDX-License-Identifier: GPL-2.0-only */
/* A slab and its slices, as their owners and two regions know them. */
#ifndef DART_TEST_WORLD_SLAB_H
#define DART_TEST_WORLD_SLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "world_map.h"

#define WORLD_SLAB_PAGES 6
#define WORLD_SLICES 4		/* of a slab */

/* Regions of a world: the second one only lends and adopts slices. */
enum world_region { WORLD_REGION, WORLD_LENDER, WORLD_REGIONS };

/* A slice exists while its owner or a region holds it. */
struct world_slice {
	int fd;			/* of its owner, -1 if closed */
	volatile uint64_t *memory; /* of its owner, NULL if not mapped */
	uint32_t id;		/* in the region that shows the slab, 0: not there */
	uint32_t first, pages;	/* of the slab */
	bool is_told;		/* the region reported the event SLICE_GONE */
};

/* A slab exists while a region shows it or one of its slices exists. */
struct world_slab {
	struct world_extent extents[WORLD_REGIONS]; /* at most one region shows the slab */
	struct world_slice slices[WORLD_SLICES];
	/* Value k is the first and the last 8 bytes of page k. */
	uint64_t values[WORLD_SLAB_PAGES];
	bool is_stale[WORLD_SLAB_PAGES]; /* not lent again */
};

void world_slab__init(struct world_slab *slab);
/* Its owners close all slices. */
void world_slab__free(struct world_slab *slab);
bool world_slab__exists(const struct world_slab *slab);
/* The region that shows it, or WORLD_REGIONS. */
enum world_region world_slab__shown_by(const struct world_slab *slab);
bool world_slab__has_slices(const struct world_slab *slab);
bool world_slab__is_free(const struct world_slab *slab, uint32_t page);
/* Are this number of free pages side by side? */
bool world_slab__has_room(const struct world_slab *slab, uint32_t pages);

bool world_slice__is_owned(const struct world_slice *slice);
bool world_slice__exists(const struct world_slice *slice);
void world_slice__map(struct world_slice *slice);
void world_slice__unmap(struct world_slice *slice);
/* Clears the pages of @slice if it no longer exists, as the kernel does. */
void world_slice__settle(struct world_slab *slab, struct world_slice *slice);

#endif /* DART_TEST_WORLD_SLAB_H */
