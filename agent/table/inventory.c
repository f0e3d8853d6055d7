// SPDX-License-Identifier: GPL-2.0-only
/* Entries in the table and on lease: found, charged to users, freed. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <libdart/clock.h>

#include "finals.h"
#include "inventory.h"

/* Bytes of a name that are charged as one more entry. */
#define DELEGATED_NAME 128
/* Entries of delegated cgroups may take half of the table: 512 of its bytes allow one of them. */
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

void inventory__open(struct inventory *inventory, const struct table_rooms *rooms)
{
	*inventory = (struct inventory){
		.rooms = rooms,
		.extents = ENTRY_INDEX_OF_NUMBERS,
		.arenas = ENTRY_INDEX_OF_NUMBERS,
		.places = { .compare = arena_place__compare },
		.names = ENTRY_INDEX_OF_NAMES,
		.sources = { .compare = compare_keys },
	};
	quotas__open(&inventory->quotas);
	schema_shares__open(&inventory->schema_shares);
	quotas__open(&inventory->delegated);
	inventory->delegated.remedy = "remove some cgroups";
	inventory->delegated.total_most = rooms->control_region->capacity / DELEGATED_SHARE;
	TAILQ_INIT(&inventory->entries);
	TAILQ_INIT(&inventory->leaving);
	TAILQ_INIT(&inventory->retired);
	TAILQ_INIT(&inventory->groups);
}

void inventory__close(struct inventory *inventory)
{
	quotas__close(&inventory->quotas);
	quotas__close(&inventory->delegated);
}

/* @more: 1 or -1. */
static void inventory__count(struct inventory *inventory, const struct entry *entry, int more)
{
	struct table_counts *counts = inventory->rooms->counts;
	struct source_entries *of_source;

	count__add(&counts->entries, more);
	if (entry->kind == DART_CONTROL_ENTRY_SLICE && !entry->is_self)
		count__add(&counts->slices, more);
	if (entry->kind == DART_CONTROL_ENTRY_MAP)
		inventory->maps += more;
	if (entry->kind == DART_CONTROL_ENTRY_SOURCE && entry->key.source < INVENTORY_SOURCES_MAX) {
		of_source = &inventory->of_sources[entry->key.source];
		of_source->entries += more;
		of_source->singles += entry->group ? 0 : more;
	}
	/* The report counts objects of the host, which slices and counters are not. */
	if (entry->kind == DART_CONTROL_ENTRY_SOURCE || entry->kind == DART_CONTROL_ENTRY_MAP)
		coverage_watch__touch(inventory->coverage);
}

int inventory__link(struct inventory *inventory, struct entry *entry, struct dart_error *error)
{
	if (entry_index__add(&inventory->names, &entry->name))
		return dart_error__no_memory(error);
	TAILQ_INSERT_TAIL(&inventory->entries, entry, link);
	if (entry->group) {
		TAILQ_INSERT_TAIL(&entry->group->entries, entry, in_group);
		entry->group->entry_count++;
	}
	inventory__count(inventory, entry, 1);
	return 0;
}

void inventory__unlink(struct inventory *inventory, struct entry *entry)
{
	entry_index__remove(&inventory->names, &entry->name);
	TAILQ_REMOVE(&inventory->entries, entry, link);
	if (entry->group) {
		TAILQ_REMOVE(&entry->group->entries, entry, in_group);
		entry->group->entry_count--;
	}
	inventory__count(inventory, entry, -1);
}

static int inventory__index_key(struct inventory *inventory, struct entry *entry,
				struct dart_error *error)
{
	if (entry->kind != DART_CONTROL_ENTRY_SOURCE)
		return 0;
	if (entry_index__find(&inventory->sources, &entry->key))
		return dart_error__set(
			error, EBUSY,
			"an earlier entry of these counters is about to leave the table");
	if (entry_index__add(&inventory->sources, &entry->key))
		return dart_error__no_memory(error);
	entry->is_indexed = true;
	return 0;
}

static void inventory__unindex_key(struct inventory *inventory, struct entry *entry)
{
	if (entry->is_indexed)
		entry_index__remove(&inventory->sources, &entry->key);
	entry->is_indexed = false;
}

