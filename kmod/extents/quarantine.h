/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_QUARANTINE_H
#define DART_ZERO_QUARANTINE_H

#include <linux/list.h>

#include "kmod/base/event.h"

struct dart_extent;
struct page;
struct dart_zero_quarantine;

/* Tells a region when the quarantine changes. */
struct dart_quarantine_watch {
	struct list_head link;
	struct dart_events *events;
	struct dart_event event;
};

void dart_quarantine_watch_init(struct dart_quarantine_watch *watch, struct dart_events *events);
/* To call before the region is freed. */
void dart_quarantine_watch_stop(struct dart_quarantine_watch *watch);

/*
 * Fills in @quarantine, and tells the region of @watch when it next changes.  Cancels an event that
 * is pending.
 */
void dart_quarantine_count(struct dart_quarantine_watch *watch,
			   struct dart_zero_quarantine *quarantine);

/*
 * True if a page of an extent has more references than its owner and mappings take.  Pins of RDMA
 * devices, pipes (vmsplice) and packets (MSG_ZEROCOPY) take references.  Any context.
 */
bool dart_page_is_held(struct page *page);

/*
 * Registers @extent, which a region shows from now on until dart_quarantine_add().  Process
 * context.
 */
void dart_quarantine_begin(struct dart_extent *extent);
/*
 * To be called before pages are left out of @extent, so that the quarantine does not look at them.
 * False: another extent relies on it to look at all pages.  Process context.
 */
bool dart_quarantine_may_omit(struct dart_extent *extent);
/*
 * Frees @extent, which no region has and whose @pages no mapping shows.  Frees it at once if its
 * memory is not reused, is not held, or is kept by another extent; otherwise as soon as one of
 * these is true.  The caller holds the module.  Process context.
 */
void dart_quarantine_add(struct dart_extent *extent);

/* The number of extents in quarantine. */
u32 dart_quarantine_extents(void);

/* Called when the module exits.  The references to it ensure that no extent is left. */
void dart_quarantine_exit(void);

#endif /* DART_ZERO_QUARANTINE_H */
