// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connects by RDMA CM with a hello as private data; SENDs requests, RECEIVEs answers. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/control.h>

#include "rpc_queue_internal.h"
#include "rpc_rdma_internal.h"
#include "tools/lib/dart/rdma/link_speed_internal.h"
#include "tools/lib/dart/rdma/own_address_internal.h"
#include "tools/lib/dart/rdma/path_internal.h"
#include "tools/lib/dart/rdma/path_mtu_internal.h"
#include "tools/lib/dart/rdma/rejection_internal.h"
#include "tools/lib/dart/rdma/remote_clock_internal.h"

/* Milliseconds for ARP or neighbour discovery, and for the route. */
#define RESOLVE_TIMEOUT_MS 2000

struct rdma {
	struct dart_rpc_transport base;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct dart_rpc_queue queue;	/* open once the route is known */
	struct dart_held_qp held;	/* while it connects */
	uint64_t asked_ns;		/* CLOCK_MONOTONIC of the connect request */
	bool is_connected;
};

static struct rdma *rdma_of(const struct dart_rpc_transport *transport)
{
	return (struct rdma *)transport;
}

static void rdma__free(struct dart_rpc_transport *transport)
{
	struct rdma *rdma = rdma_of(transport);

	if (rdma->is_connected)
		rdma_disconnect(rdma->id);
	if (rdma->id)
		dart_held_qp__release(&rdma->held, rdma->id);
	dart_rpc_queue__close(&rdma->queue);
	if (rdma->id)
		rdma_destroy_id(rdma->id);
	if (rdma->channel)
		rdma_destroy_event_channel(rdma->channel);
	free(rdma);
}

static unsigned int rdma__wait(const struct dart_rpc_transport *transport,
			       struct pollfd descriptors[2])
{
	const struct rdma *rdma = rdma_of(transport);

	descriptors[0] = (struct pollfd){ .fd = rdma->channel->fd,
					  .events = POLLIN };
	if (!rdma->is_connected)
		return 1;
	descriptors[1] = (struct pollfd){ .fd = rdma->queue.channel->fd,
					  .events = POLLIN };
	return 2;
}

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

static int shake_hands(struct rdma *rdma, struct dart_error *error)
{
	const struct dart_rpc_hello hello =
		dart_rpc_hello__make(DART_RPC_QUEUE_ANSWER_MAX,
				     DART_RPC_QUEUE_RECEIVES);
	struct rdma_conn_param parameters = {
		.private_data = &hello,
		.private_data_len = sizeof(hello),
		.retry_count = DART_CONTROL_RETRY_COUNT,
		/* The caller limits the time of an answer. */
		.rnr_retry_count = 7,
	};
	uint8_t timeout = DART_CONTROL_ACK_TIMEOUT;
	int ret = dart_rpc_queue__open(&rdma->queue, rdma->id);

	if (ret)
		return dart_error__set(
			error, -ret, "cannot create a queue pair: %s%s",
			strerror(-ret),
			ret == -ENOMEM ? " (check ulimit -l)" : "");
	/* Kernels that cannot set it have a sufficient default. */
	rdma_set_option(rdma->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			&timeout, sizeof(timeout));
	rdma->asked_ns = dart_monotonic_ns();
	if (rdma_connect(rdma->id, &parameters))
		return dart_error__system(error, errno,
					  "cannot request a connection");
	dart_held_qp__hold(&rdma->held, rdma->id);
	return 0;
}

static int take_welcome(struct rdma *rdma, const struct rdma_cm_event *event,
			struct dart_error *error)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	int ret;

	ret = dart_rpc_welcome__decode(
		conn->private_data ?: "",
		conn->private_data ? conn->private_data_len : 0,
		&rdma->base.welcome, error);
	if (ret)
		return ret;
	dart_remote_clock__compare(rdma->asked_ns, rdma->base.welcome.time_ns,
				   &rdma->base.clock_offset_ns,
				   &rdma->base.clock_uncertainty_ns);
	dart_rpc_queue__set_timer(&rdma->queue);
	rdma->is_connected = true;
	return 1;
}

