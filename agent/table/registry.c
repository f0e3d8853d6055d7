// SPDX-License-Identifier: GPL-2.0-only
/*
 * Publishes the changes of a batch, or takes them back; ends the time of lingering entries, and the
 * leases of removed ones.
 */
#include <errno.h>

#include <libdart/clock.h>

#include "agent/base/log.h"
#include "registry.h"

void registry__let_go(struct registry *registry, struct entry *entry)
{
	lingering__remove(&registry->lingering, entry);
	/* The published table has its former entry, which leaves. */
	if (entry->is_unlisted) {
		inventory__free_entry(&registry->inventory, entry);
		return;
	}
	TAILQ_INSERT_TAIL(&registry->inventory.leaving, entry, link);
	registry->removed++;
}

/* Makes room in the table: true if an entry lingered. */
static bool registry__let_all_go(struct registry *registry)
{
	struct lingering *lingering = &registry->lingering;
	bool is_any = !TAILQ_EMPTY(&lingering->entries);

	while (!TAILQ_EMPTY(&lingering->entries)) {
		lingering__cut_short(lingering, "the table is full");
		registry__let_go(registry, TAILQ_FIRST(&lingering->entries));
	}
	return is_any;
}

static int registry__update_table(struct registry *registry, bool is_batch,
				  struct dart_error *error)
{
	struct inventory *inventory = &registry->inventory;

	return control_region__update(registry->rooms.control_region, &inventory->entries,
				      &registry->lingering.entries, is_batch ? registry->added : 0,
				      is_batch ? &inventory->leaving : NULL, error);
}

static void entries__note_listed(struct entries *entries)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, entries, link)
		entry->is_unlisted = false;
}

/* Without @is_batch, more has changed than the entries of the batch. */
static int registry__publish(struct registry *registry, bool is_batch, struct dart_error *error)
{
	struct control_region *control_region = registry->rooms.control_region;
	struct exposure *exposure = registry->rooms.exposure;
	struct table_counts *counts = registry->rooms.counts;
	int ret;

	ret = exposure__prepare(exposure, error);
	if (ret && registry->added)
		goto count;
	/* The memory region in the table covers the entries that remain. */
	if (ret)
		log__peer_warning("pages of removed entries stay pinned until the next change: %s",
				  error->text);
	ret = registry__update_table(registry, is_batch, error);
	if (ret == -ENOSPC && registry__let_all_go(registry))
		ret = registry__update_table(registry, is_batch, error);
	if (ret)
		exposure__rollback(exposure);
	else
		exposure__commit(exposure);
	if (!ret)
		entries__note_listed(&registry->lingering.entries);
count:
	count__set(&counts->publications, control_region->generation);
	count__add(&counts->failed_publications, !!ret);
	return ret;
}

static int registry__publish_removed(struct registry *registry, struct dart_error *error);
static void registry__publish_or_log(struct registry *registry);

/* Publishes removals that could not be published, and the page exposure without them. */
static void on_wait_end(struct lease *lease)
{
	struct registry *registry = lease__owner(lease, struct registry);
	struct dart_error error;

	registry->is_waiting = false;
	if (registry->removed)
		registry__publish_removed(registry, &error);
	else if (exposure__is_stale(registry->rooms.exposure))
		registry__publish_or_log(registry);
}

static void registry__wait(struct registry *registry)
{
	if (registry->is_waiting)
		return;
	registry->is_waiting = true;
	lease__start(registry->rooms.exposure->leases, &registry->lease, on_wait_end);
}

static void on_lease_end(struct lease *lease)
{
	struct entry *entry = lease__owner(lease, struct entry);
	struct registry *registry = entry->registry;

	TAILQ_REMOVE(&registry->inventory.retired, entry, link);
	inventory__free_entry(&registry->inventory, entry);

	/*
	 * In page exposure the extent's pages are still pinned by the memory
	 * region over everything: change to one without them, but not for each
	 * entry, because a registration maps and pins all pages.
	 */
	if (exposure__is_stale(registry->rooms.exposure))
		registry__wait(registry);
}

/* Starts the lease of an entry that the published table does not list. */
static void registry__retire(struct registry *registry, struct entry *entry)
{
	file_watch__stop(registry->rooms.file_watches, &entry->watch);
	entry->group = NULL;
	entry->is_on_lease = true;
	TAILQ_INSERT_TAIL(&registry->inventory.retired, entry, link);
	lease__start(registry->rooms.exposure->leases, &entry->lease, on_lease_end);
}

