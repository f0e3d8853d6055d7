// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gathers the records of a region: a work item for each interval, in process context and on no
 * particular CPU.  A region without records has no work item.
 */
#include "gather.h"

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <linux/dart_zero.h>

#include "kmod/base/event.h"
#include "kmod/extents/percpu.h"
#include "kmod/objects/cgroup_set.h"
#include "record.h"

/* The longest time that a pass holds the lock, except for a single record that takes longer. */
#define HOLD_NS (100 * NSEC_PER_USEC)
/*
 * A kill for memory causes an early pass.  Early passes come at least 10 ms apart and take at most
 * a tenth of the time, because any user can have processes killed as often as the user likes.
 */
#define EARLY_PAUSE_NS (10 * NSEC_PER_MSEC)
#define EARLY_PAUSE_TIMES 9

/* All records with the same interval; exists while such records exist. */
struct dart_gatherer {
	struct list_head link;		/* in dart_gathering.gatherers */
	struct dart_gathering *gathering;
	struct delayed_work work;
	u32 interval_ms;
	bool is_deferrable;
	bool has_ended;			/* removed from the list of gatherers */
	struct dart_cgroup_set cgroups;	/* of the records */
	struct list_head records;
	/* In @records during a pass; the records after it are still to be gathered. */
	struct list_head cursor;
	u64 due_ns;			/* CLOCK_MONOTONIC, of the next pass */
	u64 early_ns;			/* CLOCK_MONOTONIC, no early pass before this time */
	bool is_early;			/* the next pass comes before it is due */
	bool is_complete;		/* no record rests in this pass */
	struct dart_record_buffer *buffer;
	struct dart_zero_gathering cost;
};

/* Gatherings of all regions.  The lock of this list is taken before that of a gathering. */
static LIST_HEAD(gatherings);
static DEFINE_MUTEX(gatherings_lock);

/* Freezable, so that no driver is asked while its devices are suspended. */
static struct workqueue_struct *gather_queue;

int dart_gather_init(void)
{
	gather_queue = alloc_workqueue("dart_zero_gather", WQ_UNBOUND | WQ_FREEZABLE | WQ_SYSFS, 0);
	return gather_queue ? 0 : -ENOMEM;
}

void dart_gather_exit(void)
{
	destroy_workqueue(gather_queue);
}

void dart_gathering_init(struct dart_gathering *gathering, struct dart_events *events)
{
	mutex_init(&gathering->lock);
	INIT_LIST_HEAD(&gathering->gatherers);
	gathering->events = events;
	mutex_lock(&gatherings_lock);
	list_add(&gathering->link, &gatherings);
	mutex_unlock(&gatherings_lock);
}

void dart_gathering_exit(struct dart_gathering *gathering)
{
	mutex_lock(&gatherings_lock);
	list_del(&gathering->link);
	mutex_unlock(&gatherings_lock);
}

static void gather(struct dart_gatherer *gatherer, struct dart_record *record, u64 now)
{
	if (record->is_gone)
		return;
	if (!gatherer->is_complete && dart_record_rests(record, gatherer->cost.passes)) {
		gatherer->cost.rested++;
		return;
	}
	if (dart_record_gather(record, now, gatherer->buffer, &gatherer->cost)) {
		gatherer->cost.records++;
		return;
	}
	record->is_gone = true;
	dart_event_tell(gatherer->gathering->events, &record->gone);
}

/* Called with the lock held, which it releases from time to time. */
static void gather_all(struct dart_gatherer *gatherer)
{
	struct mutex *lock = &gatherer->gathering->lock;
	struct dart_record *record;
	u64 taken = ktime_get_boottime_ns(), now = taken;

	list_add(&gatherer->cursor, &gatherer->records);
	while (!list_is_last(&gatherer->cursor, &gatherer->records)) {
		record = list_first_entry(&gatherer->cursor, struct dart_record, link);
		list_move(&gatherer->cursor, &record->link);
		gather(gatherer, record, now);
		now = ktime_get_boottime_ns();
		if (now - taken < HOLD_NS)
			continue;
		mutex_unlock(lock);
		cond_resched();
		mutex_lock(lock);
		now = ktime_get_boottime_ns();
		taken = now;
	}
	list_del_init(&gatherer->cursor);
}

/* Called with the lock held, which it releases while it sums. */
static void sum_cgroups(struct dart_gatherer *gatherer)
{
	struct mutex *lock = &gatherer->gathering->lock;
	u64 visits;

	if (!dart_cgroup_set_begin(&gatherer->cgroups))
		return;
	mutex_unlock(lock);
	visits = dart_cgroup_set_sum(&gatherer->cgroups);
	mutex_lock(lock);
	dart_cgroup_set_end(&gatherer->cgroups);
	gatherer->cost.cgroup_visits += visits;
}

static void schedule_next(struct dart_gatherer *gatherer)
{
	const u64 now = ktime_get_ns();
	u64 next_ns = gatherer->due_ns;

	if (gatherer->is_early)
		next_ns = min(next_ns, gatherer->early_ns);
	mod_delayed_work(gather_queue, &gatherer->work,
			 next_ns > now ? nsecs_to_jiffies(next_ns - now) : 0);
}

/* Passes follow the clock.  A pass whose time has passed is skipped and counted. */
static void next_due(struct dart_gatherer *gatherer)
{
	const u64 interval_ns = (u64)gatherer->interval_ms * NSEC_PER_MSEC;
	const u64 now = ktime_get_ns();
	u64 missed;

	gatherer->due_ns += interval_ns;
	if (gatherer->due_ns > now)
		return;
	missed = div64_u64(now - gatherer->due_ns, interval_ns) + 1;
	gatherer->cost.missed += missed;
	gatherer->due_ns += missed * interval_ns;
}

