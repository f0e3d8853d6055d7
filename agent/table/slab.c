// SPDX-License-Identifier: GPL-2.0-only
/* Creates the slab on demand, lends its pages, adopts pages of other slabs. */
#include <errno.h>
#include <stdlib.h>

#include "slab.h"

void slabs__open(struct slabs *slabs, struct region *region, struct exposure *exposure)
{
	*slabs = (struct slabs){ .region = region, .exposure = exposure };
	TAILQ_INIT(&slabs->list);
}

/* Extents are closed with the region, memory regions with the exposure. */
void slabs__close(struct slabs *slabs)
{
	struct slab *slab;

	while ((slab = TAILQ_FIRST(&slabs->list))) {
		TAILQ_REMOVE(&slabs->list, slab, link);
		free(slab);
	}
}

/* Exposes @extent of the region, which stays the caller's if that fails. */
static int slabs__add(struct slabs *slabs, const struct dart_zero_extent *extent, bool is_lasting,
		      struct slab **result, struct dart_error *error)
{
	struct slab *slab = calloc(1, sizeof(*slab));
	int ret;

	if (!slab)
		return dart_error__no_memory(error);
	ret = exposure__open_slab(slabs->exposure, extent, error);
	if (ret) {
		free(slab);
		return ret;
	}
	slab->slabs = slabs;
	slab->extent = *extent;
	slab->is_lasting = is_lasting;
	if (is_lasting)
		TAILQ_INSERT_HEAD(&slabs->list, slab, link);
	else
		TAILQ_INSERT_TAIL(&slabs->list, slab, link);
	*result = slab;
	return 0;
}

static int slabs__create(struct slabs *slabs, uint32_t pages, bool is_lasting, struct slab **slab,
			 struct dart_error *error)
{
	struct dart_zero_extent extent;
	int ret;

	ret = region__add_slab(slabs->region, pages, &extent, error);
	if (ret)
		return ret;
	ret = slabs__add(slabs, &extent, is_lasting, slab, error);
	if (ret)
		region__remove(slabs->region, extent.id);
	return ret;
}

/* Removes the slab when its last slice ends, unless it lends more slices. */
static void slab__settle(struct slab *slab)
{
	struct slabs *slabs = slab->slabs;

	if (slab->slices || slab->is_lasting)
		return;
	TAILQ_REMOVE(&slabs->list, slab, link);
	exposure__close_slab(slabs->exposure, &slab->extent);
	region__remove(slabs->region, slab->extent.id);
	free(slab);
}

static int slab__lend(struct slab *slab, uint32_t pages,
		      struct dart_zero_slice *slice, struct dart_error *error)
{
	int ret;

	*slice = (struct dart_zero_slice){
		.slab = slab->extent.id,
		.pages = pages,
	};
	ret = region__add_slice(slab->slabs->region, slice, error);
	if (!ret)
		slab->slices++;
	return ret;
}

int slabs__lend_alone(struct slabs *slabs, uint32_t pages, struct dart_zero_slice *slice,
		      struct slab **slab, struct dart_error *error)
{
	int ret = slabs__create(slabs, pages, false, slab, error);

	if (ret)
		return ret;
	ret = slab__lend(*slab, pages, slice, error);
	if (ret)
		slab__settle(*slab);
	return ret;
}

int slabs__lend(struct slabs *slabs, uint32_t pages, struct dart_zero_slice *slice,
		struct slab **slab, struct dart_error *error)
{
	int ret;

	TAILQ_FOREACH(*slab, &slabs->list, link) {
		ret = slab__lend(*slab, pages, slice, error);
		if (ret != -ENOSPC)
			return ret;
	}
	if (slabs->region->way->has_slab_for_each_slice)
		return slabs__lend_alone(slabs, pages, slice, slab, error);
	*slab = TAILQ_FIRST(&slabs->list);
	if (*slab && (*slab)->is_lasting)
		return -ENOSPC;
	return slabs__create(slabs, SLAB_PAGES, true, slab, error) ?:
		       slab__lend(*slab, pages, slice, error);
}

static struct slab *slabs__find(const struct slabs *slabs, uint32_t id)
{
	struct slab *slab;

	TAILQ_FOREACH(slab, &slabs->list, link)
		if (slab->extent.id == id)
			return slab;
	return NULL;
}

int slabs__adopt(struct slabs *slabs, int fd, struct dart_zero_slice *slice,
		 struct slab **slab, struct dart_error *error)
{
	struct dart_zero_adoption adoption;
	int ret;

	ret = region__adopt_slice(slabs->region, fd, &adoption, error);
	*slice = (struct dart_zero_slice){
		.slab = adoption.slab.id,
		.pages = adoption.pages,
		.id = adoption.id,
		.fd = -1,
		.data = adoption.data,
	};
	if (ret)
		return ret;

	*slab = slabs__find(slabs, slice->slab);
	if (!*slab) {
		slabs->region->changes++;
		ret = slabs__add(slabs, &adoption.slab, false, slab, error);
		if (ret) {
			region__remove_part(slabs->region, slice->id);
			region__remove(slabs->region, slice->slab);
			return ret;
		}
	}
	(*slab)->slices++;
	return 0;
}

void slab__take_back(struct slab *slab, uint32_t slice)
{
	region__remove_part(slab->slabs->region, slice);
	slab->slices--;
	slab__settle(slab);
}
