// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU memory that no region shows but that is still pinned, because the
 * region was closed or the extent removed.  Pages of maps and
 * slabs can be freed while they are pinned: they have no new owner before the
 * last pin is gone.  Per-CPU memory would be handed out again at once.
 */
#include "quarantine.h"

#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "extent.h"

/*
 * A process that exits closes its region and its RDMA device in no particular
 * order, and the kernel does not tell when memory registrations unpin.
 */
#define QUARANTINE_INTERVAL (HZ / 10)

static DEFINE_MUTEX(quarantine_lock);
static LIST_HEAD(quarantine);
static u32 quarantined_extents;
static u64 quarantined_pages;
static LIST_HEAD(watches);

static void quarantine_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(quarantine_work, quarantine_look);

static bool is_pinned(const struct dart_extent *extent)
{
	u64 i;

	for (i = 0; i < extent->info.pages; i++)
		if (extent->pages[i] &&
		    folio_maybe_dma_pinned(page_folio(extent->pages[i])))
			return true;
	return false;
}

/* Each watch is told once.  Called with the lock held. */
static void tell_watches(void)
{
	struct dart_quarantine_watch *watch, *next;

	list_for_each_entry_safe(watch, next, &watches, link) {
		list_del_init(&watch->link);
		dart_event_tell(watch->events, &watch->event);
	}
}

static void quarantine_look(struct work_struct *work)
{
	struct dart_extent *extent, *next;
	bool has_changed = false;

	mutex_lock(&quarantine_lock);
	list_for_each_entry_safe(extent, next, &quarantine, quarantine) {
		if (is_pinned(extent))
			continue;
		list_del(&extent->quarantine);
		quarantined_extents--;
		quarantined_pages -= extent->info.pages;
		has_changed = true;
		dart_extent_free(extent);
		module_put(THIS_MODULE);
	}
	if (has_changed)
		tell_watches();
	if (!list_empty(&quarantine))
		schedule_delayed_work(&quarantine_work, QUARANTINE_INTERVAL);
	mutex_unlock(&quarantine_lock);
}

void dart_quarantine_add(struct dart_extent *extent)
{
	dart_extent_end(extent);
	if (!extent->is_reused || !is_pinned(extent)) {
		dart_extent_free(extent);
		return;
	}

	/* So far the caller holds the module, by the file of the region. */
	__module_get(THIS_MODULE);
	mutex_lock(&quarantine_lock);
	list_add_tail(&extent->quarantine, &quarantine);
	quarantined_extents++;
	quarantined_pages += extent->info.pages;
	tell_watches();
	schedule_delayed_work(&quarantine_work, QUARANTINE_INTERVAL);
	mutex_unlock(&quarantine_lock);
}

void dart_quarantine_watch_init(struct dart_quarantine_watch *watch,
				struct dart_events *events)
{
	INIT_LIST_HEAD(&watch->link);
	watch->events = events;
	dart_event_init(&watch->event, DART_ZERO_EVENT_QUARANTINE);
}

void dart_quarantine_watch_stop(struct dart_quarantine_watch *watch)
{
	mutex_lock(&quarantine_lock);
	list_del_init(&watch->link);
	dart_event_cancel(watch->events, &watch->event);
	mutex_unlock(&quarantine_lock);
}

void dart_quarantine_count(struct dart_quarantine_watch *watch,
			   struct dart_zero_quarantine *count)
{
	mutex_lock(&quarantine_lock);
	dart_event_cancel(watch->events, &watch->event);
	list_move(&watch->link, &watches);
	count->extents = quarantined_extents;
	count->pages = quarantined_pages;
	mutex_unlock(&quarantine_lock);
}

void dart_quarantine_exit(void)
{
	cancel_delayed_work_sync(&quarantine_work);
}
