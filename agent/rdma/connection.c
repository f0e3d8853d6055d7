// SPDX-License-Identifier: GPL-2.0-only
/* Accepts a peer with a queue pair that serves READs only. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "connection.h"

void connection__name_peer(struct rdma_cm_id *id, char *name, size_t size)
{
	const struct sockaddr *address = rdma_get_peer_addr(id);
	char host[64], port[8];
	socklen_t length = address->sa_family == AF_INET6 ?
				   sizeof(struct sockaddr_in6) :
				   sizeof(struct sockaddr_in);

	if (getnameinfo(address, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(name, size, "(unknown)");
	else
		snprintf(name, size,
			 address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s",
			 host, port);
}

/*
 * Moves the queue pair to the next state.  Restricts the access flags, because
 * those of the RDMA CM would also let the peer WRITE and use atomics.
 */
static int connection__advance(struct connection *connection,
			       enum ibv_qp_state state, uint8_t reads)
{
	struct ibv_qp_attr attributes = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(connection->id, &attributes, &mask))
		return -errno;
	if (mask & IBV_QP_ACCESS_FLAGS)
		attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attributes.max_dest_rd_atomic = reads;
	return -ibv_modify_qp(connection->queue_pair, &attributes, mask);
}

static int connection__open_queue_pair(struct connection *connection,
				       const struct device *device,
				       struct ibv_pd *pd, uint8_t reads)
{
	int ret;

	connection->queue_pair = device__create_qp(device, pd, IBV_QPT_RC);
	if (!connection->queue_pair)
		return -errno;

	ret = connection__advance(connection, IBV_QPS_INIT, reads) ?:
		      connection__advance(connection, IBV_QPS_RTR, reads) ?:
		      connection__advance(connection, IBV_QPS_RTS, reads);
	if (ret)
		ibv_destroy_qp(connection->queue_pair);
	return ret;
}

int connection__accept(struct rdma_cm_id *id, uint8_t reads,
		       const struct device *device,
		       const struct peer_kind *kind,
		       const struct peer_offer *offer,
		       struct connection **result, struct dart_error *error)
{
	struct rdma_conn_param answer = {
		.private_data = offer->data,
		.private_data_len = offer->length,
	};
	struct connection *connection;
	int ret;

	if (reads > device->reads_max)
		reads = device->reads_max;
	answer.responder_resources = reads;

	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return dart_error__no_memory(error);
	connection->id = id;
	connection->kind = kind;
	connection->object = offer->object;
	connection__name_peer(id, connection->peer, sizeof(connection->peer));

	ret = connection__open_queue_pair(connection, device, offer->pd,
					  reads);
	if (ret) {
		dart_error__system(error, -ret, "cannot open a queue pair");
		goto free_connection;
	}

	answer.qp_num = connection->queue_pair->qp_num;
	if (rdma_accept(id, &answer)) {
		ret = dart_error__system(error, errno, "cannot accept");
		goto destroy_queue_pair;
	}

	if (offer->object)
		offer->object->peers++;
	id->context = connection;
	*result = connection;
	return 0;

destroy_queue_pair:
	ibv_destroy_qp(connection->queue_pair);
free_connection:
	free(connection);
	return ret;
}

void connection__free(struct connection *connection)
{
	rdma_disconnect(connection->id);
	ibv_destroy_qp(connection->queue_pair);
	rdma_destroy_id(connection->id);
	if (connection->object)
		connection->object->peers--;
	free(connection);
}