static int handle(struct rdma *rdma, const struct rdma_cm_event *event,
		  struct dart_error *error)
{
	const struct dart_rpc_hello hello =
		dart_rpc_hello__make(DART_RPC_QUEUE_ANSWER_MAX,
				     DART_RPC_QUEUE_RECEIVES);
	const struct rdma_conn_param *conn = &event->param.conn;
	int ret;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (!rdma_resolve_route(rdma->id, RESOLVE_TIMEOUT_MS))
			return 0;
		return dart_error__system(error, errno,
					  "cannot resolve a route");
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return shake_hands(rdma, error);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		ret = dart_held_qp__establish(&rdma->held, rdma->id,
					      conn->private_data ?: "",
					      conn->private_data ?
						      conn->private_data_len :
						      0,
					      error);
		return ret ?: take_welcome(rdma, event, error);
	case RDMA_CM_EVENT_ESTABLISHED:
		dart_held_qp__release(&rdma->held, rdma->id);
		return take_welcome(rdma, event, error);
	case RDMA_CM_EVENT_REJECTED:
		/* An agent rejects a connection that it ends before it has heard of its use. */
		if (rdma->is_connected)
			goto disconnected;
		return dart_rejection__explain(event, &hello, sizeof(hello),
					       error);
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return dart_rejection__explain_silence(event, error);
	case RDMA_CM_EVENT_DISCONNECTED:
		goto disconnected;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return dart_error__set(error, ENODEV,
				       "the RDMA device was removed");
	default:
		return 0;
	}

disconnected:
	return dart_error__set(error, ECONNRESET, "the agent disconnected");
}

/* Returns 1 when the connection is there, 0 without or after another event. */
static int rdma__connect(struct dart_rpc_transport *transport,
			 struct dart_error *error)
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

static void rdma__path(const struct dart_rpc_transport *transport,
		       struct dart_endpoint_path *path)
{
	const struct rdma_cm_id *id = rdma_of(transport)->id;
	struct ibv_port_attr port;
	uint64_t bits_per_s = 0;

	if (!ibv_query_port(id->verbs, id->port_num, &port))
		bits_per_s = dart_link_speed(port.active_speed,
					     port.active_width);
	dart_path__of_rdma(id, bits_per_s, path);
	if (rdma_of(transport)->held.own_mtu)
		path->own_mtu = rdma_of(transport)->held.own_mtu;
}

static void *rdma__request(struct dart_rpc_transport *transport)
{
	return rdma_of(transport)->queue.memory.request;
}

static int rdma__send(struct dart_rpc_transport *transport, size_t length,
		      struct dart_error *error)
{
	return dart_rpc_queue__send(&rdma_of(transport)->queue, length, error);
}

static int rdma__receive(struct dart_rpc_transport *transport, const void **bytes,
			 size_t *length, struct dart_error *error)
{
	int ret = dart_rpc_queue__receive(&rdma_of(transport)->queue, bytes,
					  length, error);

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

static int begin(struct rdma *rdma, const char *host, uint16_t port,
		 struct dart_error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct sockaddr_storage own;
	struct addrinfo *address;
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, &address);
	if (ret)
		return dart_error__set(
			error, ret == EAI_MEMORY ? ENOMEM : EHOSTUNREACH,
			"cannot resolve '%s': %s", host, gai_strerror(ret));
	if (rdma_resolve_addr(rdma->id, NULL,
			      dart_own_address__replace(address->ai_addr, &own),
			      RESOLVE_TIMEOUT_MS)) {
		if (errno == ENODEV)
			ret = dart_error__set(
				error, ENODEV,
				"no RDMA device reaches '%s' (see rdma link)",
				host);
		else
			ret = dart_error__system(error, errno,
						 "no route to '%s'", host);
	}
	freeaddrinfo(address);
	return ret;
}

int dart_rpc_rdma__open(const char *host, uint16_t port,
			struct dart_rpc_transport **transport,
			struct dart_error *error)
{
	struct rdma *rdma = calloc(1, sizeof(*rdma));
	int ret;

	if (!rdma)
		return dart_error__no_memory(error);
	rdma->base.operations = &operations;
	rdma->base.window = DART_RPC_QUEUE_RECEIVES * DART_RPC_QUEUE_ANSWER_MAX;
	rdma->channel = rdma_create_event_channel();
	if (!rdma->channel)
		ret = dart_error__set(
			error, errno,
			"cannot open the RDMA connection manager: %s (modprobe rdma_ucm)",
			strerror(errno));
	else if (set_nonblocking(rdma->channel->fd) ||
		 rdma_create_id(rdma->channel, &rdma->id, NULL, RDMA_PS_TCP))
		ret = dart_error__system(error, errno,
					 "cannot create an RDMA CM identifier");
	else
		ret = begin(rdma, host, port, error);
	if (ret)
		rdma__free(&rdma->base);
	else
		*transport = &rdma->base;
	return ret;
}
