/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the parts of an endpoint, each of which calls only the parts before it:
 * endpoint_set.c, endpoint_completions.c, endpoint_connect.c, endpoint.c.
 */
#ifndef DART_ENDPOINT_MEMBERS_H
#define DART_ENDPOINT_MEMBERS_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include <libdart/rdma/cm_connection_internal.h>
#include <libdart/rdma/cm_contexts.h>
#include <libdart/rdma/device_internal.h>
#include <libdart/rdma/endpoint_set.h>
#include <libdart/rdma/mirror_internal.h>

struct dart_endpoint_set {
	int epoll; /* of the channel: its descriptor is there before the RDMA CM is */
	struct rdma_event_channel *channel; /* NULL before the first endpoint */
	struct dart_devices devices;
	struct dart_cm_contexts contexts; /* of current and earlier devices */
	int watch; /* inotify, for removed device files; -1: not watching */
	struct dart_device_sizes sizes;
	struct dart_numbers groups; /* of queue pairs */
	uint8_t dscp; /* of the packets of new endpoints; 0: the default of the device */
	uint32_t mirror_size; /* bytes, of the mirrors of new endpoints; 0: none */
	uint32_t thread_count;
	struct dart_thread threads[];
};

/* Handles the removals that the watch reports: closes devices that no endpoint uses. */
void dart_endpoint_set__take_removals(struct dart_endpoint_set *set);

struct dart_endpoint {
	struct dart_endpoint_set *set;
	bool owns_set; /* is the only one of it */
	uint32_t thread; /* that posts */
	void *user;
	struct dart_cm_connection connection;
	struct dart_device *device; /* NULL until the route is known */
	struct dart_queue_group *group; /* NULL: the same */
	uint64_t number; /* there */
	struct dart_read_queue queue;
	struct dart_landings landings;
	struct dart_landing *reserved; /* one of them, or NULL */
	uint32_t mirror_size; /* bytes that it offers; 0: no mirror */
	struct dart_mirror mirror; /* once the device is known */
	bool is_adopted;
	bool is_reading; /* counted in its group */
	int result; /* of the completions of an only one */
	uint8_t request[DART_ENDPOINT_REQUEST_MAX];
	uint8_t request_length;
	uint8_t answer[UINT8_MAX];
	uint8_t answer_length;
	bool is_for_control; /* the answer is then @accept */
	struct dart_endpoint_accept accept;
};

/* endpoint_set.c: unless it is open.  Returns 0 or -errno with a sentence. */
int dart_endpoint_set__open_channel(struct dart_endpoint_set *set, struct dart_error *error);

/* The protection domain of its queue pair and of all its memory. */
struct ibv_pd *dart_endpoint__pd(const struct dart_endpoint *endpoint);

/* endpoint_completions.c, in the thread that posts: READs are in flight, or not. */
void dart_endpoint__set_reading(struct dart_endpoint *endpoint, bool is);

/*
 * endpoint_connect.c.  dart_endpoint__handle() never frees the endpoint, so that the event
 * can be acknowledged afterwards.
 */
int dart_endpoint__start(struct dart_endpoint *endpoint, const char *host, uint16_t port,
			 const void *request, size_t length, struct dart_error *error);
int dart_endpoint__start_for_control(struct dart_endpoint *endpoint, const char *host,
				     uint16_t port, struct dart_error *error);
enum dart_endpoint_event dart_endpoint__handle(struct dart_endpoint *endpoint,
					       const struct rdma_cm_event *event,
					       struct dart_error *error);

#endif /* DART_ENDPOINT_MEMBERS_H */
