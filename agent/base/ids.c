// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <search.h>
#include <stddef.h>

#include "ids.h"

static int compare(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return (first > second) - (first < second);
}

int ids__add(struct ids *ids, const uint32_t *id)
{
	return tsearch(id, &ids->root, compare) ? 0 : -ENOMEM;
}

void ids__remove(struct ids *ids, const uint32_t *id)
{
	tdelete(id, &ids->root, compare);
}

const uint32_t *ids__find(const struct ids *ids, uint32_t id)
{
	const uint32_t *const *found = tfind(&id, &ids->root, compare);

	return found ? *found : NULL;
}
