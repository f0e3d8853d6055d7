// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connects by the RDMA CM: see cm_connection_internal.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rdma/cm_connection_internal.h>
#include <libdart/rdma/own_address_internal.h>
#include <libdart/rdma/path_internal.h>
#include <libdart/rdma/rejection_internal.h>
#include <libdart/rdma/remote_clock_internal.h>
#include <libdart/rdma/verbs.h>

/* Milliseconds for ARP or neighbour discovery, and for the route. */
#define RESOLVE_TIMEOUT_MS	2000

/*
 * The retries of <dart/control.h>: a host that vanished is noticed after 1.9 s, and a
 * slow one (an emulated guest) has that long to answer.  Not 7 times: to soft-RoCE,
 * that means forever.
 */
_Static_assert(DART_CONTROL_RETRY_COUNT < 7, "retries of soft-RoCE end");

/*
 * Retry without end after an RNR NAK. Nobody READs from a queue pair without receives, but
 * soft-RoCE sends these NAKs if the queue of its interface is full: one for each READ that waits at
 * the moment, so that a limit of 6 was used up at once.  Callers limit the time of a batch or an
 * answer.
 */
#define RNR_RETRY_COUNT		7

int dart_cm_channel__open(struct rdma_event_channel **result, struct dart_error *error)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int flags, ret;

	if (!channel)
		return dart_error__set(
			error, errno,
			"cannot open the RDMA connection manager: %s (modprobe rdma_ucm)",
			strerror(errno));
	flags = fcntl(channel->fd, F_GETFL);
	if (flags >= 0 && !fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK)) {
		*result = channel;
		return 0;
	}
	ret = dart_error__system(error, errno, "cannot wait for the RDMA connection manager");
	rdma_destroy_event_channel(channel);
	return ret;
}

static int resolve(struct rdma_cm_id *id, const char *host, uint16_t port, struct dart_error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct sockaddr_storage own;
	struct addrinfo *address;
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, &address);
	if (ret)
		return dart_error__set(error, ret == EAI_MEMORY ? ENOMEM : EHOSTUNREACH,
				       "cannot resolve '%s': %s", host, gai_strerror(ret));

	if (rdma_resolve_addr(id, NULL, dart_own_address__replace(address->ai_addr, &own),
			      RESOLVE_TIMEOUT_MS)) {
		if (errno == ENODEV)
			ret = dart_error__set(error, ENODEV,
					      "no RDMA device reaches '%s' (see rdma link)", host);
		else
			ret = dart_error__system(error, errno, "no route to '%s'", host);
	}
	freeaddrinfo(address);
	return ret;
}

int dart_cm_connection__open(struct dart_cm_connection *connection,
			     struct rdma_event_channel *channel, void *context, const char *host,
			     uint16_t port, uint8_t dscp, struct dart_error *error)
{
	uint8_t tos = dscp << DART_VERBS_DSCP_SHIFT;

	if (rdma_create_id(channel, &connection->id, context, RDMA_PS_TCP)) {
		connection->id = NULL;
		return dart_error__system(error, errno, "cannot create an RDMA CM identifier");
	}
	/* Otherwise the default of the device, in configfs. */
	if (dscp && rdma_set_option(connection->id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos,
				    sizeof(tos)))
		return dart_error__system(error, errno, "cannot mark packets with DSCP %u", dscp);
	return resolve(connection->id, host, port, error);
}

int dart_cm_connection__ask(struct dart_cm_connection *connection,
			    struct rdma_conn_param *parameters, struct dart_error *error)
{
	struct rdma_cm_id *id = connection->id;
	uint8_t timeout = DART_CONTROL_ACK_TIMEOUT;

	parameters->retry_count = DART_CONTROL_RETRY_COUNT;
	parameters->rnr_retry_count = RNR_RETRY_COUNT;
	/* Kernels that cannot set it use a sufficient default. */
	rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout));
	connection->asked_ns = dart_monotonic_ns();
	if (rdma_connect(id, parameters)) {
		/* On iWARP the TCP connection may be refused at once. */
		if (errno == ECONNREFUSED)
			return dart_rejection__explain_absence(error);
		return dart_error__system(error, errno, "cannot request a connection");
	}
	connection->own_mtu = dart_path__mtu(id);
	connection->hidden = id->qp;
	id->qp = NULL;
	return 0;
}

static void show_queue_pair(struct dart_cm_connection *connection)
{
	if (connection->hidden)
		connection->id->qp = connection->hidden;
	connection->hidden = NULL;
}

/*
 * The path MTU of the agent's end; IBV_MTU_4096 if the agent does not tell it, or the value is
 * invalid.
 */
