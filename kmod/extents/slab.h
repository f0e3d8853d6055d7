/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_SLAB_H
#define DART_ZERO_SLAB_H

#include <linux/list.h>
#include <linux/refcount.h>

#include "kmod/base/event.h"

struct dart_extent;
struct dart_slab;
struct file;

#define DART_SLICE_PAGES_MAX 256

/*
 * Pages of a slab, lent to the holders of a file while a region shows them.  They are free again
 * when the file and the region have both released them.  If the region was closed and only the file
 * remains, another region can adopt the slice.
 */
struct dart_slice {
	refcount_t references;		/* the file's and the region's */
	struct dart_slab *slab;
	u32 first;			/* page of the slab */
	u32 pages;
	u32 id;				/* in the region, as @slab_id */
	u32 slab_id;			/* of the slab's extent */
	/* Of the region to which the slice belongs, or NULL; guarded by the slab's lock. */
	struct dart_events *events;
	struct dart_event gone;
};

/* An extent over @pages new pages, not yet placed, or ERR_PTR(). */
struct dart_extent *dart_slab_open(u32 pages);
/* An extent over a slab with slices; ERR_PTR(-EBUSY) if another one shows it. */
struct dart_extent *dart_slab_open_again(struct dart_slab *slab);

/*
 * A slice of the slab that @extent shows, or ERR_PTR(): -ENOENT (not a slab), -ENOSPC, -ENOMEM.
 * The caller owns both references: the file's until it installs or puts @file, the region's until
 * dart_slice_withdraw().  The caller sets the id before user space gets the file.
 */
struct dart_slice *dart_slice_new(const struct dart_extent *extent, u32 pages,
				  struct dart_events *events, struct file **file);
void dart_slice_withdraw(struct dart_slice *slice);

/* The slice that @file lends, or NULL; valid while the caller holds @file. */
struct dart_slice *dart_slice_of(const struct file *file);
/*
 * Gives a slice that belongs to no region to the region of @events, until dart_slice_withdraw().
 * -EEXIST: it belongs to that region already; -EBUSY: to another one.  The caller holds the file
 * until the ids of the slice are set.
 */
int dart_slice_adopt(struct dart_slice *slice, struct dart_events *events);

#endif /* DART_ZERO_SLAB_H */
