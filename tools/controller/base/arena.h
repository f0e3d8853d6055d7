/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of many small objects that are freed together.  One thread at a time uses an arena. */
#ifndef CONTROLLER_ARENA_H
#define CONTROLLER_ARENA_H

#include <stddef.h>

/* Zeroed memory is an empty arena. */
struct arena {
	struct arena_block *blocks;
};

/*
 * Allocates @size bytes, aligned for any type, with undefined contents.  Returns NULL if out of
 * memory, like the next two.
 */
void *arena__take(struct arena *arena, size_t size);
/* Allocates @count elements of @size; also NULL if the product exceeds a size_t. */
void *arena__take_array(struct arena *arena, size_t count, size_t size);
/* Copies the @length bytes at @text, and appends a NUL. */
char *arena__copy(struct arena *arena, const char *text, size_t length);
void arena__free(struct arena *arena);

#endif /* CONTROLLER_ARENA_H */
