// SPDX-License-Identifier: GPL-2.0-only
/* The entries in the table and on lease, and the groups of entries. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "agent/base/clock.h"
#include "agent/base/log.h"
#include "arena.h"
#include "registry.h"

/* Bytes of a name that are charged as one more entry. */
#define DELEGATED_NAME 128
/* Of as many bytes of the table one entry can be that of a user's cgroup: half of them. */
#define DELEGATED_SHARE 512

static int compare_keys(const void *key, const void *other)
{
	const struct selector_key *a = key, *b = other;

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	return (a->gather_ms > b->gather_ms) - (a->gather_ms < b->gather_ms);
}

int registry__open(struct registry *registry, sd_event *loop,
		   const struct changes *changes,
		   struct region *region, struct exposure *exposure,
		   struct leases *leases, struct control_region *control_region,
		   struct file_watches *file_watches,
		   struct map_owner_watch *map_owner_watch, struct slabs *slabs,
		   struct records *records, struct table_counts *counts, struct dart_error *error)
{
	int ret;

	*registry = (struct registry){
		.changes = changes,
		.region = region,
		.exposure = exposure,
		.leases = leases,
		.control_region = control_region,
		.file_watches = file_watches,
		.map_owner_watch = map_owner_watch,
		.slabs = slabs,
		.records = records,
		.counts = counts,
		.extents = ENTRY_INDEX_OF_NUMBERS,
		.arenas = ENTRY_INDEX_OF_NUMBERS,
		.places = { .compare = arena_place__compare },
		.names = ENTRY_INDEX_OF_NAMES,
		.sources = { .compare = compare_keys },
	};
	ret = registry__open_publication(registry, loop, error);
	if (ret)
		return ret;
	source_schemas__open(&registry->schemas);
	quotas__open(&registry->quotas);
	quotas__open(&registry->delegated);
	registry->delegated.remedy = "remove some cgroups";
	registry->delegated.total_most =
		control_region->capacity / DELEGATED_SHARE;
	TAILQ_INIT(&registry->entries);
	TAILQ_INIT(&registry->retired);
	TAILQ_INIT(&registry->leaving);
	TAILQ_INIT(&registry->groups);
	return 0;
}

/* @more: 1 or -1. */
static void registry__count(struct registry *registry,
			    const struct entry *entry, int more)
{
	struct source_entries *of_source;

	count__add(&registry->counts->entries, more);
	if (entry->kind == DART_CONTROL_ENTRY_SLICE && !entry->is_self)
		count__add(&registry->counts->slices, more);
	if (entry->kind == DART_CONTROL_ENTRY_MAP)
		registry->maps += more;
	if (entry->kind == DART_CONTROL_ENTRY_SOURCE &&
	    entry->key.source < REGISTRY_SOURCES_MAX) {
		of_source = &registry->of_sources[entry->key.source];
		of_source->entries += more;
		of_source->singles += entry->group ? 0 : more;
	}
	coverage_watch__touch(registry->coverage);
}

int registry__link(struct registry *registry, struct entry *entry,
		   struct dart_error *error)
{
	if (entry_index__add(&registry->names, &entry->name))
		return dart_error__no_memory(error);
	TAILQ_INSERT_TAIL(&registry->entries, entry, link);
	if (entry->group) {
		TAILQ_INSERT_TAIL(&entry->group->entries, entry, in_group);
		entry->group->entry_count++;
	}
	registry__count(registry, entry, 1);
	return 0;
}

void registry__unlink(struct registry *registry, struct entry *entry)
{
	entry_index__remove(&registry->names, &entry->name);
	TAILQ_REMOVE(&registry->entries, entry, link);
	if (entry->group) {
		TAILQ_REMOVE(&entry->group->entries, entry, in_group);
		entry->group->entry_count--;
	}
	registry__count(registry, entry, -1);
}

