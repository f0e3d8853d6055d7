// SPDX-License-Identifier: GPL-2.0-only
/* Publishes the changes of a batch, or takes them back; leases of removed entries. */
#include "agent/base/log.h"
#include "registry.h"

/* Without @is_batch, other things have changed than the entries of the batch. */
static int registry__publish(struct registry *registry, bool is_batch,
			     struct dart_error *error)
{
	int ret;

	ret = exposure__prepare(registry->exposure, error);
	if (ret && registry->added)
		goto count;
	/* The memory region in the table covers what remains. */
	if (ret)
		log__peer_warning(
			"pages of removed entries stay pinned until the next change: %s",
			error->text);
	ret = control_region__update(registry->control_region,
				     &registry->entries,
				     is_batch ? registry->added : 0,
				     is_batch ? &registry->leaving : NULL,
				     error);
	if (ret)
		exposure__rollback(registry->exposure);
	else
		exposure__commit(registry->exposure);
count:
	count__set(&registry->counts->publications,
		   registry->control_region->generation);
	count__add(&registry->counts->failed_publications, !!ret);
	return ret;
}

static int registry__publish_removed(struct registry *registry,
				     struct dart_error *error);

/* Publishes what an earlier publication could not, or did not have to. */
static void on_wait_end(struct lease *lease)
{
	struct registry *registry = lease__owner(lease, struct registry);
	struct dart_error error;

	registry->is_waiting = false;
	if (registry->removed)
		registry__publish_removed(registry, &error);
	else if (exposure__is_stale(registry->exposure) &&
		 registry__publish(registry, false, &error))
		log__peer_error("cannot publish the table: %s", error.text);
}

static void registry__wait(struct registry *registry)
{
	if (registry->is_waiting)
		return;
	registry->is_waiting = true;
	lease__start(registry->leases, &registry->lease, on_wait_end);
}

static void on_lease_end(struct lease *lease)
{
	struct entry *entry = lease__owner(lease, struct entry);
	struct registry *registry = entry->registry;

	TAILQ_REMOVE(&registry->retired, entry, link);
	registry__free_entry(registry, entry);

	/*
	 * In page exposure the extent's pages are still pinned by the memory
	 * region over everything: change to one without them, but not for each
	 * entry, because a registration maps and pins all pages.
	 */
	if (exposure__is_stale(registry->exposure))
		registry__wait(registry);
}

void registry__retire(struct registry *registry, struct entry *entry)
{
	entry->group = NULL;
	entry->is_on_lease = true;
	TAILQ_INSERT_TAIL(&registry->retired, entry, link);
	lease__start(registry->leases, &entry->lease, on_lease_end);
}

static void registry__announce(const struct registry *registry,
			       const struct entry *entry, const char *event)
{
	changes__announce(registry->changes, event, "entry", entry->name);
}

/* Removals have been published: these entries do not come back by themselves. */
static void registry__settle_removed(struct registry *registry)
{
	struct entry *entry;

	registry->removed = 0;
	while ((entry = TAILQ_FIRST(&registry->leaving))) {
		TAILQ_REMOVE(&registry->leaving, entry, link);
		file_watch__stop(registry->file_watches, &entry->watch);
		registry__announce(registry, entry,
				   entry->has_ended ? "ended" : "removed");
		registry__retire(registry, entry);
	}
}

/* Additions have been published: added entries are the last. */
static void registry__settle_added(struct registry *registry)
{
	struct entry *entry;

	registry->added = 0;
	TAILQ_FOREACH_REVERSE(entry, &registry->entries, entries, link)
	if (entry->change == ENTRY_UNCHANGED)
		break;
	entry = entry ? TAILQ_NEXT(entry, link) :
			TAILQ_FIRST(&registry->entries);
	for (; entry; entry = TAILQ_NEXT(entry, link)) {
		entry->change = ENTRY_UNCHANGED;
		registry__announce(registry, entry, "added");
	}
}

static void registry__undo_added(struct registry *registry)
{
	struct entry *entry;

	registry->added = 0;
	while ((entry = TAILQ_LAST(&registry->entries, entries)) &&
	       entry->change != ENTRY_UNCHANGED) {
		registry__unlink(registry, entry);
		if (entry->change == ENTRY_ADDED) {
			registry__free_entry(registry, entry);
		} else {
			file_watch__stop(registry->file_watches, &entry->watch);
			registry__retire(registry, entry);
		}
	}
}

