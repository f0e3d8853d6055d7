// SPDX-License-Identifier: GPL-2.0-only
/* A storm: its random numbers, its runs of pages and its second thread. */
#include "storm.h"

#include <stdlib.h>

#include "device.h"
#include "record.h"

uint32_t storm__draw(struct storm *storm, uint32_t below)
{
	uint64_t z = (storm->random += 0x9e3779b97f4a7c15ull);

	/* splitmix64 */
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (z ^ z >> 31) % below;
}

char *storm__at(const struct storm *storm, int page)
{
	return storm->world->arena + (size_t)page * WORLD_PAGE;
}

struct run storm__draw_run(struct storm *storm, int most)
{
	struct run run = { .first = storm__draw(storm, WORLD_ARENA_PAGES) };
	int room = WORLD_ARENA_PAGES - run.first;

	run.count = 1 + storm__draw(storm, room < most ? room : most);
	return run;
}

struct run storm__draw_mapped(struct storm *storm, int most)
{
	struct run run = storm__draw_run(storm, most);

	for (int i = 0; i < run.count; i++) {
		if (storm->world->pages[run.first + i].page < 0)
			run.count = i;
	}
	return run;
}

void storm__cut(struct storm *storm, struct run run)
{
	struct world_page *pages = storm->world->pages;

	pages[run.first].is_cut = true;
	if (run.first + run.count < WORLD_ARENA_PAGES)
		pages[run.first + run.count].is_cut = true;
}

bool storm__is_cut_inside(const struct storm *storm, struct run run)
{
	for (int i = run.first + 1; i < run.first + run.count; i++) {
		if (storm->world->pages[i].is_cut)
			return true;
	}
	return false;
}

bool storm__is_readable(const struct storm *storm, struct run run)
{
	for (int i = run.first; i < run.first + run.count; i++) {
		if (storm->world->pages[i].page < 0 || !storm->world->pages[i].is_readable)
			return false;
	}
	return true;
}

void storm__map_pages(struct storm *storm, struct run run, int page)
{
	void *address = mmap(storm__at(storm, run.first), (size_t)run.count * WORLD_PAGE, PROT_READ,
			     MAP_SHARED | MAP_FIXED, storm->world->region,
			     (off_t)page * WORLD_PAGE);

	assert_ptr_equal(address, storm__at(storm, run.first));
	for (int i = 0; i < run.count; i++)
		storm->world->pages[run.first + i] = (struct world_page){
			.page = page + i,
			.is_readable = true,
		};
	storm__cut(storm, run);
}

struct world_map *storm__draw_map(struct storm *storm)
{
	return &storm->world->maps[storm__draw(storm, WORLD_MAPS)];
}

void storm__register_extent(struct storm *storm, const struct world_extent *extent,
			    const uint64_t *values)
{
	struct run run = {
		.first = storm__draw(storm, WORLD_ARENA_PAGES - WORLD_SLAB_PAGES),
		.count = extent->pages,
	};

	storm__deregister(storm);
	storm__map_pages(storm, run, extent->first);
	storm->mr = ibv_reg_mr(storm->loopback->pd, storm__at(storm, run.first),
			       run.count * WORLD_PAGE, IBV_ACCESS_REMOTE_READ);
	assert_non_null(storm->mr);
	storm->mr_pages = extent->pages;
	for (uint64_t page = 0; page < extent->pages; page++)
		storm->mr_values[page] = &values[page];
}

bool storm__keeps_registration(struct storm *storm)
{
	return storm->mr && storm__draw(storm, 4);
}

void storm__deregister(struct storm *storm)
{
	if (!storm->mr)
		return;
	assert_int_equal(ibv_dereg_mr(storm->mr), 0);
	storm->mr = NULL;
	if (!storm->mr_map)
		return;
	storm->mr_map->is_registered = false;
	world_map__settle(storm->mr_map);
	storm->mr_map = NULL;
}

static void *other_thread(void *argument)
{
	struct storm *storm = argument;
	unsigned int page = 0;

	for (;;) {
		sem_wait(&storm->go);
		if (storm->is_over)
			return NULL;
		if (storm->to_close >= 0) {
			close(storm->to_close);
			storm->to_close = -1;
			sem_post(&storm->closed);
		}
		pthread_mutex_lock(&storm->looking);
		for (int i = 0; i < 2; i++) {
			const char *address;

			page = (page + 29) % WORLD_REGION_PAGES;
			address = storm->view + (size_t)page * WORLD_PAGE;
			madvise((void *)address, WORLD_PAGE, MADV_DONTNEED);
			if (!world__is_known(storm->world, address))
				storm->has_failed = true;
		}
		pthread_mutex_unlock(&storm->looking);
	}
}

void storm_records__open(struct storm_records *records)
{
	records->region = device_open();
	records->pages = record_pages_new(records->region, STORM_RECORD_PAGES);
	records->view = mmap(NULL, STORM_RECORD_PAGES * WORLD_PAGE, PROT_READ,
			     MAP_SHARED, records->region, 0);
	assert_true(records->view != MAP_FAILED);
	for (int i = 0; i < STORM_RECORDS; i++)
		records->records[i] = (struct storm_record){ .netns = -1 };
}

void storm_records__close(struct storm_records *records)
{
	munmap((void *)records->view, STORM_RECORD_PAGES * WORLD_PAGE);
	close(records->region);
	for (int i = 0; i < STORM_RECORDS; i++) {
		if (records->records[i].netns >= 0)
			close(records->records[i].netns);
	}
}

struct storm *storm__new(uint64_t seed)
{
	struct storm *storm = calloc(1, sizeof(*storm));

	assert_non_null(storm);
	storm->random = seed;
	storm->world = world__new();
	storm->loopback = loopback__new();
	storm_records__open(&storm->records);
	storm->view = mmap(NULL, WORLD_REGION_PAGES * WORLD_PAGE, PROT_READ,
			   MAP_SHARED, storm->world->region, 0);
	assert_true(storm->view != MAP_FAILED);
	storm->to_close = -1;
	assert_int_equal(sem_init(&storm->go, 0, 0), 0);
	assert_int_equal(sem_init(&storm->closed, 0, 0), 0);
	assert_int_equal(pthread_mutex_init(&storm->looking, NULL), 0);
	assert_int_equal(pthread_create(&storm->thread, NULL, other_thread, storm), 0);
	return storm;
}

void storm__free(struct storm *storm)
{
	storm->is_over = true;
	sem_post(&storm->go);
	assert_int_equal(pthread_join(storm->thread, NULL), 0);
	storm__deregister(storm);
	munmap((void *)storm->view, WORLD_REGION_PAGES * WORLD_PAGE);
	for (int i = 0; i < WORLD_MAPS; i++) {
		if (storm->world->maps[i].fd >= 0)
			world_map__close(&storm->world->maps[i]);
	}
	for (int i = 0; i < WORLD_SLABS; i++)
		world_slab__free(&storm->world->slabs[i]);
	storm_records__close(&storm->records);
	world__free(storm->world);
	loopback__free(storm->loopback);
	free(storm);
}
