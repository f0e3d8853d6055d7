// SPDX-License-Identifier: GPL-2.0-only
/* Adds, finds and restores the slices of clients, in memory that dartd lends or takes over. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dart/registration.h>

#include "agent/base/log.h"
#include "agent/schema/schema_json.h"
#include "client_memory_kept.h"
#include "registry.h"

/* Bytes of the memory that @asked wants to be lent, whole pages. */
static int registry__size_arena(const struct registry *registry, const struct slice_request *asked,
				uint64_t *length, struct dart_error *error)
{
	uint64_t page = registry->rooms.region->page_size;
	uint64_t most = page * DART_REGISTRATION_MEMORY_PAGES_MAX;

	*length = asked->memory;
	if (!asked->has_memory && asked->offset <= most)
		*length = (asked->offset + asked->schema->length + page - 1) / page * page;
	else if (!asked->has_memory)
		*length = asked->offset;
	if (*length && *length % page == 0 && *length <= most)
		return 0;
	return dart_error__set(error, EINVAL,
			       "%llu bytes of memory are not 1 to %d whole pages of %u bytes",
			       (unsigned long long)*length, DART_REGISTRATION_MEMORY_PAGES_MAX,
			       (unsigned int)page);
}

static int registry__lend_arena(struct registry *registry, const struct slice_request *asked,
				struct arena **arena, int *fd, struct dart_error *error)
{
	uint64_t length;
	int ret;

	ret = registry__size_arena(registry, asked, &length, error)			      ?:
		      quotas__check(&registry->inventory.quotas, asked->owner, 1, length,
				    error)						      ?:
		      arena__lend(&registry->slabs, length, arena, fd, error);
	return ret ?: inventory__add_arena(&registry->inventory, *arena, error);
}

/* Takes memory that a client created.  -EEXIST: dartd has this memory as *@id; *@proof is not set. */
static int registry__take_client(const struct registry *registry, int fd, struct arena **arena,
				 uint32_t *id, int *proof, struct dart_error *error)
{
	struct client_memory *client;
	int ret = client_memory__add(registry->rooms.clients, fd, &client, proof, error);

	if (ret == -EEXIST)
		*id = client->id;
	return ret ?: arena__of_client(registry->rooms.exposure, client, arena, error);
}

/* Other memory is exposed as a whole, with the slices of all processes. */
static int check_exact(const struct slice_request *asked, struct dart_error *error)
{
	if (!asked->is_exact)
		return 0;
	if (asked->fd >= 0 && client_memory__is(asked->fd))
		return 0;
	return dart_error__set(error, EINVAL,
			       "'exposure' is for memory that the client created (leave it out)");
}

/* Finds the memory of the descriptor in @asked, or takes it over. */
static int registry__adopt_arena(struct registry *registry, const struct slice_request *asked,
				 struct arena **arena, int *fd, struct dart_error *error)
{
	uint32_t id;
	int ret;

	if (asked->has_memory)
		return dart_error__set(
			error, EINVAL,
			"'memory' is for requests without a descriptor (leave it out)");
	ret = client_memory__is(asked->fd) ?
		      registry__take_client(registry, asked->fd, arena, &id, fd, error) :
		      arena__adopt(&registry->slabs, asked->fd, arena, &id, error);
	if (ret == -EEXIST) {
		*arena = inventory__find_arena(&registry->inventory, id);
		return *arena ? 0 : ret;
	}
	return ret ?: inventory__add_arena(&registry->inventory, *arena, error);
}

/*
 * -EPERM: the memory contains entries of another user.  -EDQUOT: the entry, or the memory, if it
 * does not belong to the user yet, exceeds the quota.
 */
static int registry__check_user(const struct registry *registry, const struct arena *arena,
				const struct slice_request *asked, struct dart_error *error)
{
	const struct inventory *inventory = &registry->inventory;
	const uid_t uid = asked->owner;
	uint32_t entries;

	if (arena->owner != uid && arena__is_listed(arena))
		return dart_error__set(
			error, EPERM, "this memory has slices of user %u, who alone can add others",
			arena->owner);
	entries = asked->is_exact ? entry__count_runs(asked->schema) : 1;
	entries += schema_shares__charge_of(&inventory->schema_shares, uid, asked->schema);
	return quotas__check(&inventory->quotas, uid, entries,
			     arena->owner == uid ? 0 : arena->length, error);
}

