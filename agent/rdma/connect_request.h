/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connect requests of peers: finds the service that one asks for, and checks its
 * private data, which is hostile.
 */
#ifndef CONNECT_REQUEST_H
#define CONNECT_REQUEST_H

#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "agent/base/peer_kind.h"

/* A copy, because its event is acknowledged before the request is handled. */
struct connect_request {
	struct rdma_cm_id *id;
	uint8_t reads;	/* in flight, that the peer asks for */
	size_t length;		/* bytes of the data */
	union {			/* hostile; zeros after the length */
		struct peer_request header;
		uint8_t bytes[56];	/* the most that a request can have */
	} data;
};

struct connect_request connect_request__of(const struct rdma_cm_event *event);

/*
 * Returns the service with the magic number of the request, or the first one if
 * the number is unknown.
 */
const struct peer_service *connect_request__find(const struct connect_request *request,
						 const struct peer_service *services);

/* Checks the length, the header, and that only zeros follow a request for @kind. */
int connect_request__check(const struct connect_request *request, const struct peer_kind *kind,
			   struct dart_error *error);

#endif /* CONNECT_REQUEST_H */
