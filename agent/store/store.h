/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stores of this collector: memory that reporters WRITE and readers READ, see <dart/store.h>.
 * Each reporter gets its own view of it, and all readers share one.
 */
#ifndef STORE_H
#define STORE_H

#include <stdint.h>

#include <libdart/error.h>
#include <libdart/store/store_hash.h>

#include "agent/base/peer_kind.h"
#include "agent/base/request.h"
#include "agent/rdma/remote_objects.h"
#include "agent/rdma/report_qp.h"
#include "rotation.h"

struct stores {
	struct remote_objects objects; /* the first member: the subject of requests and readers */
	sd_event *loop;
	const char *state;	/* dartd's directory */
	struct epoch_counts *epoch_counts;
};

struct store {
	struct remote_object object;
	struct dart_store_geometry geometry;
	enum report_transport transport; /* of reports; REPORT_AUTO: of the adapter */
	/* NULL, or: the store has epochs, see <dart/epoch.h>. */
	struct rotation *rotation;
	/* For the rotation, while the object is being opened: */
	const struct rotation_plan *plan;
	struct stores *stores;
	/*
	 * When the numbers that reporters know were made: s of CLOCK_REALTIME,
	 * but higher than any epoch before.
	 */
	uint64_t epoch;
};

/* Stores as remote objects; their peers are the reporters. */
extern const struct remote_kind store_kind;

/* See remote_objects__add().  @plan: NULL for a store without epochs. */
int stores__create(struct stores *stores, const char *name,
		   const struct dart_store_geometry *geometry, const struct rotation_plan *plan,
		   struct remote_origin *origin, struct store **store, struct dart_error *error);
/* -EAGAIN while the reporter does not answer ARP; the caller tries again. */
int stores__add_reporter(struct remote_objects *stores, struct store *store, struct in_addr address,
			 const struct report_qp_origin *origin, struct report_qp **report_qp,
			 struct dart_error *error);

/* Requests about stores and reporters; the subject is the objects of struct stores. */
extern const struct request_type stores_requests[];

/* Offers the store that a reader names; the subject is the objects of struct stores. */
extern const struct peer_kind reader_kind;

#endif /* STORE_H */
