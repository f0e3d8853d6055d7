// SPDX-License-Identifier: LGPL-2.1-or-later
/* A hash index by open addressing, at most half full: see table_index_internal.h. */
#include <errno.h>
#include <stdlib.h>

#include "table_index_internal.h"

#define SIZE_MIN 16

struct dart_index_slot {
	uint64_t hash;
	uint32_t number;
	bool is_used;
};

static void index__put(struct dart_index *index, uint64_t hash, uint32_t number)
{
	uint32_t at = hash & (index->size - 1);

	while (index->slots[at].is_used)
		at = (at + 1) & (index->size - 1);
	index->slots[at] = (struct dart_index_slot) { hash, number, true };
	index->used++;
}

/* Rebuilds the index with the numbers below @limit. */
static int index__rebuild(struct dart_index *index, uint32_t size, uint32_t limit)
{
	struct dart_index other = { .size = size };
	uint32_t i;

	other.slots = calloc(size, sizeof(*other.slots));
	if (!other.slots)
		return -ENOMEM;
	for (i = 0; i < index->size; i++) {
		if (index->slots[i].is_used && index->slots[i].number < limit)
			index__put(&other, index->slots[i].hash, index->slots[i].number);
	}
	free(index->slots);
	*index = other;
	return 0;
}

int dart_index__add(struct dart_index *index, uint64_t hash, uint32_t number)
{
	int ret;

	if (index->used >= index->size / 2) {
		ret = index__rebuild(index, index->size ? 2 * index->size : SIZE_MIN,
				     DART_INDEX_NONE);
		if (ret)
			return ret;
	}
	index__put(index, hash, number);
	return 0;
}

uint32_t dart_index__find(const struct dart_index *index, uint64_t hash,
			  bool (*is_it)(const void *context, uint32_t number), const void *context)
{
	const struct dart_index_slot *slot;
	uint32_t at = hash;

	if (!index->size)
		return DART_INDEX_NONE;
	for (;; at++) {
		slot = &index->slots[at & (index->size - 1)];
		if (!slot->is_used)
			return DART_INDEX_NONE;
		if (slot->hash == hash && is_it(context, slot->number))
			return slot->number;
	}
}

void dart_index__forget(struct dart_index *index, uint32_t limit)
{
	if (index->size)
		index__rebuild(index, index->size, limit);
}

void dart_index__free(struct dart_index *index)
{
	free(index->slots);
	*index = (struct dart_index) { };
}
