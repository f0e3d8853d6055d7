// SPDX-License-Identifier: LGPL-2.1-or-later
/* Connects to an agent by RDMA CM: see endpoint.h. */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <libdart/rdma/endpoint_internal.h>
#include <libdart/rdma/remote_clock_internal.h>
#include <libdart/rdma/verbs.h>

/* READs in flight for the device, if it supports so many. */
#define INITIATOR_DEPTH		16

/* Events of connections that are handled before the caller looks at others. */
#define EVENTS_MAX 64

int dart_endpoint__start(struct dart_endpoint *endpoint, const char *host, uint16_t port,
			 const void *request, size_t length, struct dart_error *error)
{
	int ret;

	if (length > sizeof(endpoint->request))
		return dart_error__set(error, EINVAL, "a request of %zu bytes is too long", length);
	memcpy(endpoint->request, request, length);
	endpoint->request_length = length;
	ret = dart_endpoint_set__open_channel(endpoint->set, error);
	if (ret)
		return ret;
	return dart_cm_connection__open(&endpoint->connection, endpoint->set->channel, endpoint,
					host, port, endpoint->set->dscp, error);
}

int dart_endpoint__start_for_control(struct dart_endpoint *endpoint, const char *host,
				     uint16_t port, struct dart_error *error)
{
	const struct dart_control_request request = {
		.magic = htole64(DART_CONTROL_MAGIC),
		.abi_version = htole32(DART_CONTROL_ABI_VERSION),
	};

	endpoint->is_for_control = true;
	return dart_endpoint__start(endpoint, host, port, &request, sizeof(request), error);
}

void dart_endpoint__tell_interval(struct dart_endpoint *endpoint, uint32_t interval_ms)
{
	struct dart_control_request request;

	memcpy(&request, endpoint->request, sizeof(request));
	request.interval_ms = htole32(interval_ms);
	memcpy(endpoint->request, &request, sizeof(request));
}

struct ibv_pd *dart_endpoint__pd(const struct dart_endpoint *endpoint)
{
	return endpoint->mirror.pd ?: endpoint->device->pd;
}

/* Goes on without a mirror if there cannot be one: iWARP has no immediate data, which end an update. */
static void make_mirror(struct dart_endpoint *endpoint)
{
	struct ibv_context *verbs = endpoint->device->verbs;
	struct dart_control_mirror offer;

	if (!endpoint->mirror_size || dart_verbs__is_iwarp(verbs) ||
	    endpoint->device->sizes.receives < DART_MIRROR_UPDATES)
		return;
	if (dart_mirror__open(&endpoint->mirror, verbs, endpoint->mirror_size)) {
		dart_mirror__close(&endpoint->mirror);
		return;
	}
	offer = dart_mirror__offer(&endpoint->mirror);
	memcpy(endpoint->request + endpoint->request_length, &offer, sizeof(offer));
	endpoint->request_length += sizeof(offer);
	endpoint->connection.waits_briefly = true;
}

static int make_queue(struct dart_endpoint *endpoint)
{
	struct dart_endpoint_set *set = endpoint->set;
	struct dart_read_queue_parts parts;
	int ret;

	ret = dart_device__get(&set->devices, endpoint->connection.id->verbs, set->threads,
			       set->thread_count, &set->sizes, &endpoint->device);
	if (ret)
		return ret;
	ret = dart_device__join(endpoint->device, endpoint->thread, &set->groups, &endpoint->group,
				&endpoint->number);
	if (ret)
		return ret;
	make_mirror(endpoint);
	parts.number = endpoint->number;
	parts.pd = dart_endpoint__pd(endpoint);
	parts.cq = endpoint->group->cq;
	parts.depth = endpoint->device->sizes.depth;
	parts.receives = endpoint->mirror.pd ? DART_MIRROR_UPDATES : 0;
	parts.scratch = &set->threads[endpoint->thread].scratch;
	return dart_read_queue__open(&endpoint->queue, endpoint->connection.id, &parts);
}

static int shake_hands(struct dart_endpoint *endpoint, struct dart_error *error)
{
	struct rdma_conn_param parameters = {
		.private_data = endpoint->request,
		.initiator_depth = INITIATOR_DEPTH,
	};
	int depth_max, ret;

	ret = make_queue(endpoint);
	if (ret)
		return dart_error__set(error, -ret, "cannot create a queue pair: %s%s",
				       strerror(-ret), ret == -ENOMEM ? " (check ulimit -l)" : "");
	/* With a mirror it has grown. */
	parameters.private_data_len = endpoint->request_length;
	depth_max = endpoint->device->attributes.max_qp_init_rd_atom;
	if (depth_max < INITIATOR_DEPTH)
		parameters.initiator_depth = depth_max;
	return dart_cm_connection__ask(&endpoint->connection, &parameters, error);
}

