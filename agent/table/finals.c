// SPDX-License-Identifier: GPL-2.0-only
/* Lends the memory for final bytes, and finds free places in it: see finals.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "finals.h"

static int finals__open(struct finals *finals, struct slabs *slabs, struct dart_error *error)
{
	struct arena *arena;
	void *bytes;
	int fd, ret;

	/* A host whose processes create their memory needs no slab for slices. */
	ret = arena__lend_alone(slabs, FINALS_BYTES, &arena, &fd, error);
	if (ret)
		return ret;
	bytes = mmap(NULL, FINALS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED) {
		ret = dart_error__system(error, errno,
					 "cannot map memory for final bytes of slices");
		arena__free(arena);
	} else {
		arena->finals = finals;
		finals->arena = arena;
		finals->bytes = bytes;
	}
	close(fd);
	return ret;
}

static uint32_t units_of(uint64_t length)
{
	return (length + FINALS_UNIT - 1) / FINALS_UNIT;
}

/* Returns the first of @count free units, or FINALS_BYTES / FINALS_UNIT if the arena is full. */
static uint32_t finals__find(const struct finals *finals, uint32_t count)
{
	const uint32_t end = sizeof(finals->used);
	uint32_t first = 0, next;

	for (next = 0; next < end && next - first < count; next++)
		if (finals->used[next])
			first = next + 1;
	return next - first < count ? end : first;
}

static void finals__mark(struct finals *finals, uint32_t first, uint32_t count, bool is_used)
{
	memset(finals->used + first, is_used, count);
}

int finals__take(struct finals *finals, struct slabs *slabs, uint32_t length,
		 struct arena_place *place, struct dart_error *error)
{
	const uint32_t count = units_of(length);
	uint32_t first;
	int ret = finals->arena ? 0 : finals__open(finals, slabs, error);

	if (ret)
		return ret;
	first = finals__find(finals, count);
	if (first == sizeof(finals->used))
		return dart_error__set(error, ENOSPC, "there is no room for final bytes of slices");
	finals__mark(finals, first, count, true);
	memset(finals->bytes + first * FINALS_UNIT, 0, count * FINALS_UNIT);
	*place = place_in(finals->arena, first * FINALS_UNIT, length);
	return 0;
}

void finals__write(struct finals *finals, const struct arena_place *place, uint32_t offset,
		   const void *data, uint32_t length)
{
	memcpy(finals->bytes + (place->first - finals->arena->data) + offset, data, length);
}

void finals__give_back(struct finals *finals, const struct arena_place *place)
{
	finals__mark(finals, (place->first - finals->arena->data) / FINALS_UNIT,
		     units_of(place->last - place->first + 1), false);
	if (memchr(finals->used, true, sizeof(finals->used)))
		return;
	munmap(finals->bytes, FINALS_BYTES);
	arena__free(finals->arena);
	finals->arena = NULL;
}