/* By its place in an arena, or by its extent. */
static int inventory__index_memory(struct inventory *inventory, struct entry *entry,
				   struct dart_error *error)
{
	if (!entry->arena && entry_index__add(&inventory->extents, &entry->extent.id))
		return dart_error__no_memory(error);
	if (!entry->arena)
		return 0;
	if (entry_index__add(&inventory->places, &entry->place))
		return dart_error__no_memory(error);
	TAILQ_INSERT_TAIL(&entry->arena->entries, entry, in_arena);
	entry->has_place = true;
	return 0;
}

static void inventory__unindex_memory(struct inventory *inventory, struct entry *entry)
{
	if (!entry->arena)
		entry_index__remove(&inventory->extents, &entry->extent.id);
	if (!entry->has_place)
		return;
	entry_index__remove(&inventory->places, &entry->place);
	TAILQ_REMOVE(&entry->arena->entries, entry, in_arena);
	entry->has_place = false;
}

int inventory__take(struct inventory *inventory, struct entry *entry, struct dart_error *error)
{
	return exposure__expose(inventory->rooms->exposure, entry, error) ?:
		       inventory__index_memory(inventory, entry, error) ?:
		       inventory__index_key(inventory, entry, error);
}

void inventory__set_ended(struct inventory *inventory, struct entry *entry)
{
	inventory__unindex_key(inventory, entry);
	entry->has_ended = true;
}

static void inventory__discharge(struct inventory *inventory, struct entry *entry)
{
	quotas__release(entry->is_delegated ? &inventory->delegated : &inventory->quotas,
			entry->quota_user, entry->charge, 0);
	entry->quota_user = NULL;
	schema_shares__give(&inventory->schema_shares, &inventory->quotas, entry->schema_share);
	entry->schema_share = NULL;
}

void inventory__free_entry(struct inventory *inventory, struct entry *entry)
{
	const struct table_rooms *rooms = inventory->rooms;
	const struct arena_place place = entry->place;
	struct arena *arena = entry->arena;

	file_watch__stop(rooms->file_watches, &entry->watch);
	if (entry->extent.map_id)
		map_owner_watch__remove(rooms->map_owner_watch, entry->extent.map_id);
	exposure__withdraw(rooms->exposure, entry);
	inventory__unindex_memory(inventory, entry);
	inventory__unindex_key(inventory, entry);
	inventory__discharge(inventory, entry);
	entry__free(entry, rooms->region);
	if (arena && arena->finals)
		finals__give_back(arena->finals, &place);
	else
		inventory__settle_arena(inventory, arena);
}

/* Returns the entry or arena whose member at @offset the index contains; or NULL. */
static void *find_owner(const struct entry_index *index, const void *key, size_t offset)
{
	const char *found = entry_index__find(index, key);

	return found ? (void *)(found - offset) : NULL;
}

struct entry *inventory__find(const struct inventory *inventory, const char *name)
{
	return find_owner(&inventory->names, &name, offsetof(struct entry, name));
}

static struct entry *inventory__find_key(const struct inventory *inventory,
					 const struct selector_key *key)
{
	return find_owner(&inventory->sources, key, offsetof(struct entry, key));
}

struct entry *inventory__find_source(const struct inventory *inventory,
				     const struct selector_key *key)
{
	struct entry *entry = inventory__find_key(inventory, key);

	return entry && inventory__find(inventory, entry->name) == entry ? entry : NULL;
}

struct entry *inventory__find_leased_source(const struct inventory *inventory,
					    const struct selector_key *key)
{
	struct entry *entry = inventory__find_key(inventory, key);

	return entry && entry->is_on_lease ? entry : NULL;
}

struct entry *inventory__find_map(const struct inventory *inventory, uint32_t map_id)
{
	return entries__find_map(&inventory->entries, map_id);
}

struct entry *inventory__find_extent(const struct inventory *inventory, uint32_t id)
{
	return find_owner(&inventory->extents, &id, offsetof(struct entry, extent.id));
}

