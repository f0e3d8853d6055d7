/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of many small objects that are freed together.  One thread at a time. */
#ifndef CONTROLLER_ARENA_H
#define CONTROLLER_ARENA_H

#include <stddef.h>

/* All zeros is an empty arena. */
struct arena {
	struct arena_block *blocks;
};

/* @size bytes for any type, not initialised.  NULL if out of memory. */
void *arena__take(struct arena *arena, size_t size);
/* @count elements; also NULL if their bytes exceed a size_t. */
void *arena__take_array(struct arena *arena, size_t count, size_t size);
/* The @length bytes at @text, and a NUL. */
char *arena__copy(struct arena *arena, const char *text, size_t length);
void arena__free(struct arena *arena);

#endif /* CONTROLLER_ARENA_H */
