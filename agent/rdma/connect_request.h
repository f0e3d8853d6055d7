/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connect request: of a controller, see <dart/control.h>, or of a reader of a
 * store, see <dart/store_access.h>.
 */
#ifndef CONNECT_REQUEST_H
#define CONNECT_REQUEST_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>

#include <dart/control.h>
#include <dart/store_access.h>

#include <libdart/error.h>

/* The event that brought it is gone when it is looked at. */
struct connect_request {
	struct rdma_cm_id *id;
	uint8_t reads;		/* in flight, that the peer would like */
	size_t length;		/* bytes of the data */
	union {			/* hostile */
		__le64 magic;
		struct dart_control_request control;
		struct dart_store_request store;
	} data;
};

struct connect_request connect_request__of(const struct rdma_cm_event *event);

/* Is it of a reader, or else of a controller if anybody that we know? */
bool connect_request__is_reader(const struct connect_request *request);

/* Do we understand it?  A store's name then ends with a NUL. */
int connect_request__check(const struct connect_request *request,
			   struct dart_error *error);

#endif /* CONNECT_REQUEST_H */
