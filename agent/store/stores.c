// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>

#include "agent/base/entry_name.h"
#include "stores.h"

void stores__open(struct stores *stores, const struct device *device)
{
	*stores = (struct stores){ .device = device };
	TAILQ_INIT(&stores->list);
}

void stores__close(struct stores *stores)
{
	struct store *store;

	while ((store = TAILQ_FIRST(&stores->list)))
		stores__delete(stores, store);
}

static int stores__check_name(const struct stores *stores, const char *name,
			      struct dart_error *error)
{
	int ret;

	ret = entry_name__check(name, error);
	if (ret)
		return ret;
	if (strlen(name) >= DART_STORE_NAME_MAX)
		return dart_error__set(
			error, ENAMETOOLONG,
			"the name of a store has at most %d characters",
			DART_STORE_NAME_MAX - 1);
	if (stores__find(stores, name))
		return dart_error__set(error, EEXIST,
				       "there is a store '%s' already", name);
	return 0;
}

int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, int fd,
		   const char *file, struct store **result,
		   struct dart_error *error)
{
	struct store *store;
	int ret;

	ret = stores__check_name(stores, name, error);
	if (!ret)
		ret = store__new(stores->device, name, geometry, fd, file,
				 &store, error);
	if (ret)
		return ret;
	TAILQ_INSERT_TAIL(&stores->list, store, link);
	*result = store;
	return 0;
}

void stores__delete(struct stores *stores, struct store *store)
{
	TAILQ_REMOVE(&stores->list, store, link);
	store__free(store);
}

struct store *stores__find(const struct stores *stores, const char *name)
{
	struct store *store;

	TAILQ_FOREACH(store, &stores->list, link)
		if (!strcmp(store->name, name))
			return store;
	return NULL;
}
