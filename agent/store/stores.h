/* SPDX-License-Identifier: GPL-2.0-only */
/* All stores of this collector. */
#ifndef STORES_H
#define STORES_H

#include "agent/base/request.h"
#include "agent/rdma/remote_objects.h"
#include "store_kept.h"

struct stores {
	struct remote_objects objects;
	struct store_counts *counts;
	TAILQ_HEAD(, store) list;
};

/* Copies @objects, whose kept memory is called STORE_NOUN. */
void stores__open(struct stores *stores, const struct remote_objects *objects,
		  struct store_counts *counts);
void stores__close(struct stores *stores);

/* store__detach() and store__attach() for all stores. */
void stores__detach(struct stores *stores);
int stores__attach(struct stores *stores, struct dart_error *error);

/*
 * See store__new().  If the service manager keeps the memory of a store with this name and
 * geometry, sets @origin->kept: the store gets these bytes.
 */
int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, struct store_origin *origin,
		   struct store **store, struct dart_error *error);
/* Disconnects its readers first, and ends its reporters. */
void stores__delete(struct stores *stores, struct store *store);
/* Counts it, @more: 1 or -1, and announces it as @event. */
void stores__note_reporter(const struct stores *stores, const struct store *store,
			   const struct report_qp *report_qp, const char *event, int more);
/* NULL if there is no such store. */
struct store *stores__find(const struct stores *stores, const char *name);

/* Requests about stores and reporters; the subject is struct stores. */
extern const struct request_type stores_requests[];

/* Offers the store that a reader names; the subject is struct stores. */
extern const struct peer_kind reader_kind;

#endif /* STORES_H */
