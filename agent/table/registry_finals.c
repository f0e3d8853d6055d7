// SPDX-License-Identifier: GPL-2.0-only
/* Moves slices that linger to memory in which their final bytes lie side by side: see finals.h. */
#include <libdart/table/schema.h>

#include "registry.h"

static struct dart_schema *copy_schema(const struct dart_schema *schema)
{
	struct dart_schema *copy = dart_schema__new(schema->name, schema->length);
	uint32_t i;

	for (i = 0; copy && i < schema->field_count; i++) {
		if (!dart_schema__add(copy, &schema->fields[i]))
			continue;
		dart_schema__free(copy);
		copy = NULL;
	}
	return copy;
}

static bool is_to_gather(const struct entry *entry)
{
	return entry->kind == DART_CONTROL_ENTRY_SLICE && entry->arena && !entry->arena->finals &&
	       entry->schema->length <= FINALS_SLICE_MAX;
}

/* Of an exact slice controllers may see the fields alone. */
static void registry__copy_finals(struct registry *registry, const struct entry *entry,
				  const struct arena_place *place)
{
	const uint8_t *bytes =
		(const uint8_t *)registry->rooms.region->memory + entry->place.first;
	const struct run whole = { .length = entry->schema->length };
	const struct run *runs = entry->is_exact ? entry->runs : &whole;
	const uint32_t count = entry->is_exact ? entry->run_count : 1;
	uint32_t i;

	for (i = 0; i < count; i++)
		finals__write(&registry->finals, place, runs[i].offset, bytes + runs[i].offset,
			      runs[i].length);
}

/* Makes an entry with the final bytes of @entry, which is still charged. */
static int registry__make_final(struct registry *registry, const struct entry *entry,
				struct entry **final, struct dart_error *error)
{
	struct finals *finals = &registry->finals;
	struct arena_place place;
	struct dart_schema *schema;
	int ret;

	ret = finals__take(finals, &registry->slabs, entry->schema->length, &place, error);
	if (ret)
		return ret;
	schema = copy_schema(entry->schema);
	ret = schema ? entry__new_slice(registry->rooms.region, finals->arena, &place, entry->name,
					schema, false, final, error) :
		       dart_error__no_memory(error);
	if (ret) {
		finals__give_back(finals, &place);
		return ret;
	}
	registry__copy_finals(registry, entry, &place);
	(*final)->registry = registry;
	(*final)->owner = entry->owner;
	(*final)->registered = entry->registered;
	(*final)->since = entry->since;
	(*final)->has_ended = true;
	(*final)->has_lingered = true;
	(*final)->is_unlisted = true;
	ret = inventory__take(&registry->inventory, *final, error);
	if (ret)
		inventory__free_entry(&registry->inventory, *final);
	return ret;
}

/* The memory of @entry is free after a lease, and its name goes on with the copy. */
static int registry__gather_final(struct registry *registry, struct entry *entry)
{
	struct dart_error error;
	struct entry *final;
	int ret = registry__make_final(registry, entry, &final, &error);

	if (!ret) {
		ret = lingering__replace(&registry->lingering, entry, final,
					 final->place.last - final->place.first + 1);
		if (ret)
			inventory__free_entry(&registry->inventory, final);
	}
	if (ret)
		return ret;
	final->quota_user = entry->quota_user;
	final->charge = entry->charge;
	entry->quota_user = NULL;
	TAILQ_INSERT_TAIL(&registry->inventory.leaving, entry, link);
	registry->removed++;
	return 0;
}

void registry__gather_finals(struct registry *registry)
{
	struct entry *entry, *next;

	for (entry = TAILQ_FIRST(&registry->lingering.entries); entry; entry = next) {
		next = TAILQ_NEXT(entry, link);
		/* Without room, or memory, the others stay in theirs, which costs more to READ. */
		if (is_to_gather(entry) && registry__gather_final(registry, entry))
			break;
	}
}
