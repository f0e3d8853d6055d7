/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Shared by the queue pairs of one owner on an RDMA device: a protection domain, and for each
 * thread that posts a completion channel and groups of queue pairs, each with one completion queue.
 * Private to the set of endpoints.
 *
 * Two kinds of threads: one connects, and makes and frees all of this; each of the others posts to
 * the queue pairs that it has adopted.  A thread may be both.
 */
#ifndef DART_DEVICE_H
#define DART_DEVICE_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <sys/queue.h>

#include <libdart/rdma/read_queue_internal.h>
#include <libdart/rdma/slots_internal.h>

/* A thread that posts.  Only this thread uses it, except where a member says otherwise. */
struct dart_thread {
	bool polls; /* no completion queue makes events */
	/*
	 * Of the completion channels of all devices that have adopted queue pairs, so that
	 * no other channel, which the thread that connects may destroy, is touched.
	 */
	int epoll;
	struct dart_read_scratch scratch;
	uint32_t reading; /* queue pairs with READs in flight */
	LIST_HEAD(, dart_queue_group) groups; /* with adopted queue pairs */
};

/* Of one device and thread. */
struct dart_channel {
	struct ibv_comp_channel *channel;
	struct dart_thread *thread;
	LIST_HEAD(, dart_queue_group) groups; /* of the thread that connects */
	/* Of the thread that posts. */
	uint32_t adopted; /* queue pairs */
	uint32_t adopted_groups; /* that these are of */
	bool is_broken; /* not watched any more: the device was removed */
};

struct dart_queue_group {
	/* Of the thread that connects, and constant. */
	LIST_ENTRY(dart_queue_group) place;
	struct dart_channel *channel;
	struct ibv_cq *cq;
	struct dart_numbers *numbers; /* of all groups */
	uint32_t number; /* of this one */
	struct dart_slots slots;
	/* Of the thread that posts. */
	LIST_ENTRY(dart_queue_group) adopted_place;
	uint32_t adopted; /* queue pairs */
	uint32_t reading; /* of them, with READs in flight */
	bool is_armed; /* the first completion makes an event */
};

/* Sizes, the same for all devices of an owner unless they support less. */
struct dart_device_sizes {
	uint32_t group; /* queue pairs of a group */
	uint32_t depth; /* operations of a queue pair */
	uint32_t receives; /* of a queue pair; 0: none */
};

struct dart_device {
	LIST_ENTRY(dart_device) place;
	struct ibv_context *verbs;
	struct ibv_device_attr attributes;
	struct dart_device_sizes sizes;
	struct ibv_pd *pd;
	uint32_t queue_pairs;
	bool is_removed;	/* the kernel waits until the device is closed */
	uint32_t thread_count;
	struct dart_channel channels[];
};

LIST_HEAD(dart_devices, dart_device);

/* In the thread that connects; each returns 0 or -errno. */

/*
 * One more queue pair on the device of @verbs, which is that of an identifier of the RDMA
 * CM.  dart_device__put() takes it back: with the last one the device goes, before the
 * last identifier, with which the RDMA CM may close a device that was removed.
 */
int dart_device__get(struct dart_devices *devices, struct ibv_context *verbs,
		     struct dart_thread *threads, uint32_t thread_count,
		     const struct dart_device_sizes *sizes, struct dart_device **device);
void dart_device__put(struct dart_device *device);

/* A place for a queue pair of @thread; a new group gets one of @numbers. */
int dart_device__join(struct dart_device *device, uint32_t thread, struct dart_numbers *numbers,
		      struct dart_queue_group **group, uint64_t *number);
void dart_queue_group__quit(struct dart_queue_group *group, uint64_t number);

/* In the thread that posts. */

/*
 * Completions of @number belong to @user from now on, until it leaves.  The first user of a group
 * removes completions that earlier queue pairs left in the queue.  Returns 0 or -errno.
 */
int dart_queue_group__adopt(struct dart_queue_group *group, uint64_t number, void *user);
void dart_queue_group__leave(struct dart_queue_group *group, uint64_t number);
/* The thread gets no event of a completion any more; adopted queue pairs have to leave. */
void dart_channel__break(struct dart_channel *channel);
/* The next completion makes an event.  Returns 0 or -errno. */
int dart_queue_group__arm(struct dart_queue_group *group);

#endif /* DART_DEVICE_H */
