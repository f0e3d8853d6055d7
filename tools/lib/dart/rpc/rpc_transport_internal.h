/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The operations of a connection for the client of <dart/rpc.h>: TCP with TLS, or RDMA. Private to
 * the client.
 */
#ifndef DART_RPC_TRANSPORT_H
#define DART_RPC_TRANSPORT_H

#include <poll.h>
#include <stddef.h>

#include <libdart/error.h>
#include <libdart/rdma/path.h>
#include <libdart/rpc/message.h>

struct dart_rpc_transport;

/* Embedded at the beginning of a connection of each kind. */
struct dart_rpc_transport {
	const struct dart_rpc_transport_operations *operations;
	uint32_t interval_ms;	/* for the hello; 0: not told */
	/* Once connected. */
	struct dart_rpc_welcome_values welcome;
	int64_t clock_offset_ns;
	uint64_t clock_uncertainty_ns;	/* 0: not known */
	uint32_t window;	/* bytes of an answer that can be under way at once */
	int failure;	/* -errno: why it could not connect */
};

struct dart_rpc_transport_operations {
	void (*free)(struct dart_rpc_transport *transport);
	/* Fills in the descriptors to wait for now; returns how many. */
	unsigned int (*wait)(const struct dart_rpc_transport *transport,
			     struct pollfd descriptors[2]);
	/*
	 * Before the connection: returns 1 when it is there, 0 if not yet, or sets
	 * @error and returns -errno.
	 */
	int (*connect)(struct dart_rpc_transport *transport, struct dart_error *error);
	/* Once connected. */
	void (*path)(const struct dart_rpc_transport *transport, struct dart_endpoint_path *path);
	/* Room for a request of DART_RPC_REQUEST_MAX bytes; NULL while one is sent. */
	void *(*request)(struct dart_rpc_transport *transport);
	int (*send)(struct dart_rpc_transport *transport, size_t length, struct dart_error *error);
	/*
	 * Returns 1 and a message, valid until the next call; -EAGAIN; or sets @error
	 * and returns another -errno.
	 */
	int (*receive)(struct dart_rpc_transport *transport, const void **bytes,
		       size_t *length, struct dart_error *error);
};

struct dart_rpc_client;

/* Makes a client of a connection, which the client owns.  On failure the connection is freed. */
int dart_rpc_client__new(struct dart_rpc_transport *transport, struct dart_rpc_client **result,
			 struct dart_error *error);

#endif /* DART_RPC_TRANSPORT_H */
