/* SPDX-License-Identifier: GPL-2.0-only */
/* A store of dartd on this host, mapped for reading. */
#ifndef STORE_MAP_H
#define STORE_MAP_H

#include <jansson.h>

#include <libdart/store/store_query.h>

#include "tools/dartctl/cli/options.h"

struct store_map {
	struct dart_store *store;
	json_t *description;	/* as in <dart/registration.h> */
	json_t *reply;		/* holds the description */
	void *memory;
	size_t length;		/* bytes */
};

/* Returns an exit status; after a failure its message has been printed. */
int store_map__open(struct store_map *map, const struct options *options, const char *name);
void store_map__close(struct store_map *map);

#endif /* STORE_MAP_H */
