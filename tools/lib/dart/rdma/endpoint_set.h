/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Endpoints of one owner that share costly objects: one event channel for the connections of all,
 * and for each RDMA device one protection domain, and a completion queue for each group of queue
 * pairs.  So the number of descriptors does not grow with that of endpoints.
 *
 * One thread makes, connects and frees endpoints and registers memory.  Each endpoint belongs to
 * one of the set's other threads, which posts its READs and takes their completions, between
 * dart_endpoint__adopt() and dart_endpoint__leave(): only there may it call
 * dart_endpoint__land_at(), read(), begin(), post() and take_completed().  A program may be both
 * threads at once.
 */
#ifndef DART_ENDPOINT_SET_H
#define DART_ENDPOINT_SET_H

#include <stdbool.h>

#include "endpoint.h"

struct dart_endpoint_set;

#define DART_ENDPOINT_GROUP 64 /* queue pairs that share a completion queue */
/*
 * Operations of a queue pair, at most in flight: as many as an adapter works at, about.  The
 * ring of soft-RoCE keeps one slot free, and the number of its slots is a power of two.
 */
#define DART_ENDPOINT_DEPTH 15
#define DART_ENDPOINT_THREADS 32 /* that post, at most */

struct dart_endpoint_sizes {
	uint32_t group; /* 0: DART_ENDPOINT_GROUP; less if the device supports less */
	uint32_t depth; /* 0: DART_ENDPOINT_DEPTH; the same */
	uint32_t threads; /* that post, from 1 to DART_ENDPOINT_THREADS */
	uint32_t polling; /* bit N: thread N polls, and never waits for an event */
};

/* Returns 0, or sets @error and returns -errno. */
int dart_endpoint_set__new(const struct dart_endpoint_sizes *sizes, struct dart_endpoint_set **set,
			   struct dart_error *error);
/*
 * The packets of endpoints that connect from now on, and the responses of agents to them, get this
 * differentiated services code point, from 1 to 63.  0: the default of the device, which
 * administrators set in configfs (rdma_cm/DEVICE/ports/1/default_roce_tos).
 */
void dart_endpoint_set__mark(struct dart_endpoint_set *set, uint8_t dscp);
/*
 * Endpoints of the set offer their agents a mirror of @size bytes, a multiple of
 * DART_CONTROL_BLOCK and at most DART_CONTROL_MIRROR_MAX, see <dart/control.h>.  To be called
 * before the first endpoint connects.
 */
void dart_endpoint_set__offer_mirrors(struct dart_endpoint_set *set, uint32_t size);
/* Directly after dart_endpoint_set__connect(): this endpoint offers none, to an older agent. */
void dart_endpoint__withhold_mirror(struct dart_endpoint *endpoint);
/* All endpoints have been freed.  NULL is allowed. */
void dart_endpoint_set__free(struct dart_endpoint_set *set);

/*
 * As dart_endpoint__connect(), for @thread.  dart_endpoint__user() returns @user.
 */
int dart_endpoint_set__connect(struct dart_endpoint_set *set, uint32_t thread, const char *host,
			       uint16_t port, void *user, struct dart_endpoint **endpoint,
			       struct dart_error *error);
void *dart_endpoint__user(const struct dart_endpoint *endpoint);

/* May free @endpoint, and any other one.  @error is set unless it is CONNECTED. */
typedef void dart_endpoint_connection_handler(struct dart_endpoint *endpoint,
					      enum dart_endpoint_event event,
					      const struct dart_error *error);

/*
 * Readable when dart_endpoint_set__on_connection() has events to handle; it calls @handler for the
 * events that dart_endpoint__on_connection() would return, and returns 0, or -errno if the RDMA CM
 * has failed.
 */
int dart_endpoint_set__connection_fd(const struct dart_endpoint_set *set);
int dart_endpoint_set__on_connection(struct dart_endpoint_set *set,
				     dart_endpoint_connection_handler *handler);

/*
 * In the thread of the endpoint, once it is CONNECTED. Returns 0 or -errno.  After
 * dart_endpoint__leave() no completion calls a handler, and the thread that connects may free the
 * endpoint.  A thread takes completions as long as it has adopted endpoints of a group, and takes
 * the completions that are left when it adopts the first one, so that endpoints that were freed do
 * not fill the completion queue.
 */
int dart_endpoint__adopt(struct dart_endpoint *endpoint);
void dart_endpoint__leave(struct dart_endpoint *endpoint);

/*
 * In the thread that posts.  Asks for the memory that READs of the endpoint need, so that the thread
 * waits once for that of several endpoints: first with the @step 0 for all of them, which reads no
 * memory, then with 1 and 2.
 */
void dart_endpoint__ahead(const struct dart_endpoint *endpoint, unsigned int step);

/*
 * Which group of queue pairs it is in, from 0 in the set; once it is CONNECTED. Another group gets
 * the number once all endpoints on the device have gone.
 */
uint32_t dart_endpoint__group(const struct dart_endpoint *endpoint);

/*
 * The mirror, and its bytes; NULL: there is none.  The agent may change it at any time: copy,
 * check, use.  Once the endpoint is CONNECTED.
 */
void *dart_endpoint__mirror(const struct dart_endpoint *endpoint, uint32_t *size);
/*
 * In the thread that posts.  The number of updates that ended since the last call; after each one a
 * completion handler is called with the result 0.  After a few updates, others wait for
 * dart_endpoint__await_updates(), so that an agent cannot keep this thread busy.  That returns 0,
 * or an error of ibv_post_recv(), after which the endpoint can only be freed.
 */
uint32_t dart_endpoint__take_updates(struct dart_endpoint *endpoint);
int dart_endpoint__await_updates(struct dart_endpoint *endpoint);

/*
 * @result is that of dart_endpoint__on_completion(); dart_endpoint__explain() tells why it
 * is an error.  May post READs of any endpoint of the thread, but lets none of them leave.
 */
typedef void dart_endpoint_completion_handler(struct dart_endpoint *endpoint, int result);

/*
 * Takes the completions of @thread: when the descriptor is readable, or, of a thread that polls, at
 * any time and without a system call.  The latter returns whether READs are still in flight.
 */
int dart_endpoint_set__completion_fd(const struct dart_endpoint_set *set, uint32_t thread);
void dart_endpoint_set__on_completion(struct dart_endpoint_set *set, uint32_t thread,
				      dart_endpoint_completion_handler *handler);
bool dart_endpoint_set__poll(struct dart_endpoint_set *set, uint32_t thread,
			     dart_endpoint_completion_handler *handler);

#endif /* DART_ENDPOINT_SET_H */
