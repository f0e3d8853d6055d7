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
/* Whether regions show pages of the kernel: likewise. */
extern bool dart_region_has_windows;
/* Of an extent at most: their array is allocated. */
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
	 * The extent has its id: from now on @events are told when its memory
	 * ends.  NULL if it cannot end.
	 */
	void (*begin)(struct dart_extent *extent, struct dart_events *events);
	/*
	 * The region is told no more of the extent; also called if show failed,
	 * and more than once.  NULL if there is nothing to do.
	 */
	void (*end)(struct dart_extent *extent);
	/* Puts @held, which is NULL if show has not set it. */
	void (*release)(void *held);
};

/*
 * Pages side by side.  An extent belongs to at most one region, whose lock
 * guards its place there (@info.id, @info.offset, @info.data) and @parts; all
 * else is constant in a region, except the members guarded by dart_percpu_lock.
 */
struct dart_extent {
	struct dart_zero_extent info;
	const struct dart_extent_kind *kind;
	void *held;			/* keeps the pages; known to @kind */
	const void *memory;		/* equal in extents over equal memory */
	u32 copy_pages;			/* that copies share with others, or 0 */
	u64 payer;			/* dart_percpu.payer, or 0 */
	u32 parts;			/* slices or records, in the region */
	bool owns_counters;		/* they end with it */
	bool is_reused;			/* when freed, even if held */

	/* Known to extents.c: */
	struct dart_run *run;		/* its place in the region */
	struct list_head same_run;
	struct hlist_node by_id;
	struct hlist_node by_memory;
	struct hlist_node by_payer;
	bool is_charged;		/* its pages, to @payer */

	/* Guarded by dart_percpu_lock: */
	struct list_head shows;		/* in shown_by */
	struct dart_events *events;	/* of the region, once in it */
	bool is_gone;			/* read without it, too */

	struct dart_event gone;

	/* Known to quarantine.c: */
	struct hlist_node holder;
	struct list_head quarantine;
	u64 last_held;			/* index in @pages */

	/*
	 * @info.pages of them, NULL for a CPU that is not possible and, in
	 * quarantine, for those that the region went on showing.  They are not
	 * counted here: they stay as long as @held does.
	 */
	struct page *pages[];
};

/*
 * A new extent with no place yet, or ERR_PTR().  Takes over @held, also if it
 * fails.  Process context, as for all below.
 */
struct dart_extent *dart_extent_new(const struct dart_extent_kind *kind,
				    void *held, u64 pages);
void dart_extent_end(struct dart_extent *extent);
/* No page may still be held if @is_reused: else dart_quarantine_add(). */
void dart_extent_free(struct dart_extent *extent);

#endif /* DART_ZERO_EXTENT_H */
