// SPDX-License-Identifier: LGPL-2.1-or-later
/* READs from an agent, with one endpoint or one of a set: see endpoint.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <libdart/rdma/endpoint_internal.h>

/* Operations in flight on an endpoint that is the only one of its owner. */
#define DEPTH_ALONE	1024

static int endpoint__new_alone(struct dart_endpoint **endpointp, struct dart_error *error)
{
	const struct dart_endpoint_sizes sizes = {
		.group = 1,
		.depth = DEPTH_ALONE,
		.threads = 1,
	};
	struct dart_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	int ret;

	if (!endpoint)
		return dart_error__no_memory(error);
	endpoint->owns_set = true;
	*endpointp = endpoint;
	ret = dart_endpoint_set__new(&sizes, &endpoint->set, error);
	if (ret)
		free(endpoint);
	return ret;
}

int dart_endpoint__connect_with(const char *host, uint16_t port, const void *request, size_t length,
				struct dart_endpoint **endpointp, struct dart_error *error)
{
	struct dart_endpoint *endpoint;
	int ret;

	ret = endpoint__new_alone(&endpoint, error);
	if (ret)
		return ret;
	ret = dart_endpoint__start(endpoint, host, port, request, length, error);
	if (ret)
		dart_endpoint__free(endpoint);
	else
		*endpointp = endpoint;
	return ret;
}

int dart_endpoint__connect(const char *host, uint16_t port, struct dart_endpoint **endpointp,
			   struct dart_error *error)
{
	struct dart_endpoint *endpoint;
	int ret;

	ret = endpoint__new_alone(&endpoint, error);
	if (ret)
		return ret;
	ret = dart_endpoint__start_for_control(endpoint, host, port, error);
	if (ret)
		dart_endpoint__free(endpoint);
	else
		*endpointp = endpoint;
	return ret;
}

int dart_endpoint_set__connect(struct dart_endpoint_set *set, uint32_t thread, const char *host,
			       uint16_t port, void *user, struct dart_endpoint **endpointp,
			       struct dart_error *error)
{
	struct dart_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	int ret;

	if (!endpoint)
		return dart_error__no_memory(error);
	endpoint->set = set;
	endpoint->thread = thread;
	endpoint->user = user;
	endpoint->mirror_size = set->mirror_size;
	ret = dart_endpoint__start_for_control(endpoint, host, port, error);
	if (ret)
		dart_endpoint__free(endpoint);
	else
		*endpointp = endpoint;
	return ret;
}

void *dart_endpoint__user(const struct dart_endpoint *endpoint)
{
	return endpoint->user;
}

/* Releases the device of an endpoint; true if it was removed and no endpoint uses it any more. */
static bool put_device(struct dart_endpoint *endpoint, char node[static IBV_SYSFS_NAME_MAX])
{
	struct dart_device *device = endpoint->device;
	bool is_over;

	if (!device)
		return false;
	is_over = device->is_removed && device->queue_pairs == 1;
	if (is_over)
		snprintf(node, IBV_SYSFS_NAME_MAX, "%s", device->verbs->device->dev_name);
	dart_device__put(device);
	return is_over;
}

void dart_endpoint__free(struct dart_endpoint *endpoint)
{
	char node[IBV_SYSFS_NAME_MAX];
	struct dart_landing *landing;
	bool is_over;

	if (!endpoint)
		return;
	/* In a set its thread has left; the only endpoint is in the caller's. */
	if (endpoint->owns_set)
		dart_endpoint__leave(endpoint);
	dart_cm_connection__disconnect(&endpoint->connection);
	/* In this order: nothing lands any more, and nobody else needs it. */
	dart_read_queue__close(&endpoint->queue);
	while ((landing = LIST_FIRST(&endpoint->landings)))
		dart_landing__free(landing);
	dart_mirror__close(&endpoint->mirror);
	if (endpoint->group)
		dart_queue_group__quit(endpoint->group, endpoint->number);
	is_over = put_device(endpoint, node);
	dart_cm_connection__close(&endpoint->connection);
	if (is_over)
		dart_cm_contexts__let_go(&endpoint->set->contexts, node);
	if (endpoint->owns_set)
		dart_endpoint_set__free(endpoint->set);
	free(endpoint);
}

int dart_endpoint__connection_fd(const struct dart_endpoint *endpoint)
{
	return endpoint->set->channel->fd;
}

enum dart_endpoint_event dart_endpoint__on_connection(struct dart_endpoint *endpoint,
						      struct dart_error *error)
{
	enum dart_endpoint_event result;
	struct rdma_cm_event *event;
	int ret;