int dart_endpoint__answer(const struct dart_endpoint *endpoint, uint64_t magic, uint32_t version,
			  void *answer, size_t size, struct dart_error *error)
{
	struct {
		__le64 magic;
		__le32 version;
	} head;

	if (endpoint->answer_length < size)
		return dart_error__set(error, EBADMSG, "the answer has %u bytes: not a dart agent",
				       endpoint->answer_length);
	memcpy(&head, endpoint->answer, sizeof(head));
	if (le64toh(head.magic) != magic)
		return dart_error__set(error, EBADMSG,
				       "the answer is without the magic number: not a dart agent");
	if (le32toh(head.version) != version)
		return dart_error__set(
			error, EPROTONOSUPPORT,
			"the agent speaks version %u of the protocol and this program version %u: upgrade %s",
			le32toh(head.version), version,
			le32toh(head.version) < version ? "dartd there" : "this program");
	memcpy(answer, endpoint->answer, size);
	return 0;
}

static int check_accept(struct dart_endpoint *endpoint, struct dart_error *error)
{
	struct dart_endpoint_accept *accept = &endpoint->accept;
	struct dart_control_accept raw = { };
	int ret;

	/* An older agent does not tell its time. */
	ret = dart_endpoint__answer(endpoint, DART_CONTROL_MAGIC, DART_CONTROL_ABI_VERSION, &raw,
				    offsetof(struct dart_control_accept, time_ns), error);
	if (ret)
		return ret;
	if (endpoint->answer_length >= sizeof(raw))
		memcpy(&raw, endpoint->answer, sizeof(raw));
	dart_remote_clock__compare(endpoint->connection.asked_ns, le64toh(raw.time_ns),
				   &accept->clock_offset_ns, &accept->clock_uncertainty_ns);
	accept->address = le64toh(raw.address);
	accept->rkey = le32toh(raw.rkey);
	accept->length = le32toh(raw.length);
	accept->used = le32toh(raw.used);
	if (accept->length > DART_CONTROL_LENGTH_MAX || accept->used > accept->length ||
	    accept->used < sizeof(struct dart_control_header) ||
	    accept->address > UINT64_MAX - accept->length)
		return dart_error__set(
			error, EBADMSG,
			"the agent offers a control region that cannot be: %u of %u bytes",
			accept->used, accept->length);
	return 0;
}

static int take_answer(struct dart_endpoint *endpoint, const struct rdma_conn_param *conn,
		       struct dart_error *error)
{
	int ret;

	/* The agent may take a smaller MTU than the route. */
	dart_read_queue__fit_path(&endpoint->queue);
	if (conn->private_data) {
		memcpy(endpoint->answer, conn->private_data, conn->private_data_len);
		endpoint->answer_length = conn->private_data_len;
	}
	ret = endpoint->is_for_control ? check_accept(endpoint, error) : 0;
	endpoint->connection.is_connected = !ret;
	return ret;
}

enum dart_endpoint_event dart_endpoint__handle(struct dart_endpoint *endpoint,
					       const struct rdma_cm_event *event,
					       struct dart_error *error)
{
	struct dart_cm_connection *connection = &endpoint->connection;
	int ret;

	if (event->event == RDMA_CM_EVENT_ADDR_RESOLVED)
		dart_cm_contexts__note(&endpoint->set->contexts, connection->id->verbs);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL && endpoint->device)
		endpoint->device->is_removed = true;
	switch (dart_cm_connection__handle(connection, event, endpoint->request,
					   endpoint->request_length, error)) {
	case DART_CM_ROUTED:
		ret = shake_hands(endpoint, error);
		break;
	case DART_CM_ANSWERED:
		ret = take_answer(endpoint, &event->param.conn, error);
		if (!ret)
			return DART_ENDPOINT_CONNECTED;
		break;
	case DART_CM_FAILED:
		return DART_ENDPOINT_FAILED;
	case DART_CM_ENDED:
		return DART_ENDPOINT_DISCONNECTED;
	default:
		return DART_ENDPOINT_NOTHING;
	}
	if (!ret)
		return DART_ENDPOINT_NOTHING;
	connection->failure = ret;
	return DART_ENDPOINT_FAILED;
}

int dart_endpoint_set__on_connection(struct dart_endpoint_set *set,
				     dart_endpoint_connection_handler *handler)
{
	struct dart_endpoint *endpoint;
	struct rdma_cm_event *event;
	enum dart_endpoint_event result;
	struct dart_error error;

	dart_endpoint_set__take_removals(set);
	for (int i = 0; set->channel && i < EVENTS_MAX; i++) {
		if (rdma_get_cm_event(set->channel, &event))
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		endpoint = event->id->context;
		result = dart_endpoint__handle(endpoint, event, &error);
		/* First: destroying an identifier waits for the acknowledgement. */
		rdma_ack_cm_event(event);
		if (result != DART_ENDPOINT_NOTHING)
			handler(endpoint, result, &error);
	}
	return 0;
}
