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

void dart_quarantine_watch_init(struct dart_quarantine_watch *watch,
				struct dart_events *events);
/* Before the region is freed. */
void dart_quarantine_watch_stop(struct dart_quarantine_watch *watch);

/*
 * Fills in @quarantine, and tells the region of @watch when it next changes.
 * Cancels an older event.
 */
void dart_quarantine_count(struct dart_quarantine_watch *watch,
			   struct dart_zero_quarantine *quarantine);

/*
 * Is a page of an extent referenced by more than its owner and mappings?  Pins of
 * RDMA devices, pipes (vmsplice) and packets (MSG_ZEROCOPY) are references.  Any
 * context.
 */
bool dart_page_is_held(struct page *page);

/* A region shows @extent, until dart_quarantine_add().  Process context. */
void dart_quarantine_begin(struct dart_extent *extent);
/*
 * Frees @extent, which no region has and of whose @pages no mapping shows any, at once
 * if its memory is not reused, not held, or kept by another extent, otherwise as soon
 * as one of these is so.  The caller holds the module.  Process context.
 */
void dart_quarantine_add(struct dart_extent *extent);

/* How many are in quarantine. */
u32 dart_quarantine_extents(void);

/* When the module exits: its references ensure that no extent is left. */
void dart_quarantine_exit(void);

#endif /* DART_ZERO_QUARANTINE_H */
