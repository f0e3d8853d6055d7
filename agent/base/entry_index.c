// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <search.h>
#include <string.h>

#include "entry_index.h"

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int names__add(struct names *names, const char *name)
{
	return tsearch(name, &names->root, compare) ? 0 : -ENOMEM;
}

void names__remove(struct names *names, const char *name)
{
	tdelete(name, &names->root, compare);
}

const char *names__find(const struct names *names, const char *name)
{
	const char *const *found = tfind(name, &names->root, compare);

	return found ? *found : NULL;
}
