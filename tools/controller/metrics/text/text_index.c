// SPDX-License-Identifier: GPL-2.0-only
/* Finds numbers by texts: a hash table, at most half full. */
#include "text_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SIZE_MIN 64U

struct text_index_slot {
	const char *text; /* NULL marks a free slot */
	uint32_t hash;
	uint32_t number;
};

static uint32_t hash_of(const char *text)
{
	return XXH3_64bits(text, strlen(text));
}

/* Returns the slot of @text, or the free slot where @text belongs. */
static struct text_index_slot *find_slot(const struct text_index *index, const char *text,
					 uint32_t hash)
{
	struct text_index_slot *slot;
	uint32_t at;

	for (at = hash;; at++) {
		slot = &index->slots[at & (index->size - 1)];
		if (!slot->text || (slot->hash == hash && !strcmp(slot->text, text)))
			return slot;
	}
}

uint32_t text_index__find(const struct text_index *index, const char *text)
{
	const struct text_index_slot *slot;

	if (!index->size)
		return TEXT_INDEX_NONE;
	slot = find_slot(index, text, hash_of(text));
	return slot->text ? slot->number : TEXT_INDEX_NONE;
}

static int text_index__grow(struct text_index *index)
{
	struct text_index larger = {
		.size = index->size ? index->size * 2 : SIZE_MIN,
		.used = index->used,
	};
	const struct text_index_slot *slot;
	uint32_t i;

	larger.slots = larger.size ? calloc(larger.size, sizeof(*slot)) : NULL;
	if (!larger.slots)
		return -ENOMEM;
	for (i = 0; i < index->size; i++) {
		slot = &index->slots[i];
		if (slot->text)
			*find_slot(&larger, slot->text, slot->hash) = *slot;
	}
	free(index->slots);
	*index = larger;
	return 0;
}

int text_index__add(struct text_index *index, const char *text, uint32_t number)
{
	const uint32_t hash = hash_of(text);

	if (index->used >= index->size / 2 && text_index__grow(index))
		return -ENOMEM;
	*find_slot(index, text, hash) = (struct text_index_slot){
		.text = text,
		.hash = hash,
		.number = number,
	};
	index->used++;
	return 0;
}

void text_index__free(struct text_index *index)
{
	free(index->slots);
	*index = (struct text_index){};
}
