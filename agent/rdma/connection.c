// SPDX-License-Identifier: GPL-2.0-only
/* Accepts a peer with a queue pair that serves READs only. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "connection.h"

/*
 * READs in flight that a peer can have, each of which takes memory of the adapter.
 * Controllers and readers ask for as many.
 */
#define READS_MAX 16

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

int connection__accept(struct rdma_cm_id *id, uint8_t reads,
		       const struct device *device,
		       struct ibv_comp_channel *failures,
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

	if (reads > READS_MAX)
		reads = READS_MAX;
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

	ret = peer_qp__open(&connection->peer_qp, device, offer->pd, id, reads,
			    failures, connection);
	if (ret) {
		dart_error__system(error, -ret, "cannot open a queue pair");
		goto free_connection;
	}

	answer.qp_num = connection->peer_qp.queue_pair->qp_num;
	if (rdma_accept(id, &answer)) {
		ret = dart_error__system(error, errno, "cannot accept");
		goto close_queue_pair;
	}

	if (offer->object)
		offer->object->peers++;
	id->context = connection;
	*result = connection;
	return 0;

close_queue_pair:
	peer_qp__close(&connection->peer_qp);
free_connection:
	free(connection);
	return ret;
}

void connection__free(struct connection *connection)
{
	rdma_disconnect(connection->id);
	peer_qp__close(&connection->peer_qp);
	rdma_destroy_id(connection->id);
	if (connection->object)
		connection->object->peers--;
	free(connection);
}
