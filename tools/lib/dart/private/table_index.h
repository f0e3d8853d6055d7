/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash index: the numbers of things by the hash of what identifies them.  It
 * does not hold the things: whoever asks compares.  A number may be there whose
 * thing is gone, or has become another.
 */
#ifndef DART_TABLE_INDEX_H
#define DART_TABLE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#define DART_INDEX_NONE UINT32_MAX

/* All zeros is an empty one. */
struct dart_index {
	struct dart_index_slot *slots;
	uint32_t size;		/* slots, a power of two or 0 */
	uint32_t used;
};

/* -ENOMEM leaves it as it was. */
int dart_index__add(struct dart_index *index, uint64_t hash, uint32_t number);
/* A number that was added with @hash and that @is_it, or DART_INDEX_NONE. */
uint32_t dart_index__find(const struct dart_index *index, uint64_t hash,
			  bool (*is_it)(const void *context, uint32_t number),
			  const void *context);
/* Takes out the numbers from @limit on, unless memory is short. */
void dart_index__forget(struct dart_index *index, uint32_t limit);
void dart_index__free(struct dart_index *index);

#endif /* DART_TABLE_INDEX_H */