static void registry__announce(const struct registry *registry, const struct entry *entry,
			       const char *event)
{
	changes__announce(registry->rooms.changes, event, "entry", entry->name);
}

void registry__tell_end(const struct registry *registry, struct entry *entry)
{
	registry__announce(registry, entry, entry->has_ended ? "ended" : "removed");
	if (entry->arena)
		arena__cross_out(entry);
}

/* Removals have been published: the entries on lease come back only if a client revives them. */
static void registry__settle_removed(struct registry *registry)
{
	struct entries *leaving = &registry->inventory.leaving;
	struct entry *entry;

	registry->removed = 0;
	while ((entry = TAILQ_FIRST(leaving))) {
		TAILQ_REMOVE(leaving, entry, link);
		if (!entry->has_lingered)
			registry__tell_end(registry, entry);
		registry__retire(registry, entry);
	}
}

/* A table without the removed entries was written, whatever else has changed. */
static int registry__republish(struct registry *registry, struct dart_error *error)
{
	int ret = registry__publish(registry, false, error);

	if (!ret)
		registry__settle_removed(registry);
	else if (registry->removed)
		registry__wait(registry);
	return ret;
}

static void registry__publish_or_log(struct registry *registry)
{
	struct dart_error error;

	if (registry__republish(registry, &error))
		log__peer_error("cannot publish the table: %s", error.text);
}

/* Additions have been published: they are the last entries. */
static void registry__settle_added(struct registry *registry)
{
	struct entries *entries = &registry->inventory.entries;
	struct entry *entry;

	registry->added = 0;
	TAILQ_FOREACH_REVERSE(entry, entries, entries, link)
		if (entry->change == ENTRY_UNCHANGED)
			break;
	entry = entry ? TAILQ_NEXT(entry, link) : TAILQ_FIRST(entries);
	for (; entry; entry = TAILQ_NEXT(entry, link)) {
		entry->change = ENTRY_UNCHANGED;
		registry__announce(registry, entry, "added");
	}
}

/* Takes an entry that was added in this batch out of the table: it is freed, or on lease again. */
static void registry__undo_addition(struct registry *registry, struct entry *entry)
{
	if (entry->change == ENTRY_ADDED) {
		inventory__free_entry(&registry->inventory, entry);
		return;
	}
	entry->change = ENTRY_UNCHANGED;
	registry__retire(registry, entry);
}

static void registry__undo_added(struct registry *registry)
{
	struct inventory *inventory = &registry->inventory;
	struct entry *entry;

	registry->added = 0;
	while ((entry = TAILQ_LAST(&inventory->entries, entries)) &&
	       entry->change != ENTRY_UNCHANGED) {
		inventory__unlink(inventory, entry);
		registry__undo_addition(registry, entry);
	}
}

/*
 * Entries that were to be removed come back.  Entries that have ended cannot:
 * controllers still find them in the table, so that they keep their memory until
 * their removal has been published.  Returns how many came back.
 */
static uint32_t registry__undo_removed(struct registry *registry)
{
	struct inventory *inventory = &registry->inventory;
	struct entry *entry, *next;
	struct dart_error error;
	uint32_t returned = 0;

	for (entry = TAILQ_FIRST(&inventory->leaving); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		TAILQ_REMOVE(&inventory->leaving, entry, link);
		if (!entry->has_ended && !inventory__link(inventory, entry, &error)) {
			registry->removed--;
			returned++;
			continue;
		}
		file_watch__stop(registry->rooms.file_watches, &entry->watch);
		inventory__set_ended(inventory, entry);
		entry->group = NULL;
		TAILQ_INSERT_HEAD(&inventory->leaving, entry, link);
	}
	if (registry->removed)
		registry__wait(registry);
	return returned;
}

static int registry__publish_removed(struct registry *registry, struct dart_error *error)
{
	int ret;

	if (!registry->removed)
		return 0;
	ret = registry__publish(registry, true, error);
	if (!ret) {
		registry__settle_removed(registry);
	} else if (!registry__undo_removed(registry)) {
		/* All removed entries have ended, and no client waits: the registry tries again. */
		log__peer_error("controllers are not told yet: %s", error->text);
		ret = 0;
	}
	return ret;
}

static int on_publication(sd_event_source *source, void *userdata)
{
	struct registry *registry = userdata;
	struct dart_error error;

	/* On error it logs, and waits for another try. */
	registry__publish_removed(registry, &error);
	return 0;
}

