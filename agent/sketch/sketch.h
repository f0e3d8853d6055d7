/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sketches of this collector: memory that readers READ, and of which each sketcher WRITEs a
 * part of its own; see <dart/sketch.h>.
 */
#ifndef SKETCH_H
#define SKETCH_H

#include <libdart/sketch/sketch.h>

#include "agent/base/peer_kind.h"
#include "agent/base/request.h"
#include "agent/rdma/remote_objects.h"
#include "agent/rdma/report_qp.h"

/* In errors, and in the names of kept descriptors. */
#define SKETCH_NOUN "sketch"
/* All names in the fd store begin with this. */
#define SKETCH_KEPT_PREFIX SKETCH_NOUN "-"

struct sketch {
	struct remote_object object;
	struct dart_sketch_geometry geometry;
	uint64_t epoch; /* as of a store */
};

/* Sketches as remote objects; their peers are the sketchers, struct report_qp. */
extern const struct remote_kind sketch_kind;

/* See remote_objects__add(). */
int sketches__create(struct remote_objects *sketches, const char *name,
		     const struct dart_sketch_geometry *geometry, struct remote_origin *origin,
		     struct sketch **sketch, struct dart_error *error);
/*
 * Gives the sketcher at @address a part: @part if this is free, or, with -1, the first free one,
 * whose bytes become zeros.  -EAGAIN while the sketcher does not answer ARP: the caller tries
 * again.
 */
int sketches__add_sketcher(struct remote_objects *sketches, struct sketch *sketch,
			   struct in_addr address, int part, const struct report_qp_origin *origin,
			   struct report_qp **sketcher, struct dart_error *error);
/* The part of a sketcher. */
uint32_t sketch__part(const struct sketch *sketch, const struct report_qp *sketcher);

/* Requests about sketches and sketchers; the subject is struct remote_objects. */
extern const struct request_type sketches_requests[];

/* Offers the sketch that a reader names; the subject is struct remote_objects. */
extern const struct peer_kind sketch_reader_kind;

#endif /* SKETCH_H */
