// SPDX-License-Identifier: GPL-2.0-only
/* Takes the entries of objects that have ended out of the registry: some linger in the table. */
#include "agent/base/log.h"
#include "client_memory_kept.h"
#include "registry.h"

/* Maps and counters leave at once, because their next users revive their entries on lease. */
static bool registry__can_linger(const struct entry *entry)
{
	return entry->change == ENTRY_UNCHANGED && (entry->kind == DART_CONTROL_ENTRY_SOURCE ||
						    entry->kind == DART_CONTROL_ENTRY_SLICE);
}

/* Bytes of memory that @entry alone holds. */
static uint64_t held_bytes(const struct entry *entry)
{
	const struct arena *arena = entry->arena;

	if (!arena)
		return entry->extent.length * entry->extent.copies;
	if (TAILQ_FIRST(&arena->entries) == TAILQ_LAST(&arena->entries, entries_of_arena))
		return arena->length;
	return entry->place.last - entry->place.first + 1;
}

static void registry__linger(struct registry *registry, struct entry *entry)
{
	const struct quota_user *user = entry->quota_user;
	struct inventory *inventory = &registry->inventory;
	struct lingering *lingering = &registry->lingering;

	file_watch__stop(registry->rooms.file_watches, &entry->watch);
	inventory__unlink(inventory, entry);
	entry->group = NULL;
	entry->has_lingered = true;
	registry__tell_end(registry, entry);
	if (lingering__add(lingering, entry, held_bytes(entry))) {
		lingering__cut_short(lingering, "it has too much memory");
		TAILQ_INSERT_TAIL(&inventory->leaving, entry, link);
		registry->removed++;
		return;
	}
	while ((entry = lingering__surplus(lingering, user, inventory->quotas.entries_most)))
		registry__let_go(registry, entry);
}

void registry__entry_ended(struct registry *registry, struct entry *entry)
{
	/* Followers and clients with slices would fill the log. */
	if (!entry->group && entry->kind != DART_CONTROL_ENTRY_SLICE)
		log__peer_info("%s no longer exists", entry->name);
	inventory__set_ended(&registry->inventory, entry);
	if (registry__can_linger(entry))
		registry__linger(registry, entry);
	else
		registry__take_out(registry, entry);
	if (registry->removed)
		registry__publish_later(registry);
}

void registry__withdraw_group(struct registry *registry, const struct entry_group *group,
			      bool has_ended)
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

/* An entry that is not in the table must not be revived any more. */
static void registry__object_ended(struct registry *registry, struct entry *entry)
{
	if (inventory__find(&registry->inventory, entry->name) == entry)
		registry__entry_ended(registry, entry);
	else
		inventory__set_ended(&registry->inventory, entry);
}

void registry__extent_ended(struct registry *registry, uint32_t extent)
{
	struct entry *entry = inventory__find_extent(&registry->inventory, extent), *next;
	struct arena *arena;

	if (entry) {
		registry__object_ended(registry, entry);
		return;
	}
	/* An arena is freed with its last entry. */
	arena = inventory__find_arena(&registry->inventory, extent);
	for (entry = arena ? TAILQ_FIRST(&arena->entries) : NULL; entry; entry = next) {
		next = TAILQ_NEXT(entry, in_arena);
		registry__object_ended(registry, entry);
	}
	/* The next dartd gets the memory of processes that run, of which there may be many. */
	arena = inventory__find_arena(&registry->inventory, extent);
	if (arena && arena->client)
		client_kept__forget(arena->client);
}

/* An entry on lease stays: the next holder of the map may revive it. */
void registry__map_ended(struct registry *registry, uint32_t map_id)
{
	struct entry *entry = inventory__find_map(&registry->inventory, map_id);

	if (entry)
		registry__entry_ended(registry, entry);
}