static enum ibv_mtu told_mtu(const void *answer, size_t length)
{
	struct dart_control_path path;
	enum ibv_mtu mtu = IBV_MTU_4096;

	if (length < DART_CONTROL_PATH_OFFSET + sizeof(path))
		return mtu;
	memcpy(&path, (const uint8_t *)answer + DART_CONTROL_PATH_OFFSET, sizeof(path));
	while (mtu > IBV_MTU_256 && le32toh(path.mtu) && le32toh(path.mtu) < 128U << mtu)
		mtu--;
	return mtu;
}

/* 10.24 ms (IBTA 9.7.5.2.8), instead of 655. */
#define RNR_TIMER_BRIEF 20

static int advance(const struct dart_cm_connection *connection, struct ibv_qp *qp,
		   enum ibv_qp_state state, enum ibv_mtu mtu)
{
	struct ibv_qp_attr attributes = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(connection->id, &attributes, &mask))
		return -errno;
	if (mask & IBV_QP_PATH_MTU && attributes.path_mtu > mtu)
		attributes.path_mtu = mtu;
	if (mask & IBV_QP_MIN_RNR_TIMER && connection->waits_briefly)
		attributes.min_rnr_timer = RNR_TIMER_BRIEF;
	return dart_verbs__result(ibv_modify_qp(qp, &attributes, mask));
}

/* Sets the queue pair up with the path MTU that both ends take, and tells the agent. */
static int establish(struct dart_cm_connection *connection, const struct rdma_conn_param *conn,
		     struct dart_error *error)
{
	const enum ibv_mtu mtu = told_mtu(conn->private_data ?: "",
					  conn->private_data ? conn->private_data_len : 0);
	struct ibv_qp *qp = connection->hidden;
	struct rdma_cm_id *id = connection->id;
	int ret;

	ret = advance(connection, qp, IBV_QPS_INIT, mtu) ?:
	      advance(connection, qp, IBV_QPS_RTR, mtu) ?:
	      advance(connection, qp, IBV_QPS_RTS, mtu);
	if (!ret && rdma_establish(id))
		ret = -errno;
	show_queue_pair(connection);
	if (ret)
		return dart_error__system(error, -ret, "cannot set up the queue pair");
	if (id->route.num_paths > 0 && id->route.path_rec && id->route.path_rec->mtu > mtu)
		id->route.path_rec->mtu = mtu;
	return 0;
}

static enum dart_cm_step fail(struct dart_cm_connection *connection, int failure)
{
	connection->failure = failure;
	return DART_CM_FAILED;
}

static enum dart_cm_step end(struct dart_cm_connection *connection, int code, const char *reason,
			     struct dart_error *error)
{
	connection->failure = dart_error__set(error, code, "%s", reason);
	return DART_CM_ENDED;
}

enum dart_cm_step dart_cm_connection__handle(struct dart_cm_connection *connection,
					     const struct rdma_cm_event *event, const void *request,
					     size_t length, struct dart_error *error)
{
	int ret;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (!rdma_resolve_route(connection->id, RESOLVE_TIMEOUT_MS))
			return DART_CM_NOTHING;
		return fail(connection, dart_error__system(error, errno, "cannot resolve a route"));
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return DART_CM_ROUTED;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		ret = establish(connection, &event->param.conn, error);
		return ret ? fail(connection, ret) : DART_CM_ANSWERED;
	case RDMA_CM_EVENT_ESTABLISHED:
		show_queue_pair(connection);
		return DART_CM_ANSWERED;
	case RDMA_CM_EVENT_REJECTED:
		/* An agent rejects a connection that it ends before it has heard of its use. */
		if (connection->is_connected)
			return end(connection, ECONNRESET, "the agent disconnected", error);
		return fail(connection, dart_rejection__explain(event, request, length, error));
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return fail(connection, dart_rejection__explain_silence(event, error));
	case RDMA_CM_EVENT_DISCONNECTED:
		return end(connection, ECONNRESET, "the agent disconnected", error);
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return end(connection, ENODEV, "the RDMA device was removed", error);
	default:
		return DART_CM_NOTHING;
	}
}

void dart_cm_connection__disconnect(struct dart_cm_connection *connection)
{
	if (connection->is_connected)
		rdma_disconnect(connection->id);
	if (connection->id)
		show_queue_pair(connection);
}

void dart_cm_connection__close(struct dart_cm_connection *connection)
{
	if (connection->id)
		rdma_destroy_id(connection->id);
	connection->id = NULL;
}

void dart_cm_connection__path(const struct dart_cm_connection *connection, uint64_t bits_per_s,
			      struct dart_endpoint_path *path)
{
	dart_path__of_rdma(connection->id, bits_per_s, path);
	if (connection->own_mtu)
		path->own_mtu = connection->own_mtu;
}
