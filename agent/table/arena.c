// SPDX-License-Identifier: GPL-2.0-only
/* Lends, adopts and takes back the memory of slices: see arena.h. */
#include <errno.h>
#include <stdlib.h>

#include "arena.h"

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

void arena__free(struct arena *arena)
{
	slab__take_back(arena->slab, arena->id);
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