static void gather_work(struct work_struct *work)
{
	struct dart_gatherer *gatherer =
		container_of(to_delayed_work(work), struct dart_gatherer, work);
	struct dart_zero_gathering *cost = &gatherer->cost;
	u64 start = ktime_get_ns(), time;
	bool was_early;

	mutex_lock(&gatherer->gathering->lock);
	was_early = gatherer->is_early && start < gatherer->due_ns;
	/* A due pass can replace an early one. */
	gatherer->is_complete = gatherer->is_early;
	gatherer->is_early = false;
	sum_cgroups(gatherer);
	gather_all(gatherer);
	time = ktime_get_ns() - start;
	cost->passes++;
	cost->time_ns += time;
	cost->longest_ns = max(cost->longest_ns, time);
	if (was_early)
		gatherer->early_ns = start + time + max(EARLY_PAUSE_NS, EARLY_PAUSE_TIMES * time);
	/* An early pass does not replace the next due pass. */
	if (!was_early || gatherer->due_ns <= start + time)
		next_due(gatherer);
	if (!gatherer->has_ended)
		schedule_next(gatherer);
	mutex_unlock(&gatherer->gathering->lock);
}

void dart_gather_at_once(void)
{
	struct dart_gathering *gathering;
	struct dart_gatherer *gatherer;

	mutex_lock(&gatherings_lock);
	list_for_each_entry(gathering, &gatherings, link) {
		mutex_lock(&gathering->lock);
		list_for_each_entry(gatherer, &gathering->gatherers, link) {
			/* One pass covers many kills. */
			if (gatherer->is_early)
				continue;
			gatherer->is_early = true;
			schedule_next(gatherer);
		}
		mutex_unlock(&gathering->lock);
	}
	mutex_unlock(&gatherings_lock);
}

static void gatherer_free(struct dart_gatherer *gatherer)
{
	kvfree(gatherer->buffer);
	kfree(gatherer);
}

static struct dart_gatherer *gatherer_new(struct dart_gathering *gathering,
					  u32 interval_ms, bool is_deferrable)
{
	struct dart_gatherer *gatherer;

	gatherer = kzalloc(sizeof(*gatherer), GFP_KERNEL_ACCOUNT);
	if (!gatherer)
		return NULL;
	gatherer->buffer = kvzalloc(sizeof(*gatherer->buffer), GFP_KERNEL_ACCOUNT);
	if (!gatherer->buffer) {
		kfree(gatherer);
		return NULL;
	}
	gatherer->gathering = gathering;
	gatherer->interval_ms = interval_ms;
	gatherer->is_deferrable = is_deferrable;
	dart_cgroup_set_init(&gatherer->cgroups);
	INIT_LIST_HEAD(&gatherer->records);
	INIT_LIST_HEAD(&gatherer->cursor);
	if (is_deferrable)
		INIT_DEFERRABLE_WORK(&gatherer->work, gather_work);
	else
		INIT_DELAYED_WORK(&gatherer->work, gather_work);
	return gatherer;
}

static struct dart_gatherer *gatherer_find(struct dart_gathering *gathering,
					   u32 interval_ms, bool is_deferrable)
{
	struct dart_gatherer *gatherer;

	list_for_each_entry(gatherer, &gathering->gatherers, link)
		if (gatherer->interval_ms == interval_ms &&
		    gatherer->is_deferrable == is_deferrable)
			return gatherer;
	return NULL;
}

int dart_gathering_add(struct dart_gathering *gathering, struct dart_record *record,
		       const struct dart_extent *extent, u32 interval_ms, bool is_deferrable,
		       u64 *data)
{
	struct dart_gatherer *gatherer, *created = NULL;
	int ret;

	mutex_lock(&gathering->lock);
	gatherer = gatherer_find(gathering, interval_ms, is_deferrable);
	if (!gatherer) {
		created = gatherer_new(gathering, interval_ms, is_deferrable);
		gatherer = created;
	}
	ret = gatherer ? dart_record_place(record, extent, data) : -ENOMEM;
	if (ret) {
		if (created)
			gatherer_free(created);
		goto out;
	}

	record->gatherer = gatherer;
	record->gone.id = record->id;
	list_add_tail(&record->link, &gatherer->records);
	if (record->is_summed_together)
		record->percpu->join(record->percpu, &gatherer->cgroups);
	gather(gatherer, record, ktime_get_boottime_ns());
	if (created) {
		list_add(&created->link, &gathering->gatherers);
		created->due_ns = ktime_get_ns();
		next_due(created);
		schedule_next(created);
	}
out:
	mutex_unlock(&gathering->lock);
	return ret;
}

void dart_gathering_remove(struct dart_gathering *gathering, struct dart_record *record)
{
	struct dart_gatherer *gatherer = record->gatherer;
	bool is_last;

	mutex_lock(&gathering->lock);
	list_del(&record->link);
	if (record->is_summed_together)
		record->percpu->leave(record->percpu);
	dart_event_cancel(gathering->events, &record->gone);
	dart_record_displace(record);
	/* The cursor of a pass may be the only other member. */
	is_last = list_empty(&gatherer->records) ||
		  (gatherer->records.next == &gatherer->cursor &&
		   list_is_last(&gatherer->cursor, &gatherer->records));
	if (is_last) {
		gatherer->has_ended = true;
		list_del(&gatherer->link);
	}
	mutex_unlock(&gathering->lock);
	dart_record_free(record);
	if (!is_last)
		return;
	cancel_delayed_work_sync(&gatherer->work);
	gatherer_free(gatherer);
}
