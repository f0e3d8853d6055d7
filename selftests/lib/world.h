/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region of /dev/dart_zero and the expected contents of each page.
 *
 * The arena is a reserved range of addresses in which calls of all kinds map pages of
 * the region.  The world knows which page of the region each page of the arena shows,
 * and the contents of that page: of a map or a slice (the values that its owner set
 * last), of a window (the same memory as in a second region, which never changes), or
 * none of these (zeros).  A third region lends and adopts slices, too.
 */
#ifndef DART_TEST_WORLD_H
#define DART_TEST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/dart_zero.h>

#include "world_map.h"
#include "world_slab.h"

#define WORLD_REGION_PAGES 96	/* of the region: may be mapped */
#define WORLD_ARENA_PAGES 192
#define WORLD_MAPS 12
#define WORLD_CGROUPS 4
/* The first windows show the machine, one shows a separate network namespace, the rest cgroups. */
#define WORLD_WINDOWS (4 + WORLD_CGROUPS)
#define WORLD_SLABS 2

struct world_window {
	const char *reference;	/* the same pages in the second region */
	uint64_t offset;	/* there, bytes */
	struct world_extent extent;
};

struct world_page {
	int page;		/* of the region, -1: not mapped */
	bool is_readable;
	bool is_inherited;	/* by fork() */
	bool is_cut;		/* a mapping may begin here */
};

struct world {
	int region, reference, lender;
	int netns, cgroups[WORLD_CGROUPS];
	struct world_map maps[WORLD_MAPS];
	struct world_window windows[WORLD_WINDOWS];
	struct world_slab slabs[WORLD_SLABS];
	bool can_inherit;	/* MADV_DOFORK: newer kernels refuse it here */
	char *arena;
	struct world_page pages[WORLD_ARENA_PAGES];
};

/* In shared memory: a child of fork() sees the changes of its parent. */
struct world *world__new(void);
void world__free(struct world *world);
/* For a child: maps the second region if it was not inherited. */
void world__map_references(struct world *world);

/* Does a page mapped at @address show page @page of the region? */
bool world__shows(const struct world *world, const char *address, int page);

/*
 * Does @address show any page of a region: zeros, a value of a map, or memory of a
 * window?  For a thread that does not know the changes of another thread meanwhile.
 */
bool world__is_known(const struct world *world, const char *address);

/*
 * Does page @i of the arena show the expected contents? In a process that inherited
 * @pages, pages that were not inherited must be absent.
 */
bool world__holds(const struct world *world, int i);
bool world__is_inherited_right(const struct world *world, const struct world_page *pages, int i);

/* Calls of the device that keep the world up to date: 0 or -errno. */
int world__add_map(struct world *world, struct world_map *map);
int world__add_window(struct world *world, struct world_window *window);
int world__remove(struct world *world, struct world_extent *extent);

int world__fd(const struct world *world, enum world_region where);
/* A region shows @slab from now on, at @reported. */
void world__show_slab(struct world *world, struct world_slab *slab, enum world_region where,
		      const struct dart_zero_extent *reported);
/* Does the region that only lends show its slabs, and nothing else? */
bool world__lender_is_right(const struct world *world);

/* The arena pages [first, first + count) are no longer mapped. */
void world__reserve(struct world *world, int first, int count);

/* Do INFO and LIST agree with the world? */
bool world__is_listed_right(const struct world *world);

#endif /* DART_TEST_WORLD_H */
