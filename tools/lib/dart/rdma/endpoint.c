// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connects to an agent by RDMA CM and READs from it: see endpoint.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/private/read_queue.h>
#include <libdart/private/rejection.h>

#include "endpoint.h"

/* Milliseconds for ARP or neighbour discovery, and for the route. */
#define RESOLVE_TIMEOUT_MS	2000

/*
 * The retries of <dart/control.h>: a host that vanished is noticed after 1.9 s, and a
 * slow one (an emulated guest) has that long to answer.  Not 7 times: to soft-RoCE,
 * that means forever.
 */
_Static_assert(DART_CONTROL_RETRY_COUNT < 7, "retries of soft-RoCE end");

/*
 * Retry without end after an RNR NAK.  An agent posts no receive that could be missing,
 * but soft-RoCE sends these NAKs if the queue of its interface is full: one for each
 * READ that it has at the moment, so that a limit of 6 was used up at once.  Callers
 * limit the time of a batch.
 */
#define RNR_RETRY_COUNT		7

/* READs that the device may have in flight, if it supports so many. */
#define INITIATOR_DEPTH		16

struct dart_endpoint {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct dart_read_queue queue;	/* open once the route is known */
	bool connected;
	uint8_t request[DART_ENDPOINT_REQUEST_MAX];
	uint8_t request_length;
	uint8_t answer[UINT8_MAX];
	uint8_t answer_length;
	bool is_for_control;		/* the answer is then @accept */
	uint64_t asked_ns;		/* CLOCK_REALTIME of the connect request */
	int failure;			/* -errno */
	struct dart_endpoint_accept accept;
};

