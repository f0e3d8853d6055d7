/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A store: memory that reporters WRITE and readers READ, see <dart/store.h>.  Each reporter gets
 * its own view of it, and all readers share one.
 */
#ifndef STORE_H
#define STORE_H

#include <stdint.h>
#include <sys/queue.h>

#include <dart/store_access.h>
#include <libdart/store/store_hash.h>

#include <libdart/error.h>
#include "agent/base/peer_kind.h"
#include "agent/rdma/device.h"
#include "agent/rdma/memory_view.h"
#include "agent/rdma/remote_memory.h"
#include "report_qp.h"

/* In errors, and in the names of kept descriptors. */
#define STORE_NOUN "store"

/* Where the bytes and addresses of a store come from; zeros: from nowhere. */
struct store_origin {
	int fd;			/* see remote_memory__open(); -1: none */
	const char *file;	/* its name, or NULL */
	int kept;		/* see remote_memory__resume(); -1: none */
	/* In an earlier dartd, checked; 0: unknown. */
	uint64_t read_base, epoch;
};

struct store {
	TAILQ_ENTRY(store) link;
	char name[DART_STORE_NAME_MAX];
	struct dart_store_geometry geometry;
	char *file;	/* its name as the client gave it, or NULL */
	const struct device *device;
	struct remote_memory memory;
	/*
	 * When the numbers that reporters know were made: s of CLOCK_REALTIME,
	 * but higher than any epoch before.
	 */
	uint64_t epoch;
	struct memory_view read;		/* by readers */
	struct report_qps report_qps;
	struct peer_object readers;
};

/* The caller keeps @origin and its descriptors. */
int store__new(const struct device *device, const char *name,
	       const struct dart_store_geometry *geometry, const struct store_origin *origin,
	       struct store **store, struct dart_error *error);
/*
 * The device is being removed: destroys the resources that reporters and readers use on it.  The
 * caller has disconnected the readers.  The contents stay.
 */
void store__detach(struct store *store);
/* The device is back: readers can connect, and reporters be added, in another epoch. */
int store__attach(struct store *store, struct dart_error *error);
/* The caller has disconnected its readers. */
void store__free(struct store *store);

/* -EAGAIN while the reporter does not answer ARP; the caller tries again. */
int store__add_reporter(struct store *store, struct in_addr address,
			const struct report_qp_origin *origin,
			struct report_qp **report_qp, struct dart_error *error);
/* Its queue pair, key and address become invalid. */
void store__remove_reporter(struct store *store, struct report_qp *report_qp);
/* Returns the reporter at @address, or NULL. */
struct report_qp *store__find_reporter(const struct store *store, struct in_addr address);

/* Fills in the numbers that a reader needs to READ the store. */
void store__offer(struct store *store, struct peer_offer *offer);

#endif /* STORE_H */
