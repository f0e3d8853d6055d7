// SPDX-License-Identifier: GPL-2.0-only
/* The entries in the table and on lease, batches of changes, publication. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "registry.h"

void registry__open(struct registry *registry, const struct changes *changes,
		    struct region *region, struct exposure *exposure,
		    struct leases *leases,
		    struct control_region *control_region,
		    struct file_watches *file_watches,
		    struct map_owner_watch *map_owner_watch, struct slabs *slabs,
		    struct table_counts *counts)
{
	*registry = (struct registry){
		.changes = changes,
		.region = region,
		.exposure = exposure,
		.leases = leases,
		.control_region = control_region,
		.file_watches = file_watches,
		.map_owner_watch = map_owner_watch,
		.slabs = slabs,
		.counts = counts,
		.extents = ENTRY_INDEX_OF_NUMBERS,
		.names = ENTRY_INDEX_OF_STRINGS,
	};
	source_schemas__open(&registry->schemas);
	TAILQ_INIT(&registry->entries);
	TAILQ_INIT(&registry->retired);
	TAILQ_INIT(&registry->leaving);
	TAILQ_INIT(&registry->groups);
}

/* @more: 1 or -1. */
static void registry__count(const struct registry *registry,
			    const struct entry *entry, int more)
{
	count__add(&registry->counts->entries, more);
	if (entry->kind == DART_CONTROL_ENTRY_SLICE && !entry->is_self)
		count__add(&registry->counts->slices, more);
}

/* Behind the others. */
static int registry__link(struct registry *registry, struct entry *entry,
			  struct dart_error *error)
{
	if (entry_index__add(&registry->names, entry->name))
		return dart_error__no_memory(error);
	TAILQ_INSERT_TAIL(&registry->entries, entry, link);
	registry__count(registry, entry, 1);
	return 0;
}

static void registry__unlink(struct registry *registry, struct entry *entry)
{
	entry_index__remove(&registry->names, entry->name);
	TAILQ_REMOVE(&registry->entries, entry, link);
	registry__count(registry, entry, -1);
}

static void registry__free_entry(struct registry *registry, struct entry *entry)
{
	file_watch__stop(registry->file_watches, &entry->watch);
	if (entry->extent.map_id)
		map_owner_watch__remove(registry->map_owner_watch,
					entry->extent.map_id);
	exposure__withdraw(registry->exposure, entry);
	entry_index__remove(&registry->extents, &entry->extent.id);
	entry__free(entry, registry->region);
}

void registry__close(struct registry *registry)
{
	struct entry *entry;

	while ((entry = TAILQ_FIRST(&registry->entries))) {
		registry__unlink(registry, entry);
		registry__free_entry(registry, entry);
	}
	while ((entry = TAILQ_FIRST(&registry->retired))) {
		TAILQ_REMOVE(&registry->retired, entry, link);
		lease__cancel(registry->leases, &entry->lease);
		registry__free_entry(registry, entry);
	}
	source_schemas__close(&registry->schemas);
}

/* @added or @removed is all that has changed; NULL: other things have. */
static int registry__publish(struct registry *registry,
			     const struct entry *added,
			     const struct entry *removed,
			     struct dart_error *error)
{
	int ret;

