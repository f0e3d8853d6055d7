// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connects by RDMA CM with a hello as private data; SENDs requests, RECEIVEs answers. */
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>

#include "rpc_queue_internal.h"
#include "rpc_rdma_internal.h"
#include "tools/lib/dart/rdma/cm_connection_internal.h"
#include "tools/lib/dart/rdma/path_internal.h"
#include "tools/lib/dart/rdma/remote_clock_internal.h"

struct rdma {
	struct dart_rpc_transport base;
	struct rdma_event_channel *channel;
	struct dart_cm_connection connection;
	struct dart_rpc_queue queue;	/* open once the route is known */
};

static struct rdma *rdma_of(const struct dart_rpc_transport *transport)
{
	return (struct rdma *)transport;
}

static void rdma__free(struct dart_rpc_transport *transport)
{
	struct rdma *rdma = rdma_of(transport);

	dart_cm_connection__disconnect(&rdma->connection);
	dart_rpc_queue__close(&rdma->queue);
	dart_cm_connection__close(&rdma->connection);
	if (rdma->channel)
		rdma_destroy_event_channel(rdma->channel);
	free(rdma);
}

static unsigned int rdma__wait(const struct dart_rpc_transport *transport,
			       struct pollfd descriptors[2])
{
	const struct rdma *rdma = rdma_of(transport);

	descriptors[0] = (struct pollfd){ .fd = rdma->channel->fd, .events = POLLIN };
	if (!rdma->connection.is_connected)
		return 1;
	descriptors[1] = (struct pollfd){ .fd = rdma->queue.channel->fd, .events = POLLIN };
	return 2;
}

static struct dart_rpc_hello hello_of(const struct rdma *rdma)
{
	return dart_rpc_hello__make(DART_RPC_QUEUE_ANSWER_MAX, DART_RPC_QUEUE_RECEIVES,
				    rdma->base.interval_ms);
}

static int shake_hands(struct rdma *rdma, struct dart_error *error)
{
	const struct dart_rpc_hello hello = hello_of(rdma);
	struct rdma_conn_param parameters = {
		.private_data = &hello,
		.private_data_len = sizeof(hello),
	};
	int ret = dart_rpc_queue__open(&rdma->queue, rdma->connection.id);

	if (ret)
		return dart_error__set(error, -ret, "cannot create a queue pair: %s%s",
				       strerror(-ret), ret == -ENOMEM ? " (check ulimit -l)" : "");
	return dart_cm_connection__ask(&rdma->connection, &parameters, error);
}

static int take_welcome(struct rdma *rdma, const struct rdma_cm_event *event,
			struct dart_error *error)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	int ret;

	ret = dart_rpc_welcome__decode(conn->private_data ?: "",
				       conn->private_data ? conn->private_data_len : 0,
				       &rdma->base.welcome, error);
	if (ret)
		return ret;
	dart_remote_clock__compare(rdma->connection.asked_ns, rdma->base.welcome.time_ns,
				   &rdma->base.clock_offset_ns, &rdma->base.clock_uncertainty_ns);
	dart_rpc_queue__set_timer(&rdma->queue);
	rdma->connection.is_connected = true;
	return 1;
}

static int handle(struct rdma *rdma, const struct rdma_cm_event *event, struct dart_error *error)
{
	const struct dart_rpc_hello hello = hello_of(rdma);

	switch (dart_cm_connection__handle(&rdma->connection, event, &hello,
					   sizeof(hello), error)) {
	case DART_CM_ROUTED:
		return shake_hands(rdma, error);
	case DART_CM_ANSWERED:
		return take_welcome(rdma, event, error);
	case DART_CM_FAILED:
	case DART_CM_ENDED:
		return rdma->connection.failure;
	default:
		return 0;
	}
}

/* Returns 1 when the connection is there, 0 without or after another event. */
static int rdma__connect(struct dart_rpc_transport *transport, struct dart_error *error)
{
	struct rdma *rdma = rdma_of(transport);
	struct rdma_cm_event *event;
	int ret;

	if (rdma_get_cm_event(rdma->channel, &event)) {
		if (errno == EAGAIN || errno == EINTR)
			return 0;
		return dart_error__system(error, errno, "the RDMA CM failed");
	}
	ret = handle(rdma, event, error);
	rdma_ack_cm_event(event);
	return ret;
}

static void rdma__path(const struct dart_rpc_transport *transport, struct dart_endpoint_path *path)
{
	const struct dart_cm_connection *connection = &rdma_of(transport)->connection;
	const struct rdma_cm_id *id = connection->id;
	struct ibv_port_attr port;
	uint64_t bits_per_s = 0;

	if (!ibv_query_port(id->verbs, id->port_num, &port))
		bits_per_s = dart_path__link_speed(port.active_speed, port.active_width);
	dart_cm_connection__path(connection, bits_per_s, path);
}

static void *rdma__request(struct dart_rpc_transport *transport)
{
	return rdma_of(transport)->queue.memory.request;
}

static int rdma__send(struct dart_rpc_transport *transport, size_t length, struct dart_error *error)
{
	return dart_rpc_queue__send(&rdma_of(transport)->queue, length, error);
}

static int rdma__receive(struct dart_rpc_transport *transport, const void **bytes,
			 size_t *length, struct dart_error *error)
{
	int ret = dart_rpc_queue__receive(&rdma_of(transport)->queue, bytes, length, error);

	if (ret)
		return ret;
	/* Nothing has arrived: has the agent gone? */
	ret = rdma__connect(transport, error);
	return ret < 0 ? ret : -EAGAIN;
}

static const struct dart_rpc_transport_operations operations = {
	.free = rdma__free,
	.wait = rdma__wait,
	.connect = rdma__connect,
	.path = rdma__path,
	.request = rdma__request,
	.send = rdma__send,
	.receive = rdma__receive,
};

int dart_rpc_rdma__open(const char *host, uint16_t port, uint8_t dscp,
			struct dart_rpc_transport **transport, struct dart_error *error)
{
	struct rdma *rdma = calloc(1, sizeof(*rdma));
	int ret;

	if (!rdma)
		return dart_error__no_memory(error);
	rdma->base.operations = &operations;
	rdma->base.window = DART_RPC_QUEUE_RECEIVES * DART_RPC_QUEUE_ANSWER_MAX;
	ret = dart_cm_channel__open(&rdma->channel, error) ?:
		      dart_cm_connection__open(&rdma->connection, rdma->channel,
					       NULL, host, port, dscp, error);
	if (ret)
		rdma__free(&rdma->base);
	else
		*transport = &rdma->base;
	return ret;
}
