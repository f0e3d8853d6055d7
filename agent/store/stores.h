/* SPDX-License-Identifier: GPL-2.0-only */
/* All stores of this collector. */
#ifndef STORES_H
#define STORES_H

#include "agent/base/changes.h"
#include "agent/base/request.h"
#include "agent/rdma/listener.h"
#include "store.h"

struct stores {
	const struct device *device;
	struct listener *listener;
	const struct changes *changes;
	TAILQ_HEAD(, store) list;
};

/* @listener must be open while stores are created or deleted. */
void stores__open(struct stores *stores, const struct device *device,
		  struct listener *listener, const struct changes *changes);
void stores__close(struct stores *stores);

/* See store__new(). */
int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, int fd,
		   const char *file, struct store **store,
		   struct dart_error *error);
void stores__disconnect_readers(struct stores *stores, struct store *store);
/* Disconnects its readers first, and ends its reporters. */
void stores__delete(struct stores *stores, struct store *store);
/* NULL if there is no such store. */
struct store *stores__find(const struct stores *stores, const char *name);

/* Requests about stores and reporters; the subject is struct stores. */
extern const struct request_type stores_requests[];

/* Offers the store that a reader names; the subject is struct stores. */
extern const struct peer_kind reader_kind;

#endif /* STORES_H */
