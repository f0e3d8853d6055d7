/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_EXTENT_H
#define DART_ZERO_EXTENT_H

#include <linux/mm_types.h>

#include <linux/dart_zero.h>

#include "kmod/base/event.h"

struct dart_extent;
struct dart_run;

/* Pages of a region's virtual range: a parameter of the module. */
extern unsigned long dart_region_pages;
/* Whether regions may show pages of the kernel: a parameter, too. */
extern bool dart_region_has_windows;
/* The largest extent, because its array of pages is allocated. */
#define DART_EXTENT_PAGES_MAX (1UL << (32 - PAGE_SHIFT))

/*
 * A kind of extent: only its operations know the memory that is shown.  Process
 * context.
 */
struct dart_extent_kind {
	u32 id;				/* enum dart_zero_extent_kind */

	/*
	 * Fills in @pages, @info, @memory and @is_reused, and @held if that is
	 * NULL.  Returns 0 or -errno.
	 */
	int (*show)(struct dart_extent *extent);
	/*
	 * From now on @events must be told when the memory ends; the extent has its id.  NULL if
	 * the memory cannot end.
	 */
	void (*begin)(struct dart_extent *extent, struct dart_events *events);
	/*
	 * The region must not be told of the extent any more.  Also called if show failed, and more
	 * than once.  NULL if nothing is to do.
	 */
	void (*end)(struct dart_extent *extent);
	/* Releases @held; NULL if show did not set it. */
	void (*release)(void *held);
};

/*
 * Adjacent pages of a region.  An extent belongs to at most one region, whose lock guards its place
 * there (@info.id, @info.offset, @info.data) and @parts.  All other members are constant in a
 * region, except for members guarded by dart_percpu_lock.
 */
struct dart_extent {
	struct dart_zero_extent info;
	const struct dart_extent_kind *kind;
	void *held;			/* keeps the pages; @kind knows it */
	const void *memory;		/* equal for extents over the same memory */
	u32 copy_pages;			/* that copies share with others, or 0 */
	u64 payer;			/* dart_percpu.payer, or 0 */
	u32 parts;			/* number of slices or records in the region */
	bool owns_counters;		/* the counters end with the extent */
	bool is_reused;			/* the memory is reused when freed, even if it is held */

	/* Used by extents.c only: */
	struct dart_run *run;		/* its place in the region */
	struct list_head same_run;
	struct hlist_node by_id;
	struct hlist_node by_memory;
	struct hlist_node by_payer;
	bool is_charged;		/* its pages count for @payer */

	/* Guarded by dart_percpu_lock: */
	struct list_head shows;		/* in shown_by */
	struct dart_events *events;	/* of the region, while the extent is in it */
	bool is_gone;			/* also read without the lock */

	struct dart_event gone;

	/* Used by quarantine.c only: */
	struct hlist_node holder;
	struct list_head quarantine;
	u64 last_held;			/* index in @pages */
	bool stands_in;			/* for another extent over its memory, which was freed */
	bool is_partial;		/* @pages lacks pages that its region continues to show */

	/*
	 * @info.pages pages.  NULL for a CPU that is not possible, and in quarantine for pages that
	 * the region continues to show.  The array holds no references: the pages stay as long as
	 * @held.
	 */
	struct page *pages[];
};

/*
 * A new extent, not yet placed, or ERR_PTR().  Takes over @held, even if it fails.  This and all
 * functions below: process context.
 */
struct dart_extent *dart_extent_new(const struct dart_extent_kind *kind, void *held, u64 pages);
void dart_extent_end(struct dart_extent *extent);
/* If @is_reused, no page may be held any more: otherwise call dart_quarantine_add(). */
void dart_extent_free(struct dart_extent *extent);

#endif /* DART_ZERO_EXTENT_H */