	ret = exposure__prepare(registry->exposure, error);
	if (ret)
		goto count;
	ret = control_region__update(registry->control_region,
				     &registry->entries, added, removed, error);
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

static void on_lease_end(struct lease *lease)
{
	struct entry *entry = lease__owner(lease, struct entry);
	struct registry *registry = entry->registry;
	struct dart_error error;

	TAILQ_REMOVE(&registry->retired, entry, link);
	registry__free_entry(registry, entry);

	/*
	 * In page exposure the extent's pages are still pinned by the memory
	 * region over everything: change to one without them.
	 */
	if (registry->exposure->mode == DART_CONTROL_EXPOSURE_PAGE &&
	    registry__publish(registry, NULL, NULL, &error))
		log__peer_error("pages stay pinned until the next change: %s",
				error.text);
}

static void registry__retire(struct registry *registry, struct entry *entry)
{
	entry->group = NULL;
	TAILQ_INSERT_TAIL(&registry->retired, entry, link);
	lease__start(registry->leases, &entry->lease, on_lease_end);
}

void registry__begin(struct registry *registry)
{
	registry->batches++;
}

static void registry__announce(const struct registry *registry,
			       const struct entry *entry, const char *event)
{
	changes__announce(registry->changes, event, "entry", entry->name);
}

/* The entry does not come back into the table by itself. */
static void registry__leave(struct registry *registry, struct entry *entry)
{
	file_watch__stop(registry->file_watches, &entry->watch);
	registry__announce(registry, entry,
			   entry->has_ended ? "ended" : "removed");
	registry__retire(registry, entry);
}

/* The changes of the batch have been published; added entries are the last. */
static void registry__settle(struct registry *registry)
{
	struct entry *entry;

	while ((entry = TAILQ_FIRST(&registry->leaving))) {
		TAILQ_REMOVE(&registry->leaving, entry, link);
		registry__leave(registry, entry);
	}
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

/* The changes could not be published: restores the entries as they were. */
static void registry__undo(struct registry *registry)
{
	struct entry *entry;
	struct dart_error error;

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
	while ((entry = TAILQ_FIRST(&registry->leaving))) {
		TAILQ_REMOVE(&registry->leaving, entry, link);
		if (entry->has_ended || registry__link(registry, entry, &error))
			registry__leave(registry, entry);
	}
}

int registry__end(struct registry *registry, struct dart_error *error)
{
	const struct entry *added = NULL, *removed = NULL;
	int ret;

	if (--registry->batches || (!registry->added && !registry->removed))
		return 0;
	if (registry->added == 1 && !registry->removed)
		added = TAILQ_LAST(&registry->entries, entries);
	if (registry->removed == 1 && !registry->added)
		removed = TAILQ_FIRST(&registry->leaving);
	registry->added = 0;
	registry->removed = 0;
	ret = registry__publish(registry, added, removed, error);
	if (ret)
		registry__undo(registry);
	else
		registry__settle(registry);
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

struct entry *registry__find(const struct registry *registry, const char *name)
{
	const char *found = entry_index__find(&registry->names, name);

	if (!found)
		return NULL;
	return (struct entry *)(found - offsetof(struct entry, name));
}

int registry__check_name(const struct registry *registry, const char *name,
			 struct dart_error *error)
{
	int ret = entry_name__check(name, error);
	const struct entry *entry;

	entry = ret ? NULL : registry__find(registry, name);
	if (entry)
		return dart_error__set(error, EEXIST,
				       "there is an entry '%s' already (%s)",
				       name,
				       entry->is_self ? "choose another name" :
							"unregister it first");
	return ret;
}

static int registry__insert(struct registry *registry, struct entry *entry,
			    enum entry_change change, struct dart_error *error)
{
	int ret = registry__link(registry, entry, error);

	if (!ret) {
		entry->change = change;
		entry->registered = clock__nanoseconds(CLOCK_BOOTTIME);
		registry->added++;
	}
	return ret;
}

int registry__add(struct registry *registry, struct entry *entry,
		  struct dart_error *error)
{
	int ret;

	entry->registry = registry;
	ret = registry__check_name(registry, entry->name, error) ?:
		      exposure__expose(registry->exposure, entry, error);
	if (!ret && entry_index__add(&registry->extents, &entry->extent.id))
		ret = dart_error__no_memory(error);
	ret = ret ?: registry__insert(registry, entry, ENTRY_ADDED, error);
	if (ret)
		registry__free_entry(registry, entry);
	return ret;
}

int registry__revive(struct registry *registry, struct entry *entry,
		     const char *name, struct dart_error *error)
{
	int ret = registry__check_name(registry, name, error);

	if (ret)
		return ret;
	strcpy(entry->name, name);
	lease__cancel(registry->leases, &entry->lease);
	TAILQ_REMOVE(&registry->retired, entry, link);
	ret = registry__insert(registry, entry, ENTRY_REVIVED, error);
	if (ret)
		registry__retire(registry, entry);
	return ret;
}

void registry__take_out(struct registry *registry, struct entry *entry)
{
	registry__unlink(registry, entry);
	if (entry->change == ENTRY_ADDED) {
		registry->added--;
		registry__free_entry(registry, entry);
		return;
	}
	TAILQ_INSERT_TAIL(&registry->leaving, entry, link);
	registry->removed++;
}

int registry__remove(struct registry *registry, struct entry *entry,
		     struct dart_error *error)
{
	registry__begin(registry);
	registry__take_out(registry, entry);
	return registry__end(registry, error);
}

void registry__entry_ended(struct registry *registry, struct entry *entry)
{
	/* Followers would fill the log with it, and so would slices. */
	if (!entry->group && entry->kind != DART_CONTROL_ENTRY_SLICE)
		log__peer_info("%s no longer exists", entry->name);
	entry->has_ended = true;
	registry__begin(registry);
	registry__take_out(registry, entry);
	registry__end_or_log(registry);
}

struct entry *registry__find_extent(const struct registry *registry,
				    uint32_t id)
{
	const uint32_t *found = entry_index__find(&registry->extents, &id);

	if (!found)
		return NULL;
	return (struct entry *)((char *)found -
				offsetof(struct entry, extent.id));
}

void registry__extent_ended(struct registry *registry, uint32_t extent)
{
	struct entry *entry = registry__find_extent(registry, extent);

	if (!entry)
		return;
	/* An entry on lease must not be revived any more. */
	if (registry__find(registry, entry->name) == entry)
		registry__entry_ended(registry, entry);
	else
		entry->has_ended = true;
}

/* An entry on lease stays: the next holder of the map may revive it. */
void registry__map_ended(struct registry *registry, uint32_t map_id)
{
	struct entry *entry = registry__find_map(registry, map_id);

	if (entry)
		registry__entry_ended(registry, entry);
}

struct entry *registry__find_source(const struct registry *registry,
				    const struct selector_key *key)
{
	return entries__find_source(&registry->entries, key);
}

struct entry *registry__find_map(const struct registry *registry,
				 uint32_t map_id)
{
	return entries__find_map(&registry->entries, map_id);
}

int registry__add_group(struct registry *registry, struct entry_group *group,
			struct dart_error *error)
{
	if (registry__find_group(registry, group->name))
		return dart_error__set(error, EEXIST,
				       "'%s' is followed already", group->name);
	group->registered = clock__nanoseconds(CLOCK_BOOTTIME);
	TAILQ_INSERT_TAIL(&registry->groups, group, link);
	count__add(&registry->counts->followers, 1);
	return 0;
}

void registry__remove_group(struct registry *registry,
			    struct entry_group *group)
{
	TAILQ_REMOVE(&registry->groups, group, link);
	count__add(&registry->counts->followers, -1);
}

void registry__withdraw_group(struct registry *registry,
			      const struct entry_group *group, bool has_ended)
{
	struct entry *entry, *next;

	for (entry = TAILQ_FIRST(&registry->entries); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		if (entry->group != group)
			continue;
		if (has_ended)
			registry__entry_ended(registry, entry);
		else
			registry__take_out(registry, entry);
	}
}

uint32_t registry__group_size(const struct registry *registry,
			      const struct entry_group *group)
{
	const struct entry *entry;
	uint32_t count = 0;

	TAILQ_FOREACH(entry, &registry->entries, link)
		count += entry->group == group;
	return count;
}

struct entry_group *registry__find_group(const struct registry *registry,
					 const char *name)
{
	struct entry_group *group;

	TAILQ_FOREACH(group, &registry->groups, link)
		if (!strcmp(group->name, name))
			return group;
	return NULL;
}
