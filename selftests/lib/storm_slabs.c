// SPDX-License-Identifier: GPL-2.0-only
/* Operations of a storm on slabs and slices. */
#include "storm_slabs.h"

#include "device.h"
#include "slab.h"
#include "storm.h"

/* Values of pages that belong to no slab any more. */
static const uint64_t zero;

static struct world_slab *draw_slab(struct storm *storm)
{
	return &storm->world->slabs[storm__draw(storm, WORLD_SLABS)];
}

static struct world_slice *draw_slice(struct storm *storm, struct world_slab *slab)
{
	return &slab->slices[storm__draw(storm, WORLD_SLICES)];
}

/* The value that the memory registration shows of @page of @slab, or NULL. */
static const uint64_t **registered(struct storm *storm,
				   const struct world_slab *slab, uint32_t page)
{
	for (uint32_t i = 0; storm->mr && i < storm->mr_pages; i++) {
		if (storm->mr_values[i] == &slab->values[page])
			return &storm->mr_values[i];
	}
	return NULL;
}

/* Registered pages of a slab that no longer exists are no longer written. */
static void settle_slab(struct storm *storm, struct world_slab *slab)
{
	if (world_slab__exists(slab))
		return;
	for (uint32_t page = 0; page < WORLD_SLAB_PAGES; page++) {
		const uint64_t **value = registered(storm, slab, page);

		if (value)
			*value = &zero;
	}
	world_slab__init(slab);
}

void storm__add_slab(struct storm *storm)
{
	struct world_slab *slab = draw_slab(storm);
	enum world_region where = storm__draw(storm, WORLD_REGIONS);
	struct dart_zero_extent reported;

	if (world_slab__exists(slab))
		return;
	slab_new(world__fd(storm->world, where), WORLD_SLAB_PAGES, &reported);
	world__show_slab(storm->world, slab, where, &reported);
}

static void remove_slice(struct storm *storm, struct world_slab *slab, struct world_slice *slice)
{
	int fd = world__fd(storm->world, world_slab__shown_by(slab));

	assert_int_equal(device_remove(fd, slice->id), slice->id ? 0 : -ENOENT);
	slice->id = 0;
	slice->is_told = false;
	world_slice__settle(slab, slice);
}

/* Often removes its slices, too, whose owners keep them. */
void storm__remove_slab(struct storm *storm)
{
	struct world_slab *slab = draw_slab(storm);
	enum world_region where = world_slab__shown_by(slab);
	bool takes_slices = storm__draw(storm, 2);

	if (where == WORLD_REGIONS)
		return;
	for (int i = 0; takes_slices && i < WORLD_SLICES; i++)
		remove_slice(storm, slab, &slab->slices[i]);
	assert_int_equal(device_remove(world__fd(storm->world, where), slab->extents[where].id),
			 world_slab__has_slices(slab) ? -EBUSY : 0);
	if (!world_slab__has_slices(slab))
		slab->extents[where].id = 0;
	settle_slab(storm, slab);
}

void storm__register_slab(struct storm *storm)
{
	struct world_slab *slab = draw_slab(storm);

	if (world_slab__shown_by(slab) == WORLD_REGION && !storm__keeps_registration(storm))
		storm__register_extent(storm, &slab->extents[WORLD_REGION], slab->values);
}

void storm__lend(struct storm *storm)
{
	struct world_slab *slab = draw_slab(storm);
	enum world_region where = world_slab__shown_by(slab);
	struct world_slice *slice = draw_slice(storm, slab);
	uint32_t pages = 1 + storm__draw(storm, WORLD_SLAB_PAGES / 2);
	bool has_room = world_slab__has_room(slab, pages);
	struct dart_zero_slice lent;
	uint32_t first;

	if (where == WORLD_REGIONS || world_slice__exists(slice))
		return;
	assert_int_equal(slice_new(world__fd(storm->world, where),
				   slab->extents[where].id, pages, &lent),
			 has_room ? 0 : -ENOSPC);
	if (!has_room)
		return;
	first = lent.data / WORLD_PAGE - slab->extents[where].first;
	for (uint32_t i = first; i < first + pages; i++)
		assert_true(world_slab__is_free(slab, i));
	*slice = (struct world_slice){
		.fd = lent.fd,
		.id = lent.id,
		.first = first,
		.pages = pages,
	};
	assert_int_not_equal(slice->id, 0);
	world_slice__map(slice);
}

void storm__write(struct storm *storm)
{
	const uint32_t words = WORLD_PAGE / sizeof(uint64_t);
	struct world_slab *slab = draw_slab(storm);
	struct world_slice *slice = draw_slice(storm, slab);
	uint64_t value = WORLD_MAGIC << 32 | storm__draw(storm, UINT32_MAX);
	uint32_t page;

	if (!slice->memory)
		return;
	page = storm__draw(storm, slice->pages);
	slice->memory[page * words] = value;
	slice->memory[(page + 1) * words - 1] = value;
	slab->values[slice->first + page] = value;
	assert_true(world__lender_is_right(storm->world));
}