static int on_lingered(sd_event_source *source, uint64_t time, void *userdata)
{
	struct registry *registry = userdata;
	struct dart_error error;
	struct entry *entry;

	while ((entry = lingering__due(&registry->lingering)))
		registry__let_go(registry, entry);
	/* On error it logs, and waits for another try. */
	registry__publish_removed(registry, &error);
	return 0;
}

static int on_gathering(sd_event_source *source, uint64_t time, void *userdata)
{
	struct registry *registry = userdata;
	struct dart_error error;

	registry__gather_finals(registry);
	/* On error it logs, and waits for another try. */
	registry__publish_removed(registry, &error);
	return 0;
}

int registry__open(struct registry *registry, sd_event *loop, const struct table_rooms *rooms,
		   struct dart_error *error)
{
	int ret;

	*registry = (struct registry){ .rooms = *rooms };
	ret = records__open(&registry->records, rooms->region, rooms->exposure, error);
	if (ret)
		return ret;
	ret = sd_event_add_defer(loop, &registry->publication, on_publication, registry);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(registry->publication, SD_EVENT_OFF);
	if (ret >= 0)
		ret = lingering__open(&registry->lingering, loop, &rooms->control_region->audience,
				      rooms->counts, on_lingered, on_gathering, registry);
	if (ret >= 0)
		ret = source_schemas__open(&registry->schemas, loop);
	if (ret < 0) {
		records__close(&registry->records);
		return dart_error__system(error, -ret, "cannot create an event source");
	}
	slabs__open(&registry->slabs, rooms->region, rooms->exposure);
	inventory__open(&registry->inventory, &registry->rooms);
	return 0;
}

void registry__close(struct registry *registry)
{
	struct inventory *inventory = &registry->inventory;
	struct leases *leases = registry->rooms.exposure->leases;
	struct entry *entry;

	while ((entry = TAILQ_FIRST(&inventory->entries))) {
		inventory__unlink(inventory, entry);
		inventory__free_entry(inventory, entry);
	}
	while ((entry = TAILQ_FIRST(&registry->lingering.entries))) {
		lingering__remove(&registry->lingering, entry);
		inventory__free_entry(inventory, entry);
	}
	lingering__close(&registry->lingering);
	while ((entry = TAILQ_FIRST(&inventory->leaving))) {
		TAILQ_REMOVE(&inventory->leaving, entry, link);
		inventory__free_entry(inventory, entry);
	}
	if (registry->is_waiting)
		lease__cancel(leases, &registry->lease);
	sd_event_source_disable_unref(registry->publication);
	while ((entry = TAILQ_FIRST(&inventory->retired))) {
		TAILQ_REMOVE(&inventory->retired, entry, link);
		lease__cancel(leases, &entry->lease);
		inventory__free_entry(inventory, entry);
	}
	inventory__close(inventory);
	source_schemas__close(&registry->schemas);
	slabs__close(&registry->slabs);
	records__close(&registry->records);
}

void registry__publish_later(struct registry *registry)
{
	if (!registry->batches)
		sd_event_source_set_enabled(registry->publication, SD_EVENT_ONESHOT);
}

void registry__begin(struct registry *registry)
{
	int enabled = SD_EVENT_OFF;
	struct dart_error error;

	/* A name whose entry has ended can then be registered again. */
	if (!registry->batches)
		sd_event_source_get_enabled(registry->publication, &enabled);
	if (enabled != SD_EVENT_OFF) {
		sd_event_source_set_enabled(registry->publication, SD_EVENT_OFF);
		registry__publish_removed(registry, &error);
	}
	registry->batches++;
}

static int registry__publish_batch(struct registry *registry, struct dart_error *error)
{
	struct dart_error other;
	int ret;

	if (!registry->added)
		return registry__publish_removed(registry, error);
	ret = registry__publish(registry, true, error);
	if (!ret) {
		registry__settle_removed(registry);
		registry__settle_added(registry);
		return 0;
	}
	registry__undo_added(registry);
	registry__publish_removed(registry, &other);
	return ret;
}

int registry__end(struct registry *registry, struct dart_error *error)
{
	struct entry_group *group;
	int ret;

	if (--registry->batches)
		return 0;
	ret = registry__publish_batch(registry, error);
	TAILQ_FOREACH(group, &registry->inventory.groups, link)
		if (group->operations->settle)
			group->operations->settle(group, ret, error);
	return ret;
}