static int resolve(struct dart_endpoint *endpoint, const char *host,
		   uint16_t port, struct dart_error *error)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *address;
	char service[8];
	int ret;

	snprintf(service, sizeof(service), "%u", port);
	ret = getaddrinfo(host, service, &hints, &address);
	if (ret)
		return dart_error__set(
			error, ret == EAI_MEMORY ? ENOMEM : EHOSTUNREACH,
			"cannot resolve '%s': %s", host, gai_strerror(ret));

	if (rdma_resolve_addr(endpoint->id, NULL, address->ai_addr,
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

int dart_endpoint__connect_with(const char *host, uint16_t port,
				const void *request, size_t length,
				struct dart_endpoint **endpointp,
				struct dart_error *error)
{
	struct dart_endpoint *endpoint;
	int flags, ret;

	if (length > sizeof(endpoint->request))
		return dart_error__set(error, EINVAL,
				       "a request of %zu bytes is too long",
				       length);
	endpoint = calloc(1, sizeof(*endpoint));
	if (!endpoint)
		return dart_error__no_memory(error);
	memcpy(endpoint->request, request, length);
	endpoint->request_length = length;

	endpoint->channel = rdma_create_event_channel();
	if (!endpoint->channel) {
		ret = dart_error__set(
			error, errno,
			"cannot open the RDMA connection manager: %s (modprobe rdma_ucm)",
			strerror(errno));
		goto err_free;
	}
	flags = fcntl(endpoint->channel->fd, F_GETFL);
	if (flags < 0 ||
	    fcntl(endpoint->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    rdma_create_id(endpoint->channel, &endpoint->id, NULL,
			   RDMA_PS_TCP)) {
		ret = dart_error__system(error, errno,
					 "cannot create an RDMA CM identifier");
		goto err_free;
	}
	ret = resolve(endpoint, host, port, error);
	if (ret)
		goto err_free;

	*endpointp = endpoint;
	return 0;

err_free:
	dart_endpoint__free(endpoint);
	return ret;
}

int dart_endpoint__connect(const char *host, uint16_t port,
			   struct dart_endpoint **endpoint,
			   struct dart_error *error)
{
	const struct dart_control_request request = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};
	int ret;

	ret = dart_endpoint__connect_with(host, port, &request, sizeof(request),
					  endpoint, error);
	if (!ret)
		(*endpoint)->is_for_control = true;
	return ret;
}

void dart_endpoint__free(struct dart_endpoint *endpoint)
{
	if (!endpoint)
		return;
	if (endpoint->connected)
		rdma_disconnect(endpoint->id);
	dart_read_queue__close(&endpoint->queue);
	if (endpoint->id)
		rdma_destroy_id(endpoint->id);
	if (endpoint->channel)
		rdma_destroy_event_channel(endpoint->channel);
	free(endpoint);
}

int dart_endpoint__connection_fd(const struct dart_endpoint *endpoint)
{
	return endpoint->channel->fd;
}

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int shake_hands(struct dart_endpoint *endpoint, struct dart_error *error)
{
	struct rdma_conn_param parameters = {
		.private_data = endpoint->request,
		.private_data_len = endpoint->request_length,
		.initiator_depth = INITIATOR_DEPTH,
		.retry_count = DART_CONTROL_RETRY_COUNT,
		.rnr_retry_count = RNR_RETRY_COUNT,
	};
	struct ibv_device_attr device;
	uint8_t timeout = DART_CONTROL_ACK_TIMEOUT;
	int ret;

	ret = -ibv_query_device(endpoint->id->verbs, &device);
	if (!ret)
		ret = dart_read_queue__open(&endpoint->queue, endpoint->id,
					    &device);
	if (ret)
		return dart_error__set(
			error, -ret, "cannot create a queue pair: %s%s",
			strerror(-ret),
			ret == -ENOMEM ? " (check ulimit -l)" : "");

	/* Kernels that cannot set it have a sufficient default. */
	rdma_set_option(endpoint->id, RDMA_OPTION_ID,
			RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout));
	if (device.max_qp_init_rd_atom < INITIATOR_DEPTH)
		parameters.initiator_depth = device.max_qp_init_rd_atom;
	endpoint->asked_ns = realtime_ns();
	if (rdma_connect(endpoint->id, &parameters))
		return dart_error__system(error, errno,
					  "cannot request a connection");
	return 0;
}

int dart_endpoint__answer(const struct dart_endpoint *endpoint, uint64_t magic,
			  uint32_t version, void *answer, size_t size,
			  struct dart_error *error)
{
	struct {
		__le64 magic;
		__le32 version;
	} head;

	if (endpoint->answer_length < size)
		return dart_error__set(
			error, EBADMSG,
			"the answer has %u bytes: not a dart agent",
			endpoint->answer_length);
	memcpy(&head, endpoint->answer, sizeof(head));
	if (le64toh(head.magic) != magic)
		return dart_error__set(
			error, EBADMSG,
			"the answer is without the magic number: not a dart agent");
	if (le32toh(head.version) != version)
		return dart_error__set(
			error, EPROTONOSUPPORT,
			"the agent speaks version %u of the protocol and this program version %u: upgrade %s",
			le32toh(head.version), version,
			le32toh(head.version) < version ? "dartd there" :
							  "this program");
	memcpy(answer, endpoint->answer, size);
	return 0;
}

/* The agent took @time_ns between the connect request and now. */
static void compare_clocks(struct dart_endpoint *endpoint, uint64_t time_ns)
{
	struct dart_endpoint_accept *accept = &endpoint->accept;
	uint64_t half_ns = (realtime_ns() - endpoint->asked_ns) / 2;

	/* The clock of this host may have been set meanwhile. */
	if (!time_ns || half_ns > INT64_MAX / 2)
		return;
	accept->clock_offset_ns = time_ns - endpoint->asked_ns - half_ns;
	accept->clock_uncertainty_ns = half_ns ?: 1;
}

static int check_accept(struct dart_endpoint *endpoint,
			struct dart_error *error)
{
	struct dart_endpoint_accept *accept = &endpoint->accept;
	struct dart_control_accept raw = { };
	int ret;

	/* An older agent does not tell its time. */
	ret = dart_endpoint__answer(endpoint, DART_CONTROL_MAGIC,
				    DART_CONTROL_ABI_VERSION, &raw,
				    offsetof(struct dart_control_accept, time_ns),
				    error);
	if (ret)
		return ret;
	if (endpoint->answer_length >= sizeof(raw))
		memcpy(&raw, endpoint->answer, sizeof(raw));
	compare_clocks(endpoint, le64toh(raw.time_ns));
	accept->address = le64toh(raw.address);
	accept->rkey = le32toh(raw.rkey);
	accept->length = le32toh(raw.length);
	accept->used = le32toh(raw.used);
	if (accept->length > DART_CONTROL_LENGTH_MAX ||
	    accept->used > accept->length ||
	    accept->used < sizeof(struct dart_control_header) ||
	    accept->address > UINT64_MAX - accept->length)
		return dart_error__set(
			error, EBADMSG,
			"the agent offers a control region that cannot be: %u of %u bytes",
			accept->used, accept->length);
	return 0;
}

/* Remembers why; the endpoint can only be freed. */
static enum dart_endpoint_event fail(struct dart_endpoint *endpoint, int failure)
{
	endpoint->failure = failure;
	return DART_ENDPOINT_FAILED;
}

static enum dart_endpoint_event handle(struct dart_endpoint *endpoint,
				       const struct rdma_cm_event *event,
				       struct dart_error *error)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	int ret = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (!rdma_resolve_route(endpoint->id, RESOLVE_TIMEOUT_MS))
			return DART_ENDPOINT_NOTHING;
		return fail(endpoint, dart_error__system(error, errno,
					"cannot resolve a route"));
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = shake_hands(endpoint, error);
		return ret ? fail(endpoint, ret) : DART_ENDPOINT_NOTHING;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (conn->private_data) {
			memcpy(endpoint->answer, conn->private_data,
			       conn->private_data_len);
			endpoint->answer_length = conn->private_data_len;
		}
		if (endpoint->is_for_control)
			ret = check_accept(endpoint, error);
		if (ret)
			return fail(endpoint, ret);
		endpoint->connected = true;
		return DART_ENDPOINT_CONNECTED;
	case RDMA_CM_EVENT_REJECTED:
		return fail(endpoint,
			    dart_rejection__explain(event, endpoint->request,
						    endpoint->request_length,
						    error));
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
		return fail(endpoint,
			    dart_rejection__explain_silence(event, error));
	case RDMA_CM_EVENT_DISCONNECTED:
		dart_error__set(error, ECONNRESET, "the agent disconnected");
		return DART_ENDPOINT_DISCONNECTED;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		dart_error__set(error, ENODEV, "the RDMA device was removed");
		return DART_ENDPOINT_DISCONNECTED;
	default:
		return DART_ENDPOINT_NOTHING;
	}
}

