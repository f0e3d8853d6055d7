/* SPDX-License-Identifier: GPL-2.0-only */
/* A store of dartd on this host, mapped for reading. */
#ifndef STORE_MAP_H
#define STORE_MAP_H

#include <jansson.h>

#include <stdbool.h>

#include <dart/epoch.h>
#include <libdart/store/store_query.h>

#include "tools/dartctl/cli/options.h"

struct store_map {
	struct dart_store *store;
	struct dart_store_geometry geometry;
	json_t *description;	/* as in <dart/registration.h> */
	json_t *reply;		/* holds the description */
	void *memory;
	size_t length;		/* bytes */
	/* Of a store with epochs, see <dart/epoch.h>; NULL: it has none. */
	const struct dart_epoch_memory *epochs;
	uint32_t bank;		/* that @store lies in */
	uint64_t since_ns;	/* when its epoch began */
};

/* Returns an exit status; after a failure its message has been printed. */
int store_map__open(struct store_map *map, const struct options *options, const char *name);
void store_map__close(struct store_map *map);

/*
 * Lets @map->store be the slots of a bank, of the epoch that began at @since_ns; at first, they are
 * those of the present epoch.  Returns 0 or -errno.
 */
int store_map__choose(struct store_map *map, uint32_t bank, uint64_t since_ns);
/* Did all that was read from @map->store until now belong to its epoch? */
bool store_map__is_valid(const struct store_map *map);

#endif /* STORE_MAP_H */
