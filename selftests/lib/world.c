// SPDX-License-Identifier: GPL-2.0-only
/* A region, and the expected contents of each page. */
#include "world.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "device.h"
#include "namespace.h"
#include "peek.h"

/* A counter may change between two reads, but not ten thousand times in a row. */
#define LOOKS 10000
#define WORLD_EXTENTS (WORLD_MAPS + WORLD_WINDOWS + WORLD_SLABS)

static void *reserve(void *address, size_t pages, int flags)
{
	void *reserved = mmap(address, pages * WORLD_PAGE, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	assert_true(reserved != MAP_FAILED);
	return reserved;
}

static const char *cgroup_path(int i)
{
	static char path[64];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/storm%d", i);
	return path;
}

/* Window @i in @region. */
static int add_window(const struct world *world, int region, int i, struct dart_zero_extent *extent)
{
	const int cgroup = i - (WORLD_WINDOWS - WORLD_CGROUPS);

	if (cgroup >= 0)
		return device_add_selected(region, DART_ZERO_SOURCE_CGROUP_CPU,
					   world->cgroups[cgroup], 0, extent);
	if (cgroup == -1)
		return device_add_selected(region, DART_ZERO_SOURCE_IP, world->netns, 0, extent);
	return device_add_window(region, i + 1, extent);
}

static const char *open_reference(struct world *world, int i)
{
	struct dart_zero_extent extent;
	void *address;

	assert_int_equal(add_window(world, world->reference, i, &extent), 0);
	world->windows[i].extent.pages = extent.pages;
	address = mmap(NULL, extent.pages * WORLD_PAGE, PROT_READ, MAP_SHARED,
		       world->reference, extent.offset);
	assert_true(address != MAP_FAILED);
	/* Children compare, too. */
	world->can_inherit = !madvise(address, extent.pages * WORLD_PAGE, MADV_DOFORK);
	world->windows[i].offset = extent.offset;
	return address;
}

void world__map_references(struct world *world)
{
	for (int i = 0; i < WORLD_WINDOWS && !world->can_inherit; i++) {
		struct world_window *window = &world->windows[i];

		if (mmap((void *)window->reference, window->extent.pages * WORLD_PAGE, PROT_READ,
			 MAP_SHARED | MAP_FIXED, world->reference, window->offset) == MAP_FAILED)
			_exit(5);
	}
}

struct world *world__new(void)
{
	struct world *world = mmap(NULL, sizeof(*world), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(world != MAP_FAILED);
	peek_init();
	world->region = device_open();
	world->reference = device_open();
	world->netns = namespace_new();
	for (int i = 0; i < WORLD_CGROUPS; i++) {
		assert_int_equal(mkdir(cgroup_path(i), 0755), 0);
		world->cgroups[i] = open(cgroup_path(i), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	for (int i = 0; i < WORLD_WINDOWS; i++)
		world->windows[i].reference = open_reference(world, i);
	world->lender = device_open();
	for (int i = 0; i < WORLD_MAPS; i++)
		world->maps[i].fd = -1;
	for (int i = 0; i < WORLD_SLABS; i++)
		world_slab__init(&world->slabs[i]);
	world->arena = reserve(NULL, WORLD_ARENA_PAGES, 0);
	world__reserve(world, 0, WORLD_ARENA_PAGES);
	return world;
}

void world__free(struct world *world)
{
	for (int i = 0; i < WORLD_WINDOWS; i++)
		munmap((void *)world->windows[i].reference,
		       world->windows[i].extent.pages * WORLD_PAGE);
	munmap(world->arena, WORLD_ARENA_PAGES * WORLD_PAGE);
	close(world->region);
	close(world->reference);
	close(world->lender);
	close(world->netns);
	for (int i = 0; i < WORLD_CGROUPS; i++) {
		close(world->cgroups[i]);
		assert_int_equal(rmdir(cgroup_path(i)), 0);
	}
	munmap(world, sizeof(*world));
}

void world__reserve(struct world *world, int first, int count)
{
	reserve(world->arena + (size_t)first * WORLD_PAGE, count, MAP_FIXED);
	for (int i = first; i < first + count; i++)
		world->pages[i] = (struct world_page){ .page = -1 };
	if (first + count < WORLD_ARENA_PAGES)
		world->pages[first + count].is_cut = true;
}

static bool is_in(const struct world_extent *extent, int page)
{
	return extent->id && page >= (int)extent->first &&
	       page < (int)(extent->first + extent->pages);
}

/* The offset of a word of a page, a different one in each call. */
static size_t some_word(void)
{
	static _Thread_local size_t word;

	word = (word + 41) % (WORLD_PAGE / sizeof(uint64_t));
	return word * sizeof(uint64_t);
}

static bool is_same_memory(const char *address, const char *reference)
{
	size_t word = some_word();

	for (int i = 0; i < LOOKS; i++) {
		uint64_t before, shown, after;

		if (!peek(reference + word, &before) || !peek(address + word, &shown) ||
		    !peek(reference + word, &after))
			return false;
		if (before == shown && shown == after)
			return true;
	}
	return false;
}

static bool is_value(const char *address, uint64_t value)
{
	uint64_t first, last;

	return peek(address, &first) && first == value &&
	       peek(address + WORLD_PAGE - sizeof(last), &last) && last == value;
}

bool world__shows(const struct world *world, const char *address, int page)
{
	for (int i = 0; i < WORLD_MAPS; i++) {
		const struct world_map *map = &world->maps[i];

		if (is_in(&map->extent, page))
			return is_value(address, map->values[page - map->extent.first]);
	}
	for (int i = 0; i < WORLD_SLABS; i++) {
		const struct world_slab *slab = &world->slabs[i];
		const struct world_extent *extent = &slab->extents[WORLD_REGION];

		if (is_in(extent, page))
			return is_value(address, slab->values[page - extent->first]);
	}
	for (int i = 0; i < WORLD_WINDOWS; i++) {
		const struct world_window *window = &world->windows[i];
		int in_window = page - (int)window->extent.first;

		if (is_in(&window->extent, page))
			return is_same_memory(address, window->reference + in_window * WORLD_PAGE);
	}
	return is_value(address, 0);
}

bool world__is_known(const struct world *world, const char *address)
{
	size_t word = 0;

	for (int look = 0; look < LOOKS; look++) {
		uint64_t shown, reference;

		if (!peek(address + word, &shown))
			return false;
		if (!shown || shown >> 32 == WORLD_MAGIC)
			return true;
		for (int i = 0; i < WORLD_WINDOWS; i++) {
			const struct world_window *window = &world->windows[i];

			for (uint64_t k = 0; k < window->extent.pages; k++) {
				peek(window->reference + word + k * WORLD_PAGE, &reference);
				if (reference == shown)
					return true;
			}
		}
	}
	return false;
}

bool world__holds(const struct world *world, int i)
{
	const struct world_page *page = &world->pages[i];
	const char *address = world->arena + (size_t)i * WORLD_PAGE;
	uint64_t value;

	if (page->page < 0 || !page->is_readable)
		return !peek(address, &value);
	return world__shows(world, address, page->page);
}

bool world__is_inherited_right(const struct world *world, const struct world_page *pages, int i)
{
	char *address = world->arena + (size_t)i * WORLD_PAGE;
	uint64_t value;

	if (pages[i].page < 0)
		return true;
	/* Unmapped pages cannot be synchronised. */
	if (!pages[i].is_inherited)
		return msync(address, WORLD_PAGE, MS_ASYNC) && errno == ENOMEM;
	if (!pages[i].is_readable)
		return !peek(address, &value);
	return world__shows(world, address, pages[i].page);
}

static bool overlaps(const struct world_extent *a, const struct world_extent *b)
{
	return a != b && a->id && b->id && a->first < b->first + b->pages &&
	       b->first < a->first + a->pages;
}

/* Is @extent the window at the place of @other in the second region? */
static bool shares(const struct world *world, const struct world_extent *extent,
		   const struct world_window *other)
{
	for (int i = 0; i < WORLD_WINDOWS; i++) {
		const struct world_window *window = &world->windows[i];

		if (&window->extent == extent)
			return window != other && other->extent.id &&
			       window->offset == other->offset;
	}
	return false;
}

/* @extent lies at the place of extents that show the same memory, and overlaps no other extent. */
static void settle_extent(struct world *world, struct world_extent *extent,
			  const struct dart_zero_extent *reported)
{
	extent->id = reported->id;
	extent->first = reported->offset / WORLD_PAGE;
	assert_int_not_equal(extent->id, 0);
	assert_int_equal(reported->pages, extent->pages);
	for (int i = 0; i < WORLD_MAPS; i++)
		assert_false(overlaps(extent, &world->maps[i].extent));
	for (int i = 0; i < WORLD_WINDOWS; i++) {
		const struct world_window *window = &world->windows[i];
		bool is_same = shares(world, extent, window);

		assert_int_equal(overlaps(extent, &window->extent), is_same);
		assert_true(!is_same || extent->first == window->extent.first);
	}
	for (int i = 0; i < WORLD_SLABS; i++)
		assert_false(overlaps(extent, &world->slabs[i].extents[WORLD_REGION]));
}

int world__add_map(struct world *world, struct world_map *map)
{
	struct dart_zero_extent reported;
	int ret = device_add_map(world->region, map->fd, &reported);

	if (!ret) {
		map->extent.pages = map->pages;
		settle_extent(world, &map->extent, &reported);
	}
	return ret;
}

int world__add_window(struct world *world, struct world_window *window)
{
	struct dart_zero_extent reported;
	int ret = add_window(world, world->region, window - world->windows, &reported);

	if (!ret)
		settle_extent(world, &window->extent, &reported);
	return ret;
}

int world__remove(struct world *world, struct world_extent *extent)
{
	int ret = device_remove(world->region, extent->id);

	if (!ret)
		extent->id = 0;
	return ret;
}

int world__fd(const struct world *world, enum world_region where)
{
	return where == WORLD_LENDER ? world->lender : world->region;
}

void world__show_slab(struct world *world, struct world_slab *slab, enum world_region where,
		      const struct dart_zero_extent *reported)
{
	struct world_extent *extent = &slab->extents[where];

	assert_int_equal(reported->kind, DART_ZERO_EXTENT_SLAB);
	if (where == WORLD_REGION) {
		extent->pages = WORLD_SLAB_PAGES;
		settle_extent(world, extent, reported);
		return;
	}
	*extent = (struct world_extent){
		.id = reported->id,
		.first = reported->offset / WORLD_PAGE,
		.pages = reported->pages,
	};
}

bool world__lender_is_right(const struct world *world)
{
	const struct dart_zero_info info = device_info(world->lender);
	const char *address = device_map(world->lender);
	uint32_t count = 0;
	bool is_right = true;

	for (int i = 0; i < WORLD_SLABS; i++) {
		const struct world_slab *slab = &world->slabs[i];
		const struct world_extent *extent = &slab->extents[WORLD_LENDER];

		count += extent->id != 0;
		for (uint64_t k = 0; extent->id && k < extent->pages; k++)
			is_right &= is_value(address + (extent->first + k) * WORLD_PAGE,
					     slab->values[k]);
	}
	munmap((void *)address, info.capacity);
	return is_right && count == info.extents;
}

static bool is_listed(const struct world_extent *extent,
		      const struct dart_zero_extent *reported, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (reported[i].id == extent->id)
			return reported[i].offset == extent->first * WORLD_PAGE &&
			       reported[i].pages == extent->pages;
	}
	return !extent->id;
}

bool world__is_listed_right(const struct world *world)
{
	struct dart_zero_extent reported[WORLD_EXTENTS];
	struct dart_zero_list list = {
		.size = sizeof(list),
		.count = WORLD_EXTENTS,
		.extents = (uintptr_t)reported,
	};
	uint32_t count = 0;

	assert_int_equal(device_call(world->region, DART_ZERO_IOC_LIST, &list), 0);
	for (int i = 0; i < WORLD_MAPS; i++) {
		count += world->maps[i].extent.id != 0;
		if (!is_listed(&world->maps[i].extent, reported, list.count))
			return false;
	}
	for (int i = 0; i < WORLD_WINDOWS; i++) {
		count += world->windows[i].extent.id != 0;
		if (!is_listed(&world->windows[i].extent, reported, list.count))
			return false;
	}
	for (int i = 0; i < WORLD_SLABS; i++) {
		const struct world_extent *extent = &world->slabs[i].extents[WORLD_REGION];

		count += extent->id != 0;
		if (!is_listed(extent, reported, list.count))
			return false;
	}
	return count == list.count && count == device_info(world->region).extents;
}