/*
 * Entries that were to be removed come back, but those that have ended cannot:
 * controllers still find them in the table, so that they keep their memory until
 * their removal has been published.  Returns how many came back.
 */
static uint32_t registry__undo_removed(struct registry *registry)
{
	struct entry *entry, *next;
	struct dart_error error;
	uint32_t returned = 0;

	for (entry = TAILQ_FIRST(&registry->leaving); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		TAILQ_REMOVE(&registry->leaving, entry, link);
		if (!entry->has_ended &&
		    !registry__link(registry, entry, &error)) {
			registry->removed--;
			returned++;
			continue;
		}
		file_watch__stop(registry->file_watches, &entry->watch);
		registry__set_ended(registry, entry);
		entry->group = NULL;
		TAILQ_INSERT_HEAD(&registry->leaving, entry, link);
	}
	if (registry->removed)
		registry__wait(registry);
	return returned;
}

/* Such records have a row in use for each online CPU: the others are not to be READ. */
static void registry__count_rows(const struct registry *registry,
				 struct entries *entries)
{
	struct entry *entry;

	TAILQ_FOREACH(entry, entries, link)
		if (entry->cpu_rows)
			entry->extent.copies = records__rows_in_use(
				registry->records, entry->cpu_rows);
}

int registry__publish_again(struct registry *registry,
			    struct dart_error *error)
{
	return registry__publish(registry, false, error);
}

void registry__cpus_changed(struct registry *registry)
{
	struct dart_error error;

	registry__count_rows(registry, &registry->entries);
	registry__count_rows(registry, &registry->leaving);
	registry__count_rows(registry, &registry->retired);
	/* The set of CPUs in the table has changed, too. */
	if (registry__publish(registry, false, &error))
		log__peer_error("cannot publish the table: %s", error.text);
}

void registry__clock_was_set(struct registry *registry)
{
	struct dart_error error;

	/* Its header has the offset of the clock. */
	if (registry__publish(registry, false, &error))
		log__peer_error("cannot publish the table: %s", error.text);
}

static int registry__publish_removed(struct registry *registry,
				     struct dart_error *error)
{
	int ret;

	if (!registry->removed)
		return 0;
	ret = registry__publish(registry, true, error);
	if (!ret)
		registry__settle_removed(registry);
	else if (!registry__undo_removed(registry)) {
		/* No request of this batch: it is tried again. */
		log__peer_error("controllers are not told yet: %s",
				error->text);
		ret = 0;
	}
	return ret;
}

static int on_publication(sd_event_source *source, void *userdata)
{
	struct registry *registry = userdata;
	struct dart_error error;

	/* It has logged an error, and waits. */
	registry__publish_removed(registry, &error);
	return 0;
}

int registry__open_publication(struct registry *registry, sd_event *loop,
			       struct dart_error *error)
{
	int ret = sd_event_add_defer(loop, &registry->publication,
				     on_publication, registry);

	if (ret >= 0)
		ret = sd_event_source_set_enabled(registry->publication,
						  SD_EVENT_OFF);
	if (ret < 0)
		return dart_error__system(error, -ret,
					  "cannot create an event source");
	return 0;
}

void registry__close_publication(struct registry *registry)
{
	if (registry->is_waiting)
		lease__cancel(registry->leases, &registry->lease);
	sd_event_source_disable_unref(registry->publication);
}

void registry__publish_later(struct registry *registry)
{
	if (!registry->batches)
		sd_event_source_set_enabled(registry->publication,
					    SD_EVENT_ONESHOT);
}

static bool registry__is_due(const struct registry *registry)
{
	int enabled = SD_EVENT_OFF;

	sd_event_source_get_enabled(registry->publication, &enabled);
	return enabled != SD_EVENT_OFF;
}

void registry__begin(struct registry *registry)
{
	struct dart_error error;

	/* A name whose entry has ended can then be registered again. */
	if (!registry->batches && registry__is_due(registry)) {
		sd_event_source_set_enabled(registry->publication,
					    SD_EVENT_OFF);
		registry__publish_removed(registry, &error);
	}
	registry->batches++;
}

static int registry__publish_batch(struct registry *registry,
				   struct dart_error *error)
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
	TAILQ_FOREACH(group, &registry->groups, link)
		if (group->operations->settle)
			group->operations->settle(group, ret, error);
	return ret;
}

int registry__end_with(struct registry *registry, int ret,
		       struct dart_error *error)
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
