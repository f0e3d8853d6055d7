// SPDX-License-Identifier: GPL-2.0-only
/* Indexes keys with a tree of tsearch(3). */
#include <errno.h>
#include <search.h>
#include <stdint.h>
#include <string.h>

#include "entry_index.h"

int entry_index__compare_names(const void *key, const void *other)
{
	return strcmp(*(const char *const *)key, *(const char *const *)other);
}

int entry_index__compare_numbers(const void *key, const void *other)
{
	uint32_t a = *(const uint32_t *)key, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

int entry_index__add(struct entry_index *index, const void *key)
{
	return tsearch(key, &index->root, index->compare) ? 0 : -ENOMEM;
}

void entry_index__remove(struct entry_index *index, const void *key)
{
	tdelete(key, &index->root, index->compare);
}

const void *entry_index__find(const struct entry_index *index, const void *key)
{
	const void *const *found = tfind(key, &index->root, index->compare);

	return found ? *found : NULL;
}