/*
 * @entry covers some of the bytes of @asked: it is in the table, for example because the client
 * lost the reply to the same request, or on lease.
 */
static int registry__add_known_slice(struct registry *registry, struct entry *entry,
				     const struct slice_request *asked, struct entry **result,
				     struct dart_error *error)
{
	const struct arena *arena = entry->arena;
	bool is_equal = entry->place.first == arena->data + asked->offset &&
			entry->is_exact == asked->is_exact &&
			dart_schema__equals(entry->schema, asked->schema);
	uint32_t first = entry->place.first - arena->data;
	uint32_t last = entry->place.last - arena->data;
	int ret;

	*result = entry;
	if (!entry->is_on_lease) {
		if (is_equal && entry->owner == asked->owner && !strcmp(entry->name, asked->name))
			return 0;
		return dart_error__set(
			error, EEXIST,
			"bytes %u to %u of this memory are registered already, as '%s'",
			first, last, entry->name);
	}
	if (!is_equal)
		return dart_error__set(
			error, EBUSY,
			"bytes %u to %u of this memory are still on lease with another schema (try again in %u s)",
			first, last, LEASE_SECONDS);
	/* An entry on lease is one of its user's. */
	ret = entry->owner == asked->owner && arena->owner == asked->owner ?
		      0 :
		      registry__check_user(registry, arena, asked, error);
	return ret ?: registry__revive(registry, entry, asked->name, error);
}

/* In a batch.  An arena without entries is freed. */
static int registry__stage_slice(struct registry *registry, struct arena *arena,
				 struct slice_request *asked, struct entry **result,
				 struct dart_error *error)
{
	struct arena_place place;
	struct entry *entry;
	int ret;

	ret = arena__check_place(arena, asked->offset, asked->schema->length, error);
	if (ret)
		goto settle;
	place = place_in(arena, asked->offset, asked->schema->length);
	entry = inventory__find_place(&registry->inventory, &place);
	if (entry)
		return registry__add_known_slice(registry, entry, asked, result, error);
	ret = registry__check_user(registry, arena, asked, error);
	if (!ret && !asked->is_exact)
		ret = arena__expose(arena, error);
	if (ret)
		goto settle;
	ret = entry__new_slice(registry->rooms.region, arena, &place, asked->name,
			       asked->schema, asked->is_exact, result, error);
	asked->schema = NULL;
	if (!ret)
		return registry__add(registry, *result, error);
settle:
	inventory__settle_arena(&registry->inventory, arena);
	return ret;
}

static int check_offset(const struct slice_request *asked, struct dart_error *error)
{
	if (asked->offset % DART_REGISTRATION_SLICE_ALIGNMENT == 0)
		return 0;
	return dart_error__set(error, EINVAL, "the offset %llu is not a multiple of %d",
			       (unsigned long long)asked->offset,
			       DART_REGISTRATION_SLICE_ALIGNMENT);
}

int registry__add_slice(struct registry *registry, struct slice_request *asked, int *fd,
			struct entry **result, struct dart_error *error)
{
	struct arena *arena;
	int ret;

	*fd = -1;
	/* A name in use is not refused before the same request is recognised. */
	ret = asked->fd < 0 ? inventory__check_name(&registry->inventory, asked->name, error) :
			      entry_name__check(asked->name, error);
	ret = ret ?: check_offset(asked, error) ?: check_exact(asked, error);
	if (ret)
		goto free_schema;

	registry__begin(registry);
	ret = asked->fd < 0 ? registry__lend_arena(registry, asked, &arena, fd, error) :
			      registry__adopt_arena(registry, asked, &arena, fd, error);
	ret = ret ?: registry__stage_slice(registry, arena, asked, result, error);
	ret = registry__end_with(registry, ret, error);
	if (ret && *fd >= 0) {
		close(*fd);
		*fd = -1;
	}
free_schema:
	dart_schema__free(asked->schema);
	return ret;
}

