// SPDX-License-Identifier: LGPL-2.1-or-later
/* Memory shared by slices: see slice_arena_internal.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dart/registration.h>

#include "slice_arena_internal.h"

#define UNIT ((size_t)DART_REGISTRATION_SLICE_ALIGNMENT)

/*
 * Another arena is as large as all others together: a process with one small slice
 * takes a page, one with 8000 takes 8 descriptors, and at most half of the memory is
 * unused.  Beyond 1 MiB descriptors are few enough, and larger runs of pages rare.
 */
#define ARENA_LENGTH_MAX ((size_t)1 << 20)

static size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t next_length(const struct dart_slice_arenas *arenas, size_t length)
{
	const struct dart_slice_arena *arena;
	size_t page = sysconf(_SC_PAGESIZE), total = 0;

	TAILQ_FOREACH(arena, arenas, link)
		total += arena->length;
	if (total > ARENA_LENGTH_MAX)
		total = ARENA_LENGTH_MAX;
	return (max_size(max_size(total, length), 1) + page - 1) / page * page;
}

static int arena__new(struct dart_slice_arenas *arenas, size_t length,
		      struct dart_slice_arena **result, struct dart_error *error)
{
	struct dart_slice_arena *arena;
	void *memory;

	arena = calloc(1, sizeof(*arena) + length / UNIT);
	if (!arena)
		return dart_error__no_memory(error);
	memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		free(arena);
		return dart_error__system(error, errno, "cannot map %zu bytes for slices", length);
	}
	arena->memory = memory;
	arena->length = length;
	arena->fd = -1;
	arena->units = length / UNIT;
	TAILQ_INIT(&arena->members);
	TAILQ_INSERT_TAIL(arenas, arena, link);
	*result = arena;
	return 0;
}

void dart_slice_arena__free(struct dart_slice_arenas *arenas, struct dart_slice_arena *arena)
{
	TAILQ_REMOVE(arenas, arena, link);
	munmap(arena->memory, arena->length);
	if (arena->fd >= 0)
		close(arena->fd);
	free(arena);
}

static uint32_t units_of(size_t length)
{
	return (length + UNIT - 1) / UNIT;
}

/* The first of @count free units, or arena->units. */
static uint32_t arena__find(const struct dart_slice_arena *arena, uint32_t count)
{
	uint32_t first = arena->search_from, i;

	while (count <= arena->units - first) {
		for (i = count; i && !arena->used[first + i - 1]; i--)
			;
		if (!i)
			return first;
		first += i;
	}
	return arena->units;
}

static bool arena__take(struct dart_slice_arena *arena, size_t length, size_t *offset)
{
	uint32_t count = units_of(length), first = arena__find(arena, count);

	if (first == arena->units)
		return false;
	memset(arena->used + first, 1, count);
	if (first == arena->search_from)
		arena->search_from += count;
	/* Bytes of an earlier slice. */
	if (first < arena->written)
		memset(arena->memory + first * UNIT, 0, count * UNIT);
	if (first + count > arena->written)
		arena->written = first + count;
	*offset = first * UNIT;
	return true;
}

int dart_slice_arenas__take(struct dart_slice_arenas *arenas, size_t length,
			    struct dart_slice_arena **arena, size_t *offset,
			    struct dart_error *error)
{
	int ret;

	TAILQ_FOREACH(*arena, arenas, link)
		if (arena__take(*arena, length, offset))
			return 0;
	ret = arena__new(arenas, next_length(arenas, length), arena, error);
	if (!ret)
		arena__take(*arena, length, offset);
	return ret;
}

void dart_slice_arena__give_back(struct dart_slice_arena *arena, size_t offset, size_t length)
{
	uint32_t first = offset / UNIT;

	memset(arena->used + first, 0, units_of(length));
	if (first < arena->search_from)
		arena->search_from = first;
}

int dart_slice_arena__lend(struct dart_slice_arena *arena, int fd, struct dart_error *error)
{
	void *lent;
	int ret;

	lent = mmap(NULL, arena->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (lent == MAP_FAILED)
		goto cannot_map;
	memcpy(lent, arena->memory, arena->written * UNIT);
	munmap(lent, arena->length);
	if (mmap(arena->memory, arena->length, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		goto cannot_map;
	arena->fd = fd;
	return 0;

cannot_map:
	ret = dart_error__system(error, errno, "cannot map the memory from dartd");
	close(fd);
	return ret;
}
