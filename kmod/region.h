/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_REGION_H
#define DART_ZERO_REGION_H

#include <linux/mutex.h>
#include <linux/xarray.h>

#include "kmod/base/event.h"
#include "kmod/extents/extents.h"
#include "kmod/extents/quarantine.h"
#include "kmod/records/gather.h"
#include "objects/namespace.h"

struct dart_extent;
struct dart_record;
struct dart_slice;
struct dart_zero_adoption;
struct dart_zero_extent;
struct dart_zero_info;
struct dart_zero_record;
struct dart_zero_slice;
struct file;
struct vm_area_struct;

/*
 * The pages that mappings of an open file of the device show.  A region exists as long as its file,
 * which mappings hold.
 */
struct dart_region {
	/*
	 * Guards extents, slices and ids.  Page faults take it inside mmap_lock:
	 * user memory must not be touched while it is held.
	 */
	struct mutex lock;
	struct dart_extents extents;
	struct xarray slices;		/* id -> dart_slice */
	struct xarray records;		/* id -> dart_record */
	u32 record_count;
	u32 last_id;
	struct page *hole;		/* zeros, shown between extents */
	struct file *file;		/* outlives the region */
	struct dart_events events;
	struct dart_namespace_watch namespaces;
	struct dart_quarantine_watch quarantine;
	struct dart_gathering gathering;
};

/* The region of @file, which is being opened; or ERR_PTR(). */
struct dart_region *dart_region_new(struct file *file);
void dart_region_free(struct dart_region *region);

/*
 * Takes over @extent, gives it a place and an id, and copies its description to
 * @info.  -EEXIST if the region already shows the same memory, -EDQUOT, -ENOSPC,
 * -ENOMEM: the caller keeps the extent.
 */
int dart_region_add(struct dart_region *region, struct dart_extent *extent,
		    struct dart_zero_extent *info);
/*
 * Lends @slice->pages pages of the slab @slice->slab, and sets @slice->id,
 * @slice->data and @file, which is not installed yet.  -ENOENT, -ENOSPC,
 * -ENOMEM.
 */
int dart_region_add_slice(struct dart_region *region,
			  struct dart_zero_slice *slice, struct file **file);
/*
 * Takes over @slice, which no region has, shows its slab unless the region does
 * so already (*@is_shown), and sets @adoption->id, @data, @pages and @slab.
 * -EEXIST (sets @adoption->id), -EBUSY, -ENOSPC, -ENOMEM.  The caller holds the
 * file of the slice.
 */
int dart_region_adopt(struct dart_region *region, struct dart_slice *slice,
		      struct dart_zero_adoption *adoption, bool *is_shown);
/*
 * Takes over @record, places it on the pages @added->slab, and sets @added->id, @data, @rows and
 * @length.  -ENOENT, -EDQUOT, -ENOSPC, -ENOMEM: the caller keeps the record.
 */
int dart_region_add_record(struct dart_region *region, struct dart_record *record,
			   struct dart_zero_record *added);
/*
 * Takes the record @id out of the region; NULL if there is none.  Called with the region's lock
 * held, for dart_region_remove().
 */
struct dart_record *dart_region_take_record(struct dart_region *region, u32 id);
/* Removes an extent, a slice or a record.  -ENOENT, -EBUSY, -ENOMEM. */
int dart_region_remove(struct dart_region *region, u32 id);

/*
 * Copies the descriptions of all extents, ordered by offset, to @infos, which
 * has room for @room.  Returns 0, or -ENOSPC if they do not fit; sets *@count
 * to their number in both cases.
 */
int dart_region_list(struct dart_region *region,
		     struct dart_zero_extent *infos, u32 room, u32 *count);
void dart_region_info(struct dart_region *region, struct dart_zero_info *info);

/* mmap() of the file. */
int dart_region_mmap(struct dart_region *region, struct vm_area_struct *vma);

#endif /* DART_ZERO_REGION_H */