void registry__note_slice(struct entry *entry, uid_t owner, json_t *schema)
{
	struct arena *arena = entry->arena;
	char *text, *line;
	json_t *note;
	int length;

	if (!arena->client || entry->note.length || !client_kept__keeps(arena->client))
		return;
	note = json_pack("{s:I, s:s, s:I, s:O}", "owner", (json_int_t)owner, "name", entry->name,
			 "offset", (json_int_t)(entry->place.first - arena->data), "schema",
			 schema);
	if (note && entry->is_exact)
		json_object_set_new(note, "exposure", json_string("exact"));
	text = note ? json_dumps(note, JSON_COMPACT) : NULL;
	length = text ? asprintf(&line, "%s\n", text) : -1;
	if (length > 0) {
		arena__note(arena, entry, line, length);
		free(line);
	}
	free(text);
	json_decref(note);
}

uint64_t registry__note_place(const struct entry *entry)
{
	/* Ids begin with 1. */
	return (uint64_t)entry->arena->id << 32 | (entry->place.first - entry->arena->data);
}

static struct entry *registry__find_like(const struct registry *registry, uint64_t number,
					 uid_t owner)
{
	const struct arena *arena = inventory__find_arena(&registry->inventory, number >> 32);
	struct arena_place place;
	struct entry *entry;

	if (!arena)
		return NULL;
	place = place_in(arena, (uint32_t)number, 1);
	entry = inventory__find_place(&registry->inventory, &place);
	return entry && !entry->is_on_lease && entry->owner == owner ? entry : NULL;
}

/* Without the checks of dart_schema__add(), which its fields have passed; NULL: out of memory. */
static struct dart_schema *copy_schema(const struct dart_schema *schema)
{
	struct dart_schema *copy = calloc(1, sizeof(*copy));
	struct dart_field *field;

	if (!copy)
		return NULL;
	copy->length = schema->length;
	copy->name = strdup(schema->name);
	copy->fields = calloc((size_t)schema->field_count + 1, sizeof(*copy->fields));
	if (!copy->name || !copy->fields)
		goto free_copy;
	for (; copy->field_count < schema->field_count; copy->field_count++) {
		field = &copy->fields[copy->field_count];
		*field = schema->fields[copy->field_count];
		field->name = strdup(field->name);
		field->unit = strdup(field->unit);
		if (!field->name || !field->unit) {
			free(field->name);
			free(field->unit);
			goto free_copy;
		}
	}
	return copy;

free_copy:
	dart_schema__free(copy);
	return NULL;
}

/* Makes a line about @entry out of the line about @like, which differs in name and offset. */
static void registry__note_like(struct entry *entry, const struct entry *like)
{
	struct arena *arena = entry->arena;
	char *line, *rest, *copy;
	int length;

	if (!like->note.length || entry->note.length)
		return;
	line = client_kept__line(arena->client, &like->note);
	rest = line ? strstr(line, ",\"schema\":") : NULL;
	length = rest ? asprintf(&copy, "{\"owner\":%u,\"name\":\"%s\",\"offset\":%u%s",
				 like->owner, entry->name,
				 (uint32_t)(entry->place.first - arena->data), rest) :
			-1;
	if (length > 0) {
		arena__note(arena, entry, copy, length);
		free(copy);
	}
	free(line);
}

int registry__add_like(struct registry *registry, uint64_t place, struct slice_request *asked,
		       struct entry **result, struct dart_error *error)
{
	const struct entry *like = registry__find_like(registry, place, asked->owner);
	int ret;

	if (!like)
		return dart_error__set(
			error, ENOENT,
			"the connection has no slice that this one is like (send \"new-slice\")");
	ret = entry_name__check(asked->name, error) ?: check_offset(asked, error);
	if (ret)
		return ret;
	asked->is_exact = like->is_exact;
	asked->schema = copy_schema(like->schema);
	if (!asked->schema)
		return dart_error__no_memory(error);
	registry__begin(registry);
	ret = registry__stage_slice(registry, like->arena, asked, result, error);
	ret = registry__end_with(registry, ret, error);
	dart_schema__free(asked->schema);
	if (!ret && *result != like)
		registry__note_like(*result, like);
	return ret;
}

