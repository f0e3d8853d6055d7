/* SPDX-License-Identifier: GPL-2.0-only */
/* All stores of this collector. */
#ifndef STORES_H
#define STORES_H

#include "store.h"

struct stores {
	const struct device *device;
	TAILQ_HEAD(, store) list;
};

void stores__open(struct stores *stores, const struct device *device);
void stores__close(struct stores *stores);

/* See store__new(). */
int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, int fd,
		   const char *file, struct store **store,
		   struct dart_error *error);
/* See store__free(). */
void stores__delete(struct stores *stores, struct store *store);
/* NULL if there is no such store. */
struct store *stores__find(const struct stores *stores, const char *name);

#endif /* STORES_H */
