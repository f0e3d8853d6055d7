/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash index: the numbers of objects by the hash of their identity.  It does
 * not hold the objects: the caller compares them.  A number in the index may
 * belong to an object that was removed or replaced.
 */
#ifndef DART_TABLE_INDEX_H
#define DART_TABLE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#define DART_INDEX_NONE UINT32_MAX

/* All zeros is an empty index. */
struct dart_index {
	struct dart_index_slot *slots;
	uint32_t size;		/* slots, a power of two or 0 */
	uint32_t used;
};

/* Returns 0, or -ENOMEM and leaves the index unchanged. */
int dart_index__add(struct dart_index *index, uint64_t hash, uint32_t number);
/* A number with this @hash for which @is_it is true, or DART_INDEX_NONE. */
uint32_t dart_index__find(const struct dart_index *index, uint64_t hash,
			  bool (*is_it)(const void *context, uint32_t number), const void *context);
/* Removes the numbers from @limit on, unless out of memory. */
void dart_index__forget(struct dart_index *index, uint32_t limit);
void dart_index__free(struct dart_index *index);

#endif /* DART_TABLE_INDEX_H */
