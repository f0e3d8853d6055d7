/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_EXTENTS_H
#define DART_ZERO_EXTENTS_H

#include <linux/hashtable.h>
#include <linux/maple_tree.h>
#include <linux/types.h>

struct dart_extent;
struct page;

#define DART_EXTENTS_MAX 16384

/*
 * The extents of a region, guarded by its lock.  Each has a place, which is a run of pages of the
 * region.  Extents that show the same pages share a place.
 */
struct dart_extents {
	struct maple_tree runs;		/* page of the region -> dart_run */
	DECLARE_HASHTABLE(by_page, 10);	/* pages of runs that can be shared */
	DECLARE_HASHTABLE(by_id, 10);
	DECLARE_HASHTABLE(by_memory, 10);
	DECLARE_HASHTABLE(by_payer, 6);	/* extents with a payer */
	u32 count;
};

void dart_extents_init(struct dart_extents *extents);
/* Puts all of them into quarantine. */
void dart_extents_destroy(struct dart_extents *extents);

/* NULL if there is none. */
struct dart_extent *dart_extents_find(struct dart_extents *extents, u32 id);
struct dart_extent *dart_extents_find_memory(struct dart_extents *extents, const void *memory);
/*
 * The extent after @extent, or the first one if it is NULL; NULL at the end.  Ordered by offset,
 * then by age.
 */
struct dart_extent *dart_extents_next(struct dart_extents *extents,
				      const struct dart_extent *extent);
/* The page that is shown as page @at of the region, or NULL. */
struct page *dart_extents_page(struct dart_extents *extents, u64 at);
/* Pages of the region up to the end of the last extent. */
u64 dart_extents_end(struct dart_extents *extents);

/*
 * Gives @extent the id @id and a place.  *@is_new is false if another extent has this place
 * already.  -EEXIST if one shows the same memory, -EDQUOT, -ENOSPC, -ENOMEM.
 */
int dart_extents_add(struct dart_extents *extents, struct dart_extent *extent,
		     u32 id, bool *is_new);
/*
 * Takes out @extent.  *@is_last is true if no extent is left at its place.  @extent forgets the
 * pages that other extents show: these stay visible and are no reason for a quarantine.  -ENOMEM.
 */
int dart_extents_remove(struct dart_extents *extents, struct dart_extent *extent, bool *is_last);

#endif /* DART_ZERO_EXTENTS_H */