int registry__end_with(struct registry *registry, int ret, struct dart_error *error)
{
	struct dart_error ignored;
	int end = registry__end(registry, ret ? &ignored : error);

	return ret ?: end;
}

void registry__end_or_log(struct registry *registry)
{
	struct dart_error error;

	if (registry__end(registry, &error))
		log__peer_error("controllers are not told yet: %s", error.text);
}

static int registry__insert(struct registry *registry, struct entry *entry,
			    enum entry_change change, struct dart_error *error)
{
	struct entry *former = lingering__find(&registry->lingering, entry->name);
	int ret = inventory__link(&registry->inventory, entry, error);

	if (!ret) {
		/* The table lists each name once. */
		if (former)
			registry__let_go(registry, former);
		entry->change = change;
		entry->registered = dart_clock__ns(CLOCK_BOOTTIME);
		registry->added++;
	}
	return ret;
}

int registry__add(struct registry *registry, struct entry *entry, struct dart_error *error)
{
	struct inventory *inventory = &registry->inventory;
	int ret;

	entry->registry = registry;
	ret = inventory__check_unused(inventory, entry->name, error) ?:
		      inventory__take(inventory, entry, error) ?:
		      registry__insert(registry, entry, ENTRY_ADDED, error);
	if (ret)
		inventory__free_entry(inventory, entry);
	return ret;
}

int registry__revive(struct registry *registry, struct entry *entry, const char *name,
		     struct dart_error *error)
{
	int ret = inventory__check_unused(&registry->inventory, name, error);

	if (ret)
		return ret;
	if (entry__rename(entry, name))
		return dart_error__no_memory(error);
	lease__cancel(registry->rooms.exposure->leases, &entry->lease);
	TAILQ_REMOVE(&registry->inventory.retired, entry, link);
	entry->is_on_lease = false;
	ret = registry__insert(registry, entry, ENTRY_REVIVED, error);
	if (ret)
		registry__retire(registry, entry);
	return ret;
}

void registry__take_out(struct registry *registry, struct entry *entry)
{
	inventory__unlink(&registry->inventory, entry);
	if (entry->change != ENTRY_UNCHANGED) {
		registry->added--;
		registry__undo_addition(registry, entry);
		return;
	}
	TAILQ_INSERT_TAIL(&registry->inventory.leaving, entry, link);
	registry->removed++;
}

int registry__remove(struct registry *registry, struct entry *entry, struct dart_error *error)
{
	registry__begin(registry);
	registry__take_out(registry, entry);
	return registry__end(registry, error);
}

/* Records of CPUs use a row for each online CPU; controllers do not READ the other rows. */
static void registry__count_rows(const struct registry *registry, struct entries *entries)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, entries, link)
		if (entry->cpu_rows)
			entry->extent.copies =
				records__rows_in_use(&registry->records, entry->cpu_rows);
}

void registry__cpus_changed(struct registry *registry)
{
	registry__count_rows(registry, &registry->inventory.entries);
	registry__count_rows(registry, &registry->lingering.entries);
	registry__count_rows(registry, &registry->inventory.leaving);
	registry__count_rows(registry, &registry->inventory.retired);
	/* The set of CPUs in the table has changed, too. */
	registry__publish_or_log(registry);
}

/* The header of the table contains the offset of the clock. */
void registry__clock_was_set(struct registry *registry)
{
	registry__publish_or_log(registry);
}

static int exchange(const struct exposure *exposure, const struct entries *entries,
		    struct dart_error *error)
{
	struct entry *entry;
	uint32_t i;
	int ret = 0;

	TAILQ_FOREACH(entry, entries, link)
		for (i = 0; !ret && i < entry->memory_region_count; i++)
			ret = exposure__exchange(exposure, &entry->memory_regions[i], error);
	return ret;
}

int registry__change_device(struct registry *registry, struct ibv_pd *pd, struct dart_error *error)
{
	struct inventory *inventory = &registry->inventory;
	struct exposure *exposure = registry->rooms.exposure;
	int ret;

	ret = exposure__change_device(exposure, pd, error) ?:
		      exposure__exchange(exposure,
					 &registry->rooms.control_region->memory_region, error) ?:
		      exchange(exposure, &inventory->entries, error) ?:
		      exchange(exposure, &registry->lingering.entries, error) ?:
		      exchange(exposure, &inventory->leaving, error) ?:
		      exchange(exposure, &inventory->retired, error);
	/* Without a device no peer can READ, so the keys in the table do not matter. */
	if (ret || !pd)
		return ret;
	return registry__republish(registry, error);
}
