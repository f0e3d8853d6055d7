// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connects to an agent by RDMA CM: see endpoint.h. */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <libdart/rdma/endpoint_internal.h>
#include <libdart/rdma/own_address_internal.h>
#include <libdart/rdma/rejection_internal.h>
#include <libdart/rdma/remote_clock_internal.h>

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

static int resolve(struct dart_endpoint *endpoint, const char *host,
		   uint16_t port, struct dart_error *error)
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

	if (rdma_resolve_addr(endpoint->id, NULL,
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

int dart_endpoint__start(struct dart_endpoint *endpoint, const char *host,
			 uint16_t port, const void *request, size_t length,
			 struct dart_error *error)
{
	int ret;

	if (length > sizeof(endpoint->request))
		return dart_error__set(error, EINVAL,
				       "a request of %zu bytes is too long",
				       length);
	memcpy(endpoint->request, request, length);
	endpoint->request_length = length;
	ret = dart_endpoint_set__open_channel(endpoint->set, error);
	if (ret)
		return ret;
	if (rdma_create_id(endpoint->set->channel, &endpoint->id, endpoint,
			   RDMA_PS_TCP))
		return dart_error__system(error, errno,
					  "cannot create an RDMA CM identifier");
	return resolve(endpoint, host, port, error);
}

int dart_endpoint__start_for_control(struct dart_endpoint *endpoint,
				     const char *host, uint16_t port,
				     struct dart_error *error)
{
	const struct dart_control_request request = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};

	endpoint->is_for_control = true;
	return dart_endpoint__start(endpoint, host, port, &request,
				    sizeof(request), error);
}

static int make_queue(struct dart_endpoint *endpoint)
{
	struct dart_endpoint_set *set = endpoint->set;
	struct dart_read_queue_parts parts;
	int ret;

	ret = dart_device__get(&set->devices, endpoint->id->verbs, set->threads,
			       set->thread_count, &set->sizes,
			       &endpoint->device);
	if (ret)
		return ret;
	ret = dart_device__join(endpoint->device, endpoint->thread,
				&set->groups, &endpoint->group,
				&endpoint->number);
	if (ret)
		return ret;
	parts.number = endpoint->number;
	parts.pd = endpoint->device->pd;
	parts.cq = endpoint->group->cq;
	parts.depth = endpoint->device->sizes.depth;
	parts.scratch = &set->threads[endpoint->thread].scratch;
	return dart_read_queue__open(&endpoint->queue, endpoint->id, &parts);
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
	uint8_t timeout = DART_CONTROL_ACK_TIMEOUT;
	int depth_max, ret;

	ret = make_queue(endpoint);
	if (ret)
		return dart_error__set(
			error, -ret, "cannot create a queue pair: %s%s",
			strerror(-ret),
			ret == -ENOMEM ? " (check ulimit -l)" : "");

	/* Kernels that cannot set it have a sufficient default. */
	rdma_set_option(endpoint->id, RDMA_OPTION_ID,
			RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof(timeout));
	depth_max = endpoint->device->attributes.max_qp_init_rd_atom;
	if (depth_max < INITIATOR_DEPTH)
		parameters.initiator_depth = depth_max;
	endpoint->asked_ns = dart_monotonic_ns();
	if (rdma_connect(endpoint->id, &parameters))
		return dart_error__system(error, errno,
					  "cannot request a connection");
	dart_held_qp__hold(&endpoint->held, endpoint->id);
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
	dart_remote_clock__compare(endpoint->asked_ns, le64toh(raw.time_ns),
				   &accept->clock_offset_ns,
				   &accept->clock_uncertainty_ns);
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

enum dart_endpoint_event dart_endpoint__handle(struct dart_endpoint *endpoint,
					       const struct rdma_cm_event *event,
					       struct dart_error *error)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	int ret = 0;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		dart_cm_contexts__note(&endpoint->set->contexts,
				       endpoint->id->verbs);
		if (!rdma_resolve_route(endpoint->id, RESOLVE_TIMEOUT_MS))
			return DART_ENDPOINT_NOTHING;
		return fail(endpoint, dart_error__system(error, errno,
					"cannot resolve a route"));
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		ret = shake_hands(endpoint, error);
		return ret ? fail(endpoint, ret) : DART_ENDPOINT_NOTHING;
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		ret = dart_held_qp__establish(&endpoint->held, endpoint->id,
					      conn->private_data ?: "",
					      conn->private_data ?
						      conn->private_data_len :
						      0,
					      error);
		if (ret)
			return fail(endpoint, ret);
		dart_read_queue__fit_path(&endpoint->queue);
		/* fall through */
	case RDMA_CM_EVENT_ESTABLISHED:
		dart_held_qp__release(&endpoint->held, endpoint->id);
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
		/* An agent rejects a connection that it ends before it has heard of its use. */
		if (endpoint->connected)
			goto disconnected;
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
		goto disconnected;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		if (endpoint->device)
			endpoint->device->is_removed = true;
		dart_error__set(error, ENODEV, "the RDMA device was removed");
		return DART_ENDPOINT_DISCONNECTED;
	default:
		return DART_ENDPOINT_NOTHING;
	}

disconnected:
	dart_error__set(error, ECONNRESET, "the agent disconnected");
	return DART_ENDPOINT_DISCONNECTED;
}
