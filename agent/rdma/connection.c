// SPDX-License-Identifier: GPL-2.0-only
/* Accepts a peer with a queue pair that serves READs only, or messages only. */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/clock.h>

#include "connection.h"

/*
 * READs in flight for each peer, which take memory of the adapter.  Controllers and readers ask for
 * as many.
 */
#define READS_MAX 16

/* The private data of an answer: the services offered and the path of this end. */
struct accept {
	uint8_t data[PEER_OFFER_MAX];
	struct dart_control_path path;
};

_Static_assert(offsetof(struct accept, path) == DART_CONTROL_PATH_OFFSET,
	       "the path is where peers look for it");

void connection__name_peer(struct rdma_cm_id *id, char *name, size_t size)
{
	const struct sockaddr *address = rdma_get_peer_addr(id);
	char host[64], port[8];
	socklen_t length = address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
							    sizeof(struct sockaddr_in);

	if (getnameinfo(address, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(name, size, "(unknown)");
	else
		snprintf(name, size, address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
			 port);
}

/* Takes over the messenger of @offer if there is one, also on failure. */
static int connection__open_qp(struct connection *connection, uint8_t reads,
			       const struct device *device, struct ibv_comp_channel *channel,
			       const struct peer_offer *offer)
{
	struct peer_messenger *messenger = offer->messenger;
	int ret;

	if (!messenger)
		return peer_qp__open(&connection->peer_qp, device, offer->pd, connection->id, reads,
				     offer->mirrors, channel, connection);
	connection->has_messages = true;
	ret = message_qp__open(&connection->message_qp, device, connection->id,
			       messenger, channel, connection);
	if (ret)
		messenger->operations->free(messenger);
	return ret;
}

static void connection__close_qp(struct connection *connection)
{
	if (connection->has_messages)
		message_qp__close(&connection->message_qp);
	else
		peer_qp__close(&connection->peer_qp);
}

static struct ibv_qp *connection__qp(const struct connection *connection)
{
	return connection->has_messages ? connection->message_qp.queue_pair :
					  connection->peer_qp.queue_pair;
}

const char *connection__serve(struct connection *connection, bool *has_more)
{
	*has_more = false;
	return connection->has_messages ? message_qp__serve(&connection->message_qp, has_more) :
					  peer_qp__serve(&connection->peer_qp);
}

bool connection__is_busy(const struct connection *connection)
{
	return connection->has_messages && message_qp__is_busy(&connection->message_qp);
}

int64_t connection__update(struct connection *connection)
{
	struct mirror *mirror = &connection->mirror;
	int64_t now_ns;
	int ret;

	if (!mirror->mirrors || !connection->established ||
	    mirror->generation == mirror->mirrors->generation ||
	    peer_qp__awaits_update(&connection->peer_qp))
		return 0;
	now_ns = dart_clock__ns(CLOCK_BOOTTIME);
	if (now_ns < connection->update_due_ns)
		return (connection->update_due_ns - now_ns) / 1000 + 1;
	ret = peer_qp__update(&connection->peer_qp, mirror);
	if (ret) {
		mirrors__leave(mirror);
		return ret;
	}
	connection->update_due_ns = now_ns + DART_CONTROL_UPDATE_MS * INT64_C(1000000);
	return 0;
}

void connection__probe(struct connection *connection)
{
	/* One that fails is about to end. */
	if (connection->has_messages)
		message_qp__probe(&connection->message_qp);
	else
		peer_qp__probe(&connection->peer_qp);
}

int connection__accept(struct rdma_cm_id *id, uint8_t reads, const struct device *device,
		       struct ibv_comp_channel *completions, const struct peer_kind *kind,
		       const struct peer_offer *offer, struct connection **result,
		       struct dart_error *error)
{
	struct accept accept = {
		.path.mtu = htole32(128U << device__path_mtu(device->context, id->port_num)),
	};
	struct rdma_conn_param answer = {
		.private_data = &accept,
		.private_data_len = sizeof(accept),
		/*
		 * How often the peer repeats a request for which there is no receive.
		 * There always is one; soft-RoCE says that there is none if the queue
		 * of its interface is full.
		 */
		.rnr_retry_count = offer->messenger ? 7 : 0,
	};
	struct connection *connection;
	int ret;

	memcpy(accept.data, offer->data, offer->length);
	if (reads > READS_MAX)
		reads = READS_MAX;
	if (reads > device->reads_max)
		reads = device->reads_max;
	answer.responder_resources = reads;

	connection = calloc(1, sizeof(*connection));
	if (!connection) {
		if (offer->messenger)
			offer->messenger->operations->free(offer->messenger);
		return dart_error__no_memory(error);
	}
	connection->id = id;
	connection->kind = kind;
	connection->object = offer->object;
	connection__name_peer(id, connection->peer, sizeof(connection->peer));

	ret = connection__open_qp(connection, reads, device, completions, offer);
	if (ret) {
		dart_error__system(error, -ret, "cannot open a queue pair");
		goto free_connection;
	}

	answer.qp_num = connection__qp(connection)->qp_num;
	if (rdma_accept(id, &answer)) {
		ret = dart_error__system(error, errno, "cannot accept");
		goto close_queue_pair;
	}

	if (offer->object)
		offer->object->peers++;
	if (offer->audience)
		audience__join(offer->audience, &connection->member, offer->interval_ms);
	id->context = connection;
	*result = connection;
	return 0;

close_queue_pair:
	connection__close_qp(connection);
free_connection:
	free(connection);
	return ret;
}

void connection__free(struct connection *connection)
{
	audience__leave(&connection->member);
	mirrors__leave(&connection->mirror);
	rdma_disconnect(connection->id);
	connection__close_qp(connection);
	rdma_destroy_id(connection->id);
	if (connection->object)
		connection->object->peers--;
	free(connection);
}
