/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Asks for memory before it is needed, so that a thread with many objects, whose memory has left
 * the caches since it was last used, waits once for several of them.
 */
#ifndef DART_PREFETCH_H
#define DART_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

#define DART_CACHE_LINE 64

/*
 * The lines of the @size bytes at @memory, which nothing reads: any address is allowed.  Inline,
 * because compilers drop calls of functions that only prefetch.
 */
static inline __attribute__((always_inline)) void dart_prefetch(const void *memory, size_t size)
{
	const uintptr_t begin = (uintptr_t)memory & ~(uintptr_t)(DART_CACHE_LINE - 1);

	for (uintptr_t line = begin; line < (uintptr_t)memory + size; line += DART_CACHE_LINE)
		__builtin_prefetch((const void *)line, 1);
}

#endif /* DART_PREFETCH_H */
