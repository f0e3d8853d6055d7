/* SPDX-License-Identifier: GPL-2.0-only */
/* All stores of this collector. */
#ifndef STORES_H
#define STORES_H

#include "agent/base/changes.h"
#include "agent/base/counts.h"
#include "agent/base/request.h"
#include "agent/rdma/kept_memory.h"
#include "agent/rdma/listener.h"
#include "store_kept.h"

struct stores {
	struct kept_memory kept;	/* of stores in the last dartd */
	const struct device *device;
	struct listener *listener;
	const struct changes *changes;
	struct store_counts *counts;
	struct memory_counts *memory_counts;
	TAILQ_HEAD(, store) list;
};

/*
 * @listener must be open while stores are created or deleted.  @descriptors, the
 * caller's, has the memory of the last dartd.
 */
void stores__open(struct stores *stores, const struct device *device,
		  struct fd_store *descriptors, struct listener *listener,
		  const struct changes *changes,
		  struct store_counts *counts,
		  struct memory_counts *memory_counts);
void stores__close(struct stores *stores);

/*
 * See store__new().  If the service manager keeps the memory of a store with this
 * name and geometry, sets @origin->kept: the store gets those bytes.
 */
int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry,
		   struct store_origin *origin, struct store **store,
		   struct dart_error *error);
/* Says which memory is kept for stores that nothing has created again. */
void stores__log_kept(const struct stores *stores);
/* Drops the memory of a store that was not created again; was there any? */
bool stores__drop_kept(struct stores *stores, const char *name);
void stores__disconnect_readers(struct stores *stores, struct store *store);
/* Disconnects its readers first, and ends its reporters. */
void stores__delete(struct stores *stores, struct store *store);
/* @more: 1 or -1. */
void stores__count_reporter(const struct stores *stores,
			    const struct store *store, int more);
/* NULL if there is no such store. */
struct store *stores__find(const struct stores *stores, const char *name);

/* Requests about stores and reporters; the subject is struct stores. */
extern const struct request_type stores_requests[];

/* Offers the store that a reader names; the subject is struct stores. */
extern const struct peer_kind reader_kind;

#endif /* STORES_H */
