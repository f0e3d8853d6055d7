// SPDX-License-Identifier: GPL-2.0-only
/* A slab and its slices, as their owners and two regions know them. */
#include "world_slab.h"

#include "device.h"

void world_slab__init(struct world_slab *slab)
{
	*slab = (struct world_slab){};
	for (int i = 0; i < WORLD_SLICES; i++)
		slab->slices[i].fd = -1;
}

void world_slab__free(struct world_slab *slab)
{
	for (int i = 0; i < WORLD_SLICES; i++) {
		struct world_slice *slice = &slab->slices[i];

		if (slice->memory)
			world_slice__unmap(slice);
		if (slice->fd >= 0)
			close(slice->fd);
	}
}

enum world_region world_slab__shown_by(const struct world_slab *slab)
{
	enum world_region where = 0;

	while (where < WORLD_REGIONS && !slab->extents[where].id)
		where++;
	return where;
}

bool world_slab__exists(const struct world_slab *slab)
{
	for (int i = 0; i < WORLD_SLICES; i++) {
		if (world_slice__exists(&slab->slices[i]))
			return true;
	}
	return world_slab__shown_by(slab) < WORLD_REGIONS;
}

bool world_slab__has_slices(const struct world_slab *slab)
{
	for (int i = 0; i < WORLD_SLICES; i++) {
		if (slab->slices[i].id)
			return true;
	}
	return false;
}

bool world_slab__is_free(const struct world_slab *slab, uint32_t page)
{
	for (int i = 0; i < WORLD_SLICES; i++) {
		const struct world_slice *slice = &slab->slices[i];

		if (world_slice__exists(slice) && page >= slice->first &&
		    page < slice->first + slice->pages)
			return false;
	}
	return !slab->is_stale[page];
}

bool world_slab__has_room(const struct world_slab *slab, uint32_t pages)
{
	uint32_t run = 0;

	for (uint32_t page = 0; page < WORLD_SLAB_PAGES && run < pages; page++)
		run = world_slab__is_free(slab, page) ? run + 1 : 0;
	return run == pages;
}

bool world_slice__is_owned(const struct world_slice *slice)
{
	return slice->fd >= 0 || slice->memory;
}

bool world_slice__exists(const struct world_slice *slice)
{
	return slice->id || world_slice__is_owned(slice);
}

void world_slice__map(struct world_slice *slice)
{
	void *memory = mmap(NULL, slice->pages * WORLD_PAGE,
			    PROT_READ | PROT_WRITE, MAP_SHARED, slice->fd, 0);

	assert_true(memory != MAP_FAILED);
	slice->memory = memory;
}

void world_slice__unmap(struct world_slice *slice)
{
	assert_int_equal(munmap((void *)slice->memory, slice->pages * WORLD_PAGE), 0);
	slice->memory = NULL;
}

void world_slice__settle(struct world_slab *slab, struct world_slice *slice)
{
	if (world_slice__exists(slice))
		return;
	memset(&slab->values[slice->first], 0, slice->pages * sizeof(slab->values[0]));
	slice->pages = 0;
}
