/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A storm: one thread does random operations on a world and knows the contents that
 * each page must show, while another thread checks that every page shows something of
 * the region.
 */
#ifndef DART_TEST_STORM_H
#define DART_TEST_STORM_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "loopback.h"
#include "storm_records.h"
#include "world.h"

/* Adjacent pages of the arena. */
struct run {
	int first, count;
};

struct storm {
	struct world *world;
	uint64_t random;
	struct loopback *loopback;
	struct storm_records records;
	struct ibv_mr *mr;		/* of @mr_pages pages, or NULL */
	struct world_map *mr_map;	/* the map of the pages, or NULL */
	uint64_t mr_pages;
	const uint64_t *mr_values[WORLD_SLAB_PAGES]; /* by page: its contents */
	/* The other thread, which closes @to_close and then reads. */
	pthread_t thread;
	sem_t go, closed;
	pthread_mutex_t looking;	/* held while it looks at pages */
	const char *view;		/* a mapping of the whole region */
	int to_close;			/* or -1 */
	bool is_over, has_failed;
};

struct storm *storm__new(uint64_t seed);
void storm__free(struct storm *storm);

/* Below @below. */
uint32_t storm__draw(struct storm *storm, uint32_t below);
struct world_map *storm__draw_map(struct storm *storm);

/* 1 to @most pages, and 0 to @most pages that are all mapped. */
struct run storm__draw_run(struct storm *storm, int most);
struct run storm__draw_mapped(struct storm *storm, int most);

char *storm__at(const struct storm *storm, int page);
bool storm__is_readable(const struct storm *storm, struct run run);

/* A call on a run may make the kernel split mappings at its ends. */
void storm__cut(struct storm *storm, struct run run);
bool storm__is_cut_inside(const struct storm *storm, struct run run);

/* Maps the region from @page on. */
void storm__map_pages(struct storm *storm, struct run run, int page);

/* Registers exactly the pages of @extent. */
void storm__register_extent(struct storm *storm, const struct world_extent *extent,
			    const uint64_t *values);
/* Does so usually, so that its pages are removed and lent again meanwhile. */
bool storm__keeps_registration(struct storm *storm);
/* Ends the memory registration, if any. */
void storm__deregister(struct storm *storm);

#endif /* DART_TEST_STORM_H */