	if (rdma_get_cm_event(endpoint->set->channel, &event)) {
		if (errno == EAGAIN || errno == EINTR)
			return DART_ENDPOINT_NOTHING;
		dart_error__system(error, errno, "the RDMA CM failed");
		return endpoint->connection.is_connected ? DART_ENDPOINT_DISCONNECTED :
					     DART_ENDPOINT_FAILED;
	}
	result = dart_endpoint__handle(endpoint, event, error);
	rdma_ack_cm_event(event);
	if (result != DART_ENDPOINT_CONNECTED)
		return result;
	ret = dart_endpoint__adopt(endpoint);
	if (!ret)
		return result;
	endpoint->connection.failure = dart_error__system(error, -ret, "cannot wait for READs");
	return DART_ENDPOINT_FAILED;
}

int dart_endpoint__failure(const struct dart_endpoint *endpoint)
{
	return endpoint->connection.failure;
}

void dart_endpoint__path(const struct dart_endpoint *endpoint, struct dart_endpoint_path *path)
{
	dart_cm_connection__path(&endpoint->connection, endpoint->queue.bits_per_s, path);
}

const struct dart_endpoint_accept *dart_endpoint__accept(const struct dart_endpoint *endpoint)
{
	return &endpoint->accept;
}

int dart_endpoint__register(struct dart_endpoint *endpoint, void *memory,
			    size_t size, struct dart_landing **landing)
{
	if (!endpoint->connection.is_connected)
		return -ENOTCONN;
	return dart_landing__register(&endpoint->landings, dart_endpoint__pd(endpoint),
				      memory, size, landing);
}

int dart_endpoint__land_at(struct dart_endpoint *endpoint, const struct dart_landing *landing)
{
	return dart_read_queue__land_at(&endpoint->queue, landing);
}

int dart_endpoint__reserve(struct dart_endpoint *endpoint, size_t size, void **landing)
{
	struct dart_landing *reserved = endpoint->reserved;
	int ret;

	if (!endpoint->connection.is_connected)
		return -ENOTCONN;
	ret = dart_endpoint__land_at(endpoint, NULL);
	if (ret)
		return ret;
	if (!reserved || size > reserved->size) {
		/* First: both together might exceed the locked memory. */
		endpoint->reserved = NULL;
		dart_landing__free(reserved);
		ret = dart_endpoint__register(endpoint, NULL, size, &reserved);
		if (ret)
			return ret;
		endpoint->reserved = reserved;
	}
	*landing = reserved->memory;
	return dart_endpoint__land_at(endpoint, reserved);
}

void dart_endpoint__withhold_mirror(struct dart_endpoint *endpoint)
{
	endpoint->mirror_size = 0;
}

void *dart_endpoint__mirror(const struct dart_endpoint *endpoint, uint32_t *size)
{
	*size = endpoint->mirror.size;
	return endpoint->mirror.memory;
}

void dart_endpoint__cut(struct dart_endpoint *endpoint, uint32_t length)
{
	dart_read_queue__cut(&endpoint->queue, length);
}

int dart_endpoint__begin(struct dart_endpoint *endpoint,
			 const struct dart_read *reads, uint32_t count)
{
	int ret;

	if (!endpoint->connection.is_connected)
		return -ENOTCONN;
	if (!count)
		return -EINVAL;
	ret = dart_read_queue__begin(&endpoint->queue, reads, count);
	if (!ret)
		dart_endpoint__set_reading(endpoint, true);
	return ret;
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
				   const struct dart_read *reads, uint32_t count)
{
	if (!endpoint->connection.is_connected)
		return 0;
	return dart_read_pieces__count(reads, count, endpoint->queue.length_max);
}

int dart_endpoint__explain(const struct dart_endpoint *endpoint, struct dart_error *error)
{
	return dart_read_queue__explain(&endpoint->queue, error);
}

int dart_endpoint__completion_fd(const struct dart_endpoint *endpoint)
{
	return endpoint->connection.is_connected ?
		       dart_endpoint_set__completion_fd(endpoint->set, endpoint->thread) :
		       -1;
}

static void note_result(struct dart_endpoint *endpoint, int result)
{
	/* Not undone by a completion that changes nothing. */
	if (result)
		endpoint->result = result;
}

int dart_endpoint__on_completion(struct dart_endpoint *endpoint, struct dart_error *error)
{
	endpoint->result = 0;
	dart_endpoint_set__on_completion(endpoint->set, endpoint->thread, note_result);
	if (endpoint->result < 0)
		dart_endpoint__explain(endpoint, error);
	return endpoint->result;
}