/* Maps, unmaps or closes a slice; a region hears of the last. */
void storm__slice_owner(struct storm *storm)
{
	struct world_slab *slab = draw_slab(storm);
	struct world_slice *slice = draw_slice(storm, slab);

	if (!world_slice__is_owned(slice))
		return;
	if (slice->fd < 0) {
		world_slice__unmap(slice);
	} else if (!storm__draw(storm, 3)) {
		close(slice->fd);
		slice->fd = -1;
	} else if (slice->memory) {
		world_slice__unmap(slice);
	} else {
		world_slice__map(slice);
	}
	slice->is_told = slice->id && !world_slice__is_owned(slice);
	world_slice__settle(slab, slice);
	settle_slab(storm, slab);
}

/* An event that was not read is taken back. */
void storm__remove_slice(struct storm *storm)
{
	struct world_slab *slab = draw_slab(storm);
	struct world_slice *slice = draw_slice(storm, slab);

	if (world_slab__shown_by(slab) != WORLD_REGIONS)
		remove_slice(storm, slab, slice);
}

/*
 * A region shows @slab again while a part of it is registered: the kernel replaces
 * registered pages that are free, and does not lend the other registered pages again.
 */
static void leave_registered(struct storm *storm, struct world_slab *slab)
{
	for (uint32_t page = 0; page < WORLD_SLAB_PAGES; page++) {
		const uint64_t **value = registered(storm, slab, page);

		if (!value)
			continue;
		if (world_slab__is_free(slab, page))
			*value = &zero;
		else
			slab->is_stale[page] = true;
	}
}

void storm__adopt(struct storm *storm)
{
	struct world_slab *slab = draw_slab(storm);
	enum world_region shown_by = world_slab__shown_by(slab);
	enum world_region where = storm__draw(storm, WORLD_REGIONS);
	struct world_slice *slice = draw_slice(storm, slab);
	struct dart_zero_adoption adoption;
	int ret = 0;

	if (slice->fd < 0)
		return;
	if (shown_by != WORLD_REGIONS && shown_by != where)
		ret = -EBUSY;
	else if (slice->id)
		ret = -EEXIST;
	/* Pages that the other thread is unmapping are still in use. */
	pthread_mutex_lock(&storm->looking);
	assert_int_equal(slice_adopt(world__fd(storm->world, where), slice->fd, &adoption), ret);
	pthread_mutex_unlock(&storm->looking);
	if (ret == -EEXIST)
		assert_int_equal(adoption.id, slice->id);
	if (ret)
		return;

	if (shown_by == WORLD_REGIONS) {
		leave_registered(storm, slab);
		world__show_slab(storm->world, slab, where, &adoption.slab);
	}
	assert_int_equal(adoption.slab.id, slab->extents[where].id);
	assert_int_equal(adoption.pages, slice->pages);
	assert_int_equal(adoption.data, (slab->extents[where].first + slice->first) * WORLD_PAGE);
	assert_int_not_equal(adoption.id, 0);
	slice->id = adoption.id;
	assert_true(world__lender_is_right(storm->world));
}

/* Finds the slice of a region by the id in an event. */
static struct world_slice *told_slice(struct world *world, enum world_region where, uint32_t id)
{
	for (int i = 0; i < WORLD_SLABS * WORLD_SLICES; i++) {
		struct world_slab *slab = &world->slabs[i / WORLD_SLICES];
		struct world_slice *slice = &slab->slices[i % WORLD_SLICES];

		if (slab->extents[where].id && slice->is_told && (!id || slice->id == id))
			return slice;
	}
	return NULL;
}

/* A region reports each slice that lost its owner once. */
void storm__slice_events(struct storm *storm)
{
	enum world_region where = storm__draw(storm, WORLD_REGIONS);
	int fd = world__fd(storm->world, where);

	while (told_slice(storm->world, where, 0)) {
		uint32_t id = device_event(fd, DART_ZERO_EVENT_SLICE_GONE);
		struct world_slice *slice = told_slice(storm->world, where, id);

		assert_non_null(slice);
		slice->is_told = false;
	}
	device_no_event(fd);
}

/* Owners keep the slices of a region that is closed. */
void storm__close_lender(struct storm *storm)
{
	struct world *world = storm->world;

	close(world->lender);
	world->lender = device_open();
	for (int i = 0; i < WORLD_SLABS; i++) {
		struct world_slab *slab = &world->slabs[i];

		if (world_slab__shown_by(slab) != WORLD_LENDER)
			continue;
		slab->extents[WORLD_LENDER].id = 0;
		for (int k = 0; k < WORLD_SLICES; k++) {
			slab->slices[k].id = 0;
			slab->slices[k].is_told = false;
			world_slice__settle(slab, &slab->slices[k]);
		}
		settle_slab(storm, slab);
	}
}
