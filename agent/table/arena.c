// SPDX-License-Identifier: GPL-2.0-only
/* Lends, adopts and takes back the memory of slices: see arena.h. */
#include <errno.h>
#include <stdlib.h>

#include "arena.h"
#include "client_memory_kept.h"

struct arena_place place_in(const struct arena *arena, uint64_t offset, uint32_t length)
{
	return (struct arena_place){
		.first = arena->data + offset,
		.last = arena->data + offset + length - 1,
	};
}

int arena_place__compare(const void *place, const void *other)
{
	const struct arena_place *a = place, *b = other;

	return (a->first > b->last) - (a->last < b->first);
}

/* Takes @slice over, even on error. */
static int arena__of_slice(struct slab *slab, const struct dart_zero_slice *slice,
			   struct arena **result, struct dart_error *error)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena) {
		slab__take_back(slab, slice->id);
		return dart_error__no_memory(error);
	}
	arena->id = slice->id;
	arena->slab = slab;
	arena->data = slice->data;
	arena->length = (uint64_t)slice->pages * slab->slabs->region->page_size;
	TAILQ_INIT(&arena->entries);
	*result = arena;
	return 0;
}

int arena__lend(struct slabs *slabs, uint64_t length, struct arena **arena,
		int *fd, struct dart_error *error)
{
	struct dart_zero_slice slice;
	struct slab *slab;
	int ret;

	*fd = -1;
	ret = slabs__lend(slabs, length / slabs->region->page_size, &slice, &slab, error);
	if (ret)
		return ret;
	*fd = slice.fd;
	return arena__of_slice(slab, &slice, arena, error);
}

int arena__lend_alone(struct slabs *slabs, uint64_t length, struct arena **arena, int *fd,
		      struct dart_error *error)
{
	struct dart_zero_slice slice;
	struct slab *slab;
	int ret;

	*fd = -1;
	ret = slabs__lend_alone(slabs, length / slabs->region->page_size, &slice, &slab, error);
	if (ret)
		return ret;
	*fd = slice.fd;
	return arena__of_slice(slab, &slice, arena, error);
}

int arena__adopt(struct slabs *slabs, int fd, struct arena **arena,
		 uint32_t *id, struct dart_error *error)
{
	struct dart_zero_slice slice;
	struct slab *slab;
	int ret;

	ret = slabs__adopt(slabs, fd, &slice, &slab, error);
	*id = slice.id;
	return ret ?: arena__of_slice(slab, &slice, arena, error);
}

static struct dart_zero_extent extent_of(const struct client_memory *client)
{
	return (struct dart_zero_extent){ .data = client->data, .pages = client->pages };
}

int arena__of_client(struct exposure *exposure, struct client_memory *client, struct arena **result,
		     struct dart_error *error)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena) {
		client_memory__remove(client);
		return dart_error__no_memory(error);
	}
	arena->id = client->id;
	arena->client = client;
	arena->exposure = exposure;
	arena->data = client->data;
	arena->length = (uint64_t)client->pages * exposure->region->page_size;
	TAILQ_INIT(&arena->entries);
	*result = arena;
	return 0;
}

int arena__expose(struct arena *arena, struct dart_error *error)
{
	struct dart_zero_extent extent;
	int ret;

	/* A slab is exposed as a whole. */
	if (!arena->client || arena->is_open)
		return 0;
	extent = extent_of(arena->client);
	ret = exposure__open_slab(arena->exposure, &extent, error);
	arena->is_open = !ret;
	return ret;
}

/* Copies the lines of all entries to new notes. */
static void arena__copy_notes(struct arena *arena)
{
	const int former = client_kept__begin_copy(arena->client);
	struct entry *entry;

	if (former < 0)
		return;
	TAILQ_FOREACH(entry, &arena->entries, in_arena)
		if (entry->note.length)
			client_kept__copy(arena->client, former, &entry->note);
	client_kept__end_copy(arena->client, former);
}

void arena__note(struct arena *arena, struct entry *entry, const char *line, size_t length)
{
	if (client_kept__is_worn(arena->client))
		arena__copy_notes(arena);
	entry->note = client_kept__note(arena->client, line, length);
}

void arena__cross_out(struct entry *entry)
{
	if (entry->arena->client)
		client_kept__cross_out(entry->arena->client, &entry->note);
}

void arena__free(struct arena *arena)
{
	struct dart_zero_extent extent;

	if (arena->client) {
		extent = extent_of(arena->client);
		if (arena->is_open)
			exposure__close_slab(arena->exposure, &extent);
		client_memory__remove(arena->client);
	} else {
		slab__take_back(arena->slab, arena->id);
	}
	free(arena);
}

int arena__check_place(const struct arena *arena, uint64_t offset,
		       uint32_t length, struct dart_error *error)
{
	if (offset > arena->length || length > arena->length - offset)
		return dart_error__set(
			error, EINVAL,
			"%u bytes at offset %llu end behind the memory, which has %llu bytes",
			length, (unsigned long long)offset, (unsigned long long)arena->length);
	return 0;
}

bool arena__is_listed(const struct arena *arena)
{
	const struct entry *entry;

	TAILQ_FOREACH(entry, &arena->entries, in_arena)
		if (!entry->is_on_lease)
			return true;
	return false;
}