/* To be found by its key, until it has ended. */
static int registry__index(struct registry *registry, struct entry *entry,
			   struct dart_error *error)
{
	if (entry->kind != DART_CONTROL_ENTRY_SOURCE)
		return 0;
	if (entry_index__find(&registry->sources, &entry->key))
		return dart_error__set(
			error, EBUSY,
			"an earlier entry of these counters is about to leave the table");
	if (entry_index__add(&registry->sources, &entry->key))
		return dart_error__no_memory(error);
	entry->is_indexed = true;
	return 0;
}

static void registry__unindex(struct registry *registry, struct entry *entry)
{
	if (entry->is_indexed)
		entry_index__remove(&registry->sources, &entry->key);
	entry->is_indexed = false;
}

/* To be found by its extent, or by its place in an arena. */
static int registry__know(struct registry *registry, struct entry *entry,
			  struct dart_error *error)
{
	if (entry->arena)
		return registry__place(registry, entry, error);
	if (entry_index__add(&registry->extents, &entry->extent.id))
		return dart_error__no_memory(error);
	return 0;
}

static void registry__forget(struct registry *registry, struct entry *entry)
{
	if (entry->arena)
		registry__displace(registry, entry);
	else
		entry_index__remove(&registry->extents, &entry->extent.id);
}

void registry__set_ended(struct registry *registry, struct entry *entry)
{
	registry__unindex(registry, entry);
	entry->has_ended = true;
}

static void registry__discharge(struct registry *registry, struct entry *entry)
{
	quotas__release(entry->is_delegated ? &registry->delegated :
					      &registry->quotas,
			entry->quota_user, entry->charge, 0);
	entry->quota_user = NULL;
}

void registry__free_entry(struct registry *registry, struct entry *entry)
{
	struct arena *arena = entry->arena;

	file_watch__stop(registry->file_watches, &entry->watch);
	if (entry->extent.map_id)
		map_owner_watch__remove(registry->map_owner_watch,
					entry->extent.map_id);
	exposure__withdraw(registry->exposure, entry);
	registry__forget(registry, entry);
	registry__unindex(registry, entry);
	registry__discharge(registry, entry);
	entry__free(entry, registry->region);
	registry__settle_arena(registry, arena);
}

void registry__close(struct registry *registry)
{
	struct entry *entry;

	while ((entry = TAILQ_FIRST(&registry->entries))) {
		registry__unlink(registry, entry);
		registry__free_entry(registry, entry);
	}
	while ((entry = TAILQ_FIRST(&registry->leaving))) {
		TAILQ_REMOVE(&registry->leaving, entry, link);
		registry__free_entry(registry, entry);
	}
	registry__close_publication(registry);
	while ((entry = TAILQ_FIRST(&registry->retired))) {
		TAILQ_REMOVE(&registry->retired, entry, link);
		lease__cancel(registry->leases, &entry->lease);
		registry__free_entry(registry, entry);
	}
	source_schemas__close(&registry->schemas);
	quotas__close(&registry->quotas);
	quotas__close(&registry->delegated);
}

struct entry *registry__find(const struct registry *registry, const char *name)
{
	const void *found = entry_index__find(&registry->names, &name);

	if (!found)
		return NULL;
	return (struct entry *)((char *)found - offsetof(struct entry, name));
}

int registry__check_unused(const struct registry *registry, const char *name,
			   struct dart_error *error)
{
	const struct entry *entry = registry__find(registry, name);

	if (entry)
		return dart_error__set(error, EEXIST,
				       "there is an entry '%s' already (%s)",
				       name,
				       entry->is_self ? "choose another name" :
							"unregister it first");
	if (registry__find_group(registry, name))
		return dart_error__set(
			error, EEXIST,
			"'%s' is registered already (unregister it first)",
			name);
	return 0;
}

int registry__check_name(const struct registry *registry, const char *name,
			 struct dart_error *error)
{
	return entry_name__check(name, error) ?:
		       registry__check_unused(registry, name, error);
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
	ret = registry__check_unused(registry, entry->name, error) ?:
		      exposure__expose(registry->exposure, entry, error) ?:
		      registry__know(registry, entry, error) ?:
		      registry__index(registry, entry, error) ?:
		      registry__insert(registry, entry, ENTRY_ADDED, error);
	if (ret)
		registry__free_entry(registry, entry);
	return ret;
}

