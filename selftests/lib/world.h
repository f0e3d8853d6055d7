/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A region of /dev/dart_zero and, page by page, what must be seen of it.
 *
 * The arena is a reserved run of addresses in which pages of the region are
 * mapped here and there, by whatever calls; the world knows which page of the
 * region each of its pages shows, and what that page holds: a page of a map
 * (with the values that its owner has set last), of a window (which must show
 * the same memory as a second region, of which nothing is ever changed), or
 * nothing (zeros).
 */
#ifndef DART_TEST_WORLD_H
#define DART_TEST_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "world_map.h"

#define WORLD_REGION_PAGES 96	/* of the region, that may be mapped */
#define WORLD_ARENA_PAGES 192
#define WORLD_MAPS 12
#define WORLD_WINDOWS 3

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
	int region, reference;
	struct world_map maps[WORLD_MAPS];
	struct world_window windows[WORLD_WINDOWS];
	bool can_inherit;	/* MADV_DOFORK: newer kernels refuse it here */
	char *arena;
	struct world_page pages[WORLD_ARENA_PAGES];
};

/* In shared memory: a child of fork() sees what its parent changes. */
struct world *world__new(void);
void world__free(struct world *world);
/* For a child that has inherited them, or not. */
void world__map_references(struct world *world);

/* The eight bytes at @address; false if they cannot be read. */
bool world__peek(const volatile char *address, uint64_t *value);

/* Does a page mapped at @address show page @page of the region? */
bool world__shows(const struct world *world, const char *address, int page);

/*
 * May @address show any page of a region at all: zeros, a value of a map, or
 * what the windows show?  For those who do not know what is changed just now.
 */
bool world__is_known(const struct world *world, const char *address);

/*
 * Is page @i of the arena what it must be?  For a process that has inherited
 * @pages, those that were not are absent.
 */
bool world__holds(const struct world *world, int i);
bool world__is_inherited_right(const struct world *world,
			       const struct world_page *pages, int i);

/* The calls of the device, with what they change here: 0 or -errno. */
int world__add_map(struct world *world, struct world_map *map);
int world__add_window(struct world *world, struct world_window *window);
int world__remove(struct world *world, struct world_extent *extent);

/* The arena pages [first, first + count) are no longer mapped. */
void world__reserve(struct world *world, int first, int count);

/* Does INFO and LIST say what the world says? */
bool world__is_listed_right(const struct world *world);

#endif /* DART_TEST_WORLD_H */
