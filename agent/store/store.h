/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A store: memory that reporters WRITE and readers READ, see <dart/store.h>.  It
 * has a protection domain of its own; each side has a memory region of its own
 * in it, with an address that is not the other's and that says nothing.
 */
#ifndef STORE_H
#define STORE_H

#include <infiniband/verbs.h>
#include <stdint.h>
#include <sys/queue.h>

#include <dart/store_access.h>
#include <libdart/store/store_hash.h>

#include <libdart/error.h>
#include "agent/base/peer_kind.h"
#include "agent/rdma/device.h"
#include "report_qp.h"
#include "store_memory.h"

/* The whole store as one side sees it. */
struct store_view {
	struct ibv_mr *memory_region;
	uint64_t base;		/* address of slot 0 */
};

struct store {
	TAILQ_ENTRY(store) link;
	char name[DART_STORE_NAME_MAX];
	struct dart_store_geometry geometry;
	char *file;		/* as it was said, or NULL */
	const struct device *device;
	struct store_memory memory;
	struct ibv_pd *pd;
	struct store_view written;	/* by reporters */
	struct store_view read;		/* by readers */
	struct report_qps report_qps;
	uint32_t readers;	/* connections */
};

/* Takes neither @fd, see store_memory__open(), nor @file, its name. */
int store__new(const struct device *device, const char *name,
	       const struct dart_store_geometry *geometry, int fd,
	       const char *file, struct store **store,
	       struct dart_error *error);
/* Its readers have been disconnected. */
void store__free(struct store *store);

int store__add_reporter(struct store *store, struct in_addr address,
			struct report_qp **report_qp, struct dart_error *error);
void store__remove_reporter(struct store *store, struct report_qp *report_qp);
/* The one at @address, NULL if there is none. */
struct report_qp *store__find_reporter(const struct store *store,
				       struct in_addr address);

/* What a reader needs to READ the store. */
void store__offer(struct store *store, struct peer_offer *offer);

/* A descriptor with which the store can only be read, or -errno. */
int store__reopen(const struct store *store, struct dart_error *error);

#endif /* STORE_H */