/* Registers the slice of a note again, in a batch. */
static int registry__restore_slice(struct registry *registry, struct arena *arena,
				   json_t *note, struct dart_error *error)
{
	struct slice_request asked = { .fd = -1 };
	json_int_t owner, offset;
	const char *exposure = NULL;
	struct entry *entry;
	json_t *schema;
	int ret;

	if (json_unpack(note, "{s:I, s:s, s:I, s:o, s?s !}", "owner", &owner, "name", &asked.name,
			"offset", &offset, "schema", &schema, "exposure", &exposure) ||
	    owner < 0 || owner > UINT32_MAX || offset < 0)
		return dart_error__set(error, EINVAL, "a note about a slice is not one");
	asked.owner = owner;
	asked.offset = offset;
	ret = inventory__check_name(&registry->inventory, asked.name, error) ?:
		      schema_json__new(schema, &asked.schema, error);
	if (ret)
		return ret;
	asked.is_exact = exposure;
	ret = registry__stage_slice(registry, arena, &asked, &entry, error);
	dart_schema__free(asked.schema);
	if (ret)
		return ret;
	inventory__set_owner(&registry->inventory, entry, asked.owner);
	registry__note_slice(entry, asked.owner, schema);
	return 0;
}

/* In a batch.  An arena without entries is freed. */
static void registry__restore_slices(struct registry *registry, struct arena *arena, char *notes,
				     size_t length)
{
	const uint32_t id = arena->id;
	char *line = notes, *end;
	struct dart_error error;
	json_t *note;

	while ((end = memchr(line, '\n', length - (line - notes)))) {
		note = *line == '#' ? NULL : json_loadb(line, end - line, 0, NULL);
		if (note && registry__restore_slice(registry, arena, note, &error))
			log__peer_warning("a slice of an earlier dartd is lost: %s", error.text);
		json_decref(note);
		line = end + 1;
		/* A refused slice ends an arena without others. */
		if (inventory__find_arena(&registry->inventory, id) != arena)
			return;
	}
	inventory__settle_arena(&registry->inventory, arena);
}

static void registry__restore_client(struct registry *registry, const char *name)
{
	struct client_memory *client;
	struct dart_error error;
	struct arena *arena;
	size_t length = 0;
	uint32_t id;
	char *notes;

	if (client_memory__restore(registry->rooms.clients, name, &client))
		return;
	id = client->id;
	notes = client_kept__former_notes(client, &length);
	if (arena__of_client(registry->rooms.exposure, client, &arena, &error) ||
	    inventory__add_arena(&registry->inventory, arena, &error)) {
		log__error("memory of an earlier dartd is lost: %s", error.text);
	} else {
		registry__begin(registry);
		registry__restore_slices(registry, arena, notes, length);
		registry__end_or_log(registry);
	}
	free(notes);
	arena = inventory__find_arena(&registry->inventory, id);
	if (arena)
		client_kept__replace_notes(arena->client);
}

void registry__restore_clients(struct registry *registry)
{
	struct fd_store *kept = registry->rooms.clients->kept;
	char name[FD_STORE_NAME_MAX];

	while (fd_store__find(kept, CLIENT_KEPT_MEMORY, name))
		registry__restore_client(registry, name);
	/* Notes without memory. */
	while (fd_store__find(kept, CLIENT_KEPT_NOTES, name))
		fd_store__forget(kept, name);
}

int registry__find_slice(struct registry *registry, const char *name, int fd,
			 struct entry **entry, struct dart_error *error)
{
	const struct client_memory *client;
	struct arena *arena;
	uint32_t id;
	int ret;

	*entry = inventory__find(&registry->inventory, name);
	if (*entry && (*entry)->arena && (*entry)->arena->client) {
		client = client_memory__find(registry->rooms.clients, fd);
		if (client == (*entry)->arena->client)
			return 0;
	} else if (*entry && (*entry)->arena) {
		ret = arena__adopt(&registry->slabs, fd, &arena, &id, error);
		if (!ret)
			arena__free(arena);
		else if (ret != -EEXIST)
			return ret;
		else if (id == (*entry)->arena->id)
			return 0;
	}
	return dart_error__set(error, ENOENT, "this memory has no slice '%s'", name);
}
