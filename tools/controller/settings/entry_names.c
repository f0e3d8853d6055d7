// SPDX-License-Identifier: GPL-2.0-only
/* Lists of names with a count of holders. */
#include "entry_names.h"

#include <stdlib.h>
#include <string.h>

struct entry_names *entry_names__new(char *const *names, size_t count)
{
	struct entry_names *copy;

	copy = calloc(1, sizeof(*copy) + count * sizeof(*copy->names));
	if (!copy)
		return NULL;
	atomic_init(&copy->holders, 1);
	for (; copy->count < count; copy->count++) {
		copy->names[copy->count] = strdup(names[copy->count]);
		if (!copy->names[copy->count]) {
			entry_names__release(copy);
			return NULL;
		}
	}
	return copy;
}

struct entry_names *entry_names__hold(struct entry_names *names)
{
	if (names)
		atomic_fetch_add(&names->holders, 1);
	return names;
}

void entry_names__release(struct entry_names *names)
{
	size_t i;

	if (!names || atomic_fetch_sub(&names->holders, 1) != 1)
		return;
	for (i = 0; i < names->count; i++)
		free(names->names[i]);
	free(names);
}

bool entry_names__equal(const struct entry_names *one, const struct entry_names *other)
{
	size_t i;

	if (one == other)
		return true;
	if (!one || !other || one->count != other->count)
		return false;
	for (i = 0; i < one->count; i++) {
		if (strcmp(one->names[i], other->names[i]))
			return false;
	}
	return true;
}
