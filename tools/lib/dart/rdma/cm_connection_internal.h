/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A connection to an agent by the RDMA CM: from the name of a host to the acceptance of its agent,
 * for READs and for calls alike.  Its owner creates the queue pair and checks the answer.
 *
 * librdmacm would set the queue pair up with the MTU of this end as soon as the agent accepts.
 * <dart/control.h> wants the smaller one of both ends, so the queue pair is hidden from librdmacm
 * until it has been set up here.
 */
#ifndef DART_CM_CONNECTION_H
#define DART_CM_CONNECTION_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/rdma/path.h>

/* All zeros: not open. */
struct dart_cm_connection {
	struct rdma_cm_id *id;
	struct ibv_qp *hidden;	/* hidden from @id; NULL while @id owns it */
	uint32_t own_mtu;	/* bytes, of this end of the path; 0: not known */
	bool waits_briefly;	/* set by the owner: the agent sends again soon after an RNR NAK */
	uint64_t asked_ns;	/* CLOCK_MONOTONIC of the connect request */
	bool is_connected;	/* set by the owner, who has checked the answer */
	int failure;		/* -errno of DART_CM_FAILED */
};

enum dart_cm_step {
	DART_CM_NOTHING,
	DART_CM_ROUTED,		/* create a queue pair, and call dart_cm_connection__ask() */
	DART_CM_ANSWERED,	/* the agent accepts, with private data in the event */
	DART_CM_FAILED,		/* the connection did not come about */
	DART_CM_ENDED,		/* by the agent, or with the RDMA device */
};

/* Opens a channel that does not block.  Returns 0 or -errno with a sentence. */
int dart_cm_channel__open(struct rdma_event_channel **channel, struct dart_error *error);

/*
 * Starts to resolve @host, which may block if it is a name; @context is the context of the
 * identifier, @dscp as dart_endpoint_set__mark() says.  Returns 0 or -errno with a sentence; in both cases dart_cm_connection__close()
 * cleans up.
 */
int dart_cm_connection__open(struct dart_cm_connection *connection,
			     struct rdma_event_channel *channel, void *context, const char *host,
			     uint16_t port, uint8_t dscp, struct dart_error *error);
/* Sends the connect request.  Returns 0 or -errno with a sentence. */
int dart_cm_connection__ask(struct dart_cm_connection *connection,
			    struct rdma_conn_param *parameters, struct dart_error *error);
/*
 * Handles an event; @request are the @length bytes of private data of the connect request.  After
 * FAILED and ENDED, which set @error, the connection can only be closed.  The event stays the
 * caller's, who acknowledges it.
 */
enum dart_cm_step dart_cm_connection__handle(struct dart_cm_connection *connection,
					     const struct rdma_cm_event *event, const void *request,
					     size_t length, struct dart_error *error);
/* Disconnects: then the owner destroys the queue pair, and closes. */
void dart_cm_connection__disconnect(struct dart_cm_connection *connection);
void dart_cm_connection__close(struct dart_cm_connection *connection);

/* @bits_per_s: speed of the port. */
void dart_cm_connection__path(const struct dart_cm_connection *connection, uint64_t bits_per_s,
			      struct dart_endpoint_path *path);

#endif /* DART_CM_CONNECTION_H */
