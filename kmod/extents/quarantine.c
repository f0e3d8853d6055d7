// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU memory that no region shows, because the region was closed or the extent removed, but
 * that is still held.  Pages of maps and slabs can be freed while they are held: they get no new
 * owner before the last reference is put.  Per-CPU memory would get a new owner at once.
 */
#include "quarantine.h"

#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "extent.h"
#include "kmod/base/compat.h"

/*
 * A process that exits closes its region and its RDMA device in no particular order, and the kernel
 * does not announce when a memory registration unpins pages, a pipe is read or a packet is sent.
 * So this looks again and again, at an interval that doubles while nothing is added.
 */
#define INTERVAL_MIN (HZ / 10)
#define INTERVAL_MAX (2 * HZ)

/* Guards everything below, and the members of extents that are for the quarantine. */
static DEFINE_MUTEX(quarantine_lock);
/* All extents over reused memory, in regions and in quarantine, by their memory. */
static DEFINE_HASHTABLE(holders, 12);
static LIST_HEAD(quarantine);
static u32 quarantined_extents;
static u64 quarantined_pages;
static unsigned long interval;
static LIST_HEAD(watches);

static void quarantine_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(quarantine_work, quarantine_look);

/*
 * A mapping takes its reference before it is counted, and puts it afterwards.  So the answer can be
 * "held" too often, which only causes a delay.
 */
bool dart_page_is_held(struct page *page)
{
	struct folio *folio = page_folio(page);
	int mappings, references;

	do {
		mappings = folio_mapcount(folio);
		/* Pairs with the atomic operations of mapping and unmapping. */
		smp_rmb();
		references = folio_ref_count(folio);
		/* As above. */
		smp_rmb();
	} while (mappings != folio_mapcount(folio));
	return references - mappings > 1;
}

/* Looks first at the page that was held last time, which is usually enough. */
static bool is_held(struct dart_extent *extent)
{
	const u64 pages = extent->info.pages;
	u64 i;

	for (i = 0; i < pages; i++) {
		u64 at = (extent->last_held + i) % pages;

		if (extent->pages[at] && dart_page_is_held(extent->pages[at])) {
			extent->last_held = at;
			return true;
		}
	}
	return false;
}

/*
 * True if another extent keeps the same memory instead of @extent, from now on: it goes into
 * quarantine itself if any page of the memory is held when it is removed.  Called with the lock
 * held.
 */
static bool leave_to_other(const struct dart_extent *extent)
{
	struct dart_extent *other;

	hash_for_each_possible(holders, other, holder, (unsigned long)extent->memory) {
		if (other == extent || other->memory != extent->memory || other->is_partial)
			continue;
		other->stands_in = true;
		return true;
	}
	return false;
}

bool dart_quarantine_may_omit(struct dart_extent *extent)
{
	mutex_lock(&quarantine_lock);
	extent->is_partial = !extent->stands_in;
	mutex_unlock(&quarantine_lock);
	return extent->is_partial;
}

/* Tells each watch once.  Called with the lock held. */
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
	LIST_HEAD(released);
	u64 pages = 0;
	u32 count = 0;

	mutex_lock(&quarantine_lock);
	list_for_each_entry_safe(extent, next, &quarantine, quarantine) {
		if (is_held(extent) && !leave_to_other(extent))
			continue;
		list_move(&extent->quarantine, &released);
		hash_del(&extent->holder);
		count++;
		pages += extent->info.pages;
	}
	if (!list_empty(&quarantine)) {
		schedule_delayed_work(&quarantine_work, interval);
		interval = min_t(unsigned long, 2 * interval, INTERVAL_MAX);
	}
	mutex_unlock(&quarantine_lock);

	if (!count)
		return;
	list_for_each_entry_safe(extent, next, &released, quarantine) {
		dart_extent_free(extent);
		module_put(THIS_MODULE);
	}
	mutex_lock(&quarantine_lock);
	quarantined_extents -= count;
	quarantined_pages -= pages;
	tell_watches();
	mutex_unlock(&quarantine_lock);
}

void dart_quarantine_begin(struct dart_extent *extent)
{
	if (!extent->is_reused)
		return;
	mutex_lock(&quarantine_lock);
	hash_add(holders, &extent->holder, (unsigned long)extent->memory);
	mutex_unlock(&quarantine_lock);
}

void dart_quarantine_add(struct dart_extent *extent)
{
	bool is_kept;

	dart_extent_end(extent);
	if (!extent->is_reused) {
		dart_extent_free(extent);
		return;
	}

	mutex_lock(&quarantine_lock);
	is_kept = is_held(extent) && !leave_to_other(extent);
	if (is_kept) {
		/* Until now the caller held the module, by the region's file. */
		__module_get(THIS_MODULE);
		list_add_tail(&extent->quarantine, &quarantine);
		quarantined_extents++;
		quarantined_pages += extent->info.pages;
		tell_watches();
		interval = INTERVAL_MIN;
		mod_delayed_work(system_percpu_wq, &quarantine_work, interval);
	} else {
		hash_del(&extent->holder);
	}
	mutex_unlock(&quarantine_lock);
	if (!is_kept)
		dart_extent_free(extent);
}

void dart_quarantine_watch_init(struct dart_quarantine_watch *watch, struct dart_events *events)
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

void dart_quarantine_count(struct dart_quarantine_watch *watch, struct dart_zero_quarantine *count)
{
	mutex_lock(&quarantine_lock);
	dart_event_cancel(watch->events, &watch->event);
	list_move(&watch->link, &watches);
	count->extents = quarantined_extents;
	count->pages = quarantined_pages;
	mutex_unlock(&quarantine_lock);
}

u32 dart_quarantine_extents(void)
{
	return READ_ONCE(quarantined_extents);
}

void dart_quarantine_exit(void)
{
	cancel_delayed_work_sync(&quarantine_work);
}
