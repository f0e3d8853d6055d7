// SPDX-License-Identifier: GPL-2.0-only
/* The common part of all extents. */
#include "extent.h"

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>

struct dart_extent *dart_extent_new(const struct dart_extent_kind *kind, void *held, u64 pages)
{
	const u64 pages_max = min(dart_region_pages, DART_EXTENT_PAGES_MAX);
	struct dart_extent *extent = NULL;
	int ret;

	if (pages <= pages_max)
		extent = kvzalloc(struct_size(extent, pages, pages), GFP_KERNEL_ACCOUNT);
	if (!extent) {
		kind->release(held);
		return ERR_PTR(pages > pages_max ? -ENOSPC : -ENOMEM);
	}

	extent->info.kind = kind->id;
	extent->info.pages = pages;
	extent->kind = kind;
	extent->held = held;
	INIT_LIST_HEAD(&extent->shows);
	dart_event_init(&extent->gone, DART_ZERO_EVENT_EXTENT_GONE);

	ret = kind->show(extent);
	if (ret) {
		dart_extent_free(extent);
		return ERR_PTR(ret);
	}
	return extent;
}

void dart_extent_end(struct dart_extent *extent)
{
	if (extent->kind->end)
		extent->kind->end(extent);
}

void dart_extent_free(struct dart_extent *extent)
{
	dart_extent_end(extent);
	extent->kind->release(extent->held);
	kvfree(extent);
}
