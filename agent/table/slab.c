// SPDX-License-Identifier: GPL-2.0-only
/* Creates the slab on demand and lends its pages. */
#include "slab.h"

void slab__open(struct slab *slab, struct region *region,
		struct exposure *exposure)
{
	*slab = (struct slab){ .region = region, .exposure = exposure };
}

/* The slab is closed with the region, its memory region with the exposure. */
static int slab__create(struct slab *slab, struct dart_error *error)
{
	struct dart_zero_extent extent;
	int ret;

	ret = region__add_slab(slab->region, SLAB_PAGES, &extent, error);
	if (ret)
		return ret;
	ret = exposure__open_slab(slab->exposure, &extent, error);
	if (ret)
		region__remove(slab->region, extent.id);
	else
		slab->id = extent.id;
	return ret;
}

int slab__lend(struct slab *slab, uint32_t length,
	       struct dart_zero_slice *slice, struct dart_error *error)
{
	uint32_t page_size = slab->region->page_size;
	int ret;

	if (!slab->id) {
		ret = slab__create(slab, error);
		if (ret)
			return ret;
	}
	*slice = (struct dart_zero_slice){
		.slab = slab->id,
		.pages = (length + page_size - 1) / page_size,
	};
	return region__add_slice(slab->region, slice, error);
}
