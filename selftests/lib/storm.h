/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A storm: random operations on a world, by one thread that knows what must be
 * seen, while another looks at what can only be something of the region.
 */
#ifndef DART_TEST_STORM_H
#define DART_TEST_STORM_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "loopback.h"
#include "world.h"

/* Pages of the arena, side by side. */
struct run {
	int first, count;
};

struct storm {
	struct world *world;
	uint64_t random;
	struct loopback *loopback;
	struct ibv_mr *mr;		/* of the pages of @mr_map, or NULL */
	struct world_map *mr_map;
	/* The other thread, which closes @to_close, and then reads. */
	pthread_t thread;
	sem_t go, closed;
	const char *view;		/* of the whole region */
	int to_close;			/* or -1 */
	bool is_over, has_failed;
};

struct storm *storm__new(uint64_t seed);
void storm__free(struct storm *storm);

/* Below @below. */
uint32_t storm__draw(struct storm *storm, uint32_t below);
struct world_map *storm__draw_map(struct storm *storm);

/* At most @most pages; of mapped pages, perhaps none. */
struct run storm__draw_run(struct storm *storm, int most);
struct run storm__draw_mapped(struct storm *storm, int most);

char *storm__at(const struct storm *storm, int page);
bool storm__is_readable(const struct storm *storm, struct run run);

/* What is done to a run may make the kernel end one mapping at its ends. */
void storm__cut(struct storm *storm, struct run run);
bool storm__is_cut_inside(const struct storm *storm, struct run run);

/* mmap() of the region from @page on. */
void storm__map_pages(struct storm *storm, struct run run, int page);

/* Gives the memory registration back, if there is one. */
void storm__deregister(struct storm *storm);

#endif /* DART_TEST_STORM_H */
