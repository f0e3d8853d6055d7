/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_EXTENT_H
#define DART_ZERO_EXTENT_H

#include <linux/mm_types.h>

#include <linux/dart_zero.h>

#include "event.h"

struct bpf_map;
struct dart_percpu;
struct dart_slab;

/*
 * Pages put side by side.  An extent belongs to at most one region, whose lock
 * guards its place there (@info.id, @info.offset, @info.data) and @slices; all
 * else is constant, but for what is guarded by dart_percpu_lock.
 */
struct dart_extent {
	struct dart_zero_extent info;
	u32 slices;				/* of a slab, in the region */

	/* What is held, one of: */
	struct dart_percpu *percpu;		/* of a window, counters */
	struct bpf_map *map;
	struct dart_slab *slab;
	bool owns_counters;			/* they end with it */

	/* Guarded by dart_percpu_lock: */
	struct list_head shows;			/* in shown_by */
	struct dart_events *events;		/* of the region, once in it */

	struct dart_event gone;
	struct list_head quarantine;

	/*
	 * @info.pages of them, NULL where a CPU is not possible.  They are not
	 * counted here: they stay while what is held is.
	 */
	struct page *pages[];
};

/*
 * A new extent of @pages pages (not filled in) with no place yet, or ERR_PTR().
 * Process context; so all below.
 */
struct dart_extent *dart_extent_new(u64 pages);
/* Over @memory, which it takes over, also if it fails. */
struct dart_extent *dart_extent_new_percpu(struct dart_percpu *percpu);
/* Over the map behind @fd; the caller may have what it asks for. */
struct dart_extent *dart_extent_new_map(int fd);
void dart_extent_free(struct dart_extent *extent);
/* The same when nobody has promised that the pages are not pinned any more. */
void dart_extent_abandon(struct dart_extent *extent);

/* Do @a and @b show the same memory? */
bool dart_extent_same(const struct dart_extent *a, const struct dart_extent *b);

/* The extent has got its id: from now on @events hear what becomes of it. */
void dart_extent_enter(struct dart_extent *extent, struct dart_events *events);
/* Called with dart_percpu_lock held. */
void dart_extent_tell_gone(struct dart_extent *extent);
bool dart_extent_is_gone(const struct dart_extent *extent);

/* Abandoned memory, kept while it is pinned. */
void dart_quarantine_add(struct dart_extent *extent);
/* Before the module goes: its references make sure that nothing is left. */
void dart_quarantine_exit(void);

#endif /* DART_ZERO_EXTENT_H */
