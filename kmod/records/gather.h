/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_GATHER_H
#define DART_ZERO_GATHER_H

#include <linux/list.h>
#include <linux/mutex.h>

struct dart_events;
struct dart_extent;
struct dart_record;
struct dart_zero_record;

/* The records of a region, grouped by the interval at which they are gathered. */
struct dart_gathering {
	/*
	 * Taken inside the region's lock; guards the list, the records and the
	 * lines of their pages.
	 */
	struct mutex lock;
	struct list_head gatherers;
	struct list_head link;		/* of all gatherings */
	struct dart_events *events;	/* of the region */
};

/* The queue of the work items of all regions; empty when the module is unloaded. */
int dart_gather_init(void);
void dart_gather_exit(void);

void dart_gathering_init(struct dart_gathering *gathering, struct dart_events *events);
/* To call when it has no records any more. */
void dart_gathering_exit(struct dart_gathering *gathering);
/*
 * Starts a pass over all records of all regions, in addition to the regular passes.  Process
 * context.
 */
void dart_gather_at_once(void);

/*
 * Places @record, whose ids are set, on the pages that @extent shows, gathers it, and gathers it
 * again every @interval_ms.  Sets *@data: see dart_record_place().  -ENOENT, -ENOSPC, -ENOMEM: the
 * caller keeps the record.
 */
int dart_gathering_add(struct dart_gathering *gathering, struct dart_record *record,
		       const struct dart_extent *extent, u32 interval_ms, bool is_deferrable,
		       u64 *data);
/*
 * Frees @record.  Waits for a pass that is running, so the caller does not hold the region's lock.
 */
void dart_gathering_remove(struct dart_gathering *gathering, struct dart_record *record);

#endif /* DART_ZERO_GATHER_H */