enum dart_endpoint_event
dart_endpoint__on_connection(struct dart_endpoint *endpoint,
			     struct dart_error *error)
{
	enum dart_endpoint_event result;
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(endpoint->channel, &event)) {
		if (errno == EAGAIN || errno == EINTR)
			return DART_ENDPOINT_NOTHING;
		dart_error__system(error, errno, "the RDMA CM failed");
		return endpoint->connected ? DART_ENDPOINT_DISCONNECTED :
					     DART_ENDPOINT_FAILED;
	}
	result = handle(endpoint, event, error);
	rdma_ack_cm_event(event);
	return result;
}

int dart_endpoint__failure(const struct dart_endpoint *endpoint)
{
	return endpoint->failure;
}

static void print_address(const struct sockaddr *address, char text[46])
{
	socklen_t length = address->sa_family == AF_INET6 ?
				   sizeof(struct sockaddr_in6) :
				   sizeof(struct sockaddr_in);

	if (getnameinfo(address, length, text, 46, NULL, 0, NI_NUMERICHOST))
		*text = '\0';
}

void dart_endpoint__path(const struct dart_endpoint *endpoint,
			 struct dart_endpoint_path *path)
{
	const struct rdma_cm_id *id = endpoint->id;

	*path = (struct dart_endpoint_path){ };
	if (!id->verbs)
		return;
	snprintf(path->device, sizeof(path->device), "%s",
		 ibv_get_device_name(id->verbs->device));
	print_address(rdma_get_local_addr(endpoint->id), path->source);
	print_address(rdma_get_peer_addr(endpoint->id), path->destination);
	path->mtu = dart_read_queue__mtu(id);
	path->bits_per_s = endpoint->queue.bits_per_s;
}

const struct dart_endpoint_accept *
dart_endpoint__accept(const struct dart_endpoint *endpoint)
{
	return &endpoint->accept;
}

int dart_endpoint__reserve(struct dart_endpoint *endpoint, size_t size,
			   void **landing)
{
	if (!endpoint->connected)
		return -ENOTCONN;
	return dart_read_queue__reserve(&endpoint->queue, size, landing);
}

int dart_endpoint__land_in(struct dart_endpoint *endpoint, void *memory,
			   size_t size)
{
	if (!endpoint->connected)
		return -ENOTCONN;
	return dart_read_queue__land_in(&endpoint->queue, memory, size);
}

void dart_endpoint__cut(struct dart_endpoint *endpoint, uint32_t length)
{
	dart_read_queue__cut(&endpoint->queue, length);
}

int dart_endpoint__begin(struct dart_endpoint *endpoint,
			 const struct dart_read *reads, uint32_t count)
{
	if (!endpoint->connected)
		return -ENOTCONN;
	if (!count)
		return -EINVAL;
	return dart_read_queue__begin(&endpoint->queue, reads, count);
}

int dart_endpoint__post(struct dart_endpoint *endpoint, uint32_t operations)
{
	return dart_read_queue__post(&endpoint->queue, operations);
}

uint32_t dart_endpoint__take_completed(struct dart_endpoint *endpoint)
{
	return dart_read_queue__take_completed(&endpoint->queue);
}

int dart_endpoint__read(struct dart_endpoint *endpoint,
			const struct dart_read *reads, uint32_t count)
{
	return dart_endpoint__begin(endpoint, reads, count) ?:
	       dart_endpoint__post(endpoint, UINT32_MAX);
}

uint32_t dart_endpoint__operations(const struct dart_endpoint *endpoint,
				   const struct dart_read *reads,
				   uint32_t count)
{
	if (!endpoint->connected)
		return 0;
	return dart_read_pieces__count(reads, count,
				       endpoint->queue.length_max);
}

int dart_endpoint__completion_fd(const struct dart_endpoint *endpoint)
{
	return endpoint->connected ? endpoint->queue.channel->fd : -1;
}

int dart_endpoint__on_completion(struct dart_endpoint *endpoint,
				 struct dart_error *error)
{
	return dart_read_queue__on_completion(&endpoint->queue, error);
}