int registry__revive(struct registry *registry, struct entry *entry,
		     const char *name, struct dart_error *error)
{
	int ret = registry__check_unused(registry, name, error);

	if (ret)
		return ret;
	if (entry__rename(entry, name))
		return dart_error__no_memory(error);
	lease__cancel(registry->leases, &entry->lease);
	TAILQ_REMOVE(&registry->retired, entry, link);
	entry->is_on_lease = false;
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
	if (entry->change == ENTRY_REVIVED) {
		registry->added--;
		entry->change = ENTRY_UNCHANGED;
		file_watch__stop(registry->file_watches, &entry->watch);
		registry__retire(registry, entry);
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
	registry__set_ended(registry, entry);
	registry__take_out(registry, entry);
	registry__publish_later(registry);
}

int registry__check_quota(const struct registry *registry, uid_t uid,
			  uint64_t bytes, struct dart_error *error)
{
	return quotas__check(&registry->quotas, uid, bytes, error);
}

void registry__set_owner(struct registry *registry, struct entry *entry,
			 uid_t uid)
{
	registry__discharge(registry, entry);
	entry->owner = uid;
	entry->charge = 1;
	entry->is_delegated = false;
	entry->quota_user = quotas__charge(&registry->quotas, uid, 1, 0);
	if (entry->arena)
		registry__set_arena_owner(registry, entry->arena, uid);
}

uint32_t registry__charge_of(const char *name)
{
	return 1 + strlen(name) / DELEGATED_NAME;
}

void registry__delegate(struct registry *registry, struct entry *entry,
			uid_t uid)
{
	registry__discharge(registry, entry);
	/* Users choose how long the paths of their cgroups are. */
	entry->charge = registry__charge_of(entry->name);
	entry->is_delegated = true;
	entry->quota_user = quotas__charge(&registry->delegated, uid,
					   entry->charge, 0);
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

void registry__object_ended(struct registry *registry, struct entry *entry)
{
	/* An entry on lease must not be revived any more. */
	if (registry__find(registry, entry->name) == entry)
		registry__entry_ended(registry, entry);
	else
		registry__set_ended(registry, entry);
}

void registry__extent_ended(struct registry *registry, uint32_t extent)
{
	struct entry *entry = registry__find_extent(registry, extent);

	if (entry)
		registry__object_ended(registry, entry);
	else
		registry__arena_ended(registry, extent);
}

/* An entry on lease stays: the next holder of the map may revive it. */
void registry__map_ended(struct registry *registry, uint32_t map_id)
{
	struct entry *entry = registry__find_map(registry, map_id);

	if (entry)
		registry__entry_ended(registry, entry);
}

static struct entry *registry__find_key(const struct registry *registry,
					const struct selector_key *key)
{
	const void *found = entry_index__find(&registry->sources, key);

	if (!found)
		return NULL;
	return (struct entry *)((char *)found - offsetof(struct entry, key));
}

struct entry *registry__find_source(const struct registry *registry,
				    const struct selector_key *key)
{
	struct entry *entry = registry__find_key(registry, key);

	return entry && registry__find(registry, entry->name) == entry ? entry :
									 NULL;
}

struct entry *registry__find_leased_source(const struct registry *registry,
					   const struct selector_key *key)
{
	struct entry *entry = registry__find_key(registry, key);

	return entry && entry->is_on_lease ? entry : NULL;
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
	TAILQ_INIT(&group->entries);
	group->entry_count = 0;
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

	for (entry = TAILQ_FIRST(&group->entries); entry; entry = next) {
		next = TAILQ_NEXT(entry, in_group);
		if (has_ended)
			registry__entry_ended(registry, entry);
		else
			registry__take_out(registry, entry);
	}
}

struct source_entries registry__of_source(const struct registry *registry,
					  enum dart_zero_source id)
{
	return id < REGISTRY_SOURCES_MAX ? registry->of_sources[id] :
					   (struct source_entries){};
}

uint32_t registry__group_size(const struct registry *registry,
			      const struct entry_group *group)
{
	return group->entry_count;
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