struct entry *inventory__find_place(const struct inventory *inventory,
				    const struct arena_place *place)
{
	return find_owner(&inventory->places, place, offsetof(struct entry, place));
}

int inventory__check_unused(const struct inventory *inventory, const char *name,
			    struct dart_error *error)
{
	const struct entry *entry = inventory__find(inventory, name);

	if (entry)
		return dart_error__set(error, EEXIST, "there is an entry '%s' already (%s)", name,
				       entry->is_self ? "choose another name" :
							"unregister it first");
	if (inventory__find_group(inventory, name))
		return dart_error__set(error, EEXIST,
				       "'%s' is registered already (unregister it first)", name);
	return 0;
}

int inventory__check_name(const struct inventory *inventory, const char *name,
			  struct dart_error *error)
{
	return entry_name__check(name, error) ?: inventory__check_unused(inventory, name, error);
}

struct source_entries inventory__of_source(const struct inventory *inventory,
					   enum dart_zero_source id)
{
	return id < INVENTORY_SOURCES_MAX ? inventory->of_sources[id] : (struct source_entries){};
}

void inventory__set_owner(struct inventory *inventory, struct entry *entry, uid_t uid)
{
	struct arena *arena = entry->arena;

	inventory__discharge(inventory, entry);
	entry->owner = uid;
	/* Adapters and the kernel have limits for memory regions. */
	entry->charge = entry->is_exact ? entry->run_count : 1;
	entry->is_delegated = false;
	entry->quota_user = quotas__charge(&inventory->quotas, uid, entry->charge, 0);
	entry->schema_share = schema_shares__take(&inventory->schema_shares, &inventory->quotas,
						  uid, entry->schema);
	if (!arena)
		return;
	quotas__release(&inventory->quotas, arena->quota_user, 0, arena->length);
	arena->owner = uid;
	arena->quota_user = quotas__charge(&inventory->quotas, uid, 0, arena->length);
}

/* Users choose how long the paths of their cgroups are. */
uint32_t inventory__charge_of(const char *name)
{
	return 1 + strlen(name) / DELEGATED_NAME;
}

void inventory__delegate(struct inventory *inventory, struct entry *entry, uid_t uid)
{
	inventory__discharge(inventory, entry);
	entry->charge = inventory__charge_of(entry->name);
	entry->is_delegated = true;
	entry->quota_user = quotas__charge(&inventory->delegated, uid, entry->charge, 0);
}

struct arena *inventory__find_arena(const struct inventory *inventory, uint32_t id)
{
	return find_owner(&inventory->arenas, &id, offsetof(struct arena, id));
}

int inventory__add_arena(struct inventory *inventory, struct arena *arena, struct dart_error *error)
{
	if (!entry_index__add(&inventory->arenas, &arena->id))
		return 0;
	arena__free(arena);
	return dart_error__no_memory(error);
}

void inventory__settle_arena(struct inventory *inventory, struct arena *arena)
{
	if (!arena || !TAILQ_EMPTY(&arena->entries))
		return;
	entry_index__remove(&inventory->arenas, &arena->id);
	quotas__release(&inventory->quotas, arena->quota_user, 0, arena->length);
	arena__free(arena);
}

int inventory__add_group(struct inventory *inventory, struct entry_group *group,
			 struct dart_error *error)
{
	if (inventory__find_group(inventory, group->name))
		return dart_error__set(error, EEXIST, "'%s' is followed already", group->name);
	group->registered = dart_clock__ns(CLOCK_BOOTTIME);
	TAILQ_INIT(&group->entries);
	group->entry_count = 0;
	TAILQ_INSERT_TAIL(&inventory->groups, group, link);
	count__add(&inventory->rooms->counts->followers, 1);
	return 0;
}

void inventory__remove_group(struct inventory *inventory, struct entry_group *group)
{
	TAILQ_REMOVE(&inventory->groups, group, link);
	count__add(&inventory->rooms->counts->followers, -1);
}

struct entry_group *inventory__find_group(const struct inventory *inventory, const char *name)
{
	struct entry_group *group;

	TAILQ_FOREACH(group, &inventory->groups, link)
		if (!strcmp(group->name, name))
			return group;
	return NULL;
}
