// SPDX-License-Identifier: GPL-2.0-only
/* Cuts small objects from blocks, each twice as large as the block before. */
#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_MIN 4096U
#define BLOCK_MAX (256U << 10)

struct arena_block {
	struct arena_block *next;
	size_t size; /* of the bytes */
	size_t used;
	alignas(max_align_t) char bytes[];
};

static struct arena_block *arena__add_block(struct arena *arena, size_t least)
{
	size_t size = arena->blocks ? arena->blocks->size * 2 : BLOCK_MIN;
	struct arena_block *block;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < least)
		size = least;
	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->size = size;
	block->used = 0;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

static void *arena__take_aligned(struct arena *arena, size_t size, size_t align)
{
	struct arena_block *block = arena->blocks;
	size_t at = block ? (block->used + align - 1) / align * align : 0;

	if (!block || at > block->size || block->size - at < size) {
		block = arena__add_block(arena, size);
		at = 0;
	}
	if (!block)
		return NULL;
	block->used = at + size;
	return block->bytes + at;
}

void *arena__take(struct arena *arena, size_t size)
{
	return arena__take_aligned(arena, size, alignof(max_align_t));
}

void *arena__take_array(struct arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return NULL;
	return arena__take_aligned(arena, count * size, alignof(uint64_t));
}

char *arena__copy(struct arena *arena, const char *text, size_t length)
{
	char *copy = length < SIZE_MAX ? arena__take_aligned(arena, length + 1, 1) : NULL;

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

void arena__free(struct arena *arena)
{
	struct arena_block *block;

	while ((block = arena->blocks)) {
		arena->blocks = block->next;
		free(block);
	}
}
