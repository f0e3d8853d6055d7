// SPDX-License-Identifier: LGPL-2.1-or-later
/* Takes the completions of the endpoints that a thread has adopted: see endpoint_set.h. */
#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

#include <libdart/prefetch.h>
#include <libdart/rdma/endpoint_internal.h>

/* Completions that one call takes from the device. */
#define COMPLETIONS_MAX 16
/* Completion channels that one system call reports: one for each device. */
#define CHANNELS_MAX 8
/* Groups of a device with an event that are looked at before others, and messages. */
#define GROUPS_MAX 16

void dart_endpoint__set_reading(struct dart_endpoint *endpoint, bool is)
{
	const int more = is - endpoint->is_reading;

	endpoint->is_reading = is;
	endpoint->group->reading += more;
	endpoint->group->channel->thread->reading += more;
}

int dart_endpoint__await_updates(struct dart_endpoint *endpoint)
{
	const uint32_t used = endpoint->mirror.used;

	endpoint->mirror.used = 0;
	return dart_mirror__post(endpoint->queue.qp, endpoint->number | DART_SLOTS_MARK, used);
}

uint32_t dart_endpoint__take_updates(struct dart_endpoint *endpoint)
{
	const uint32_t updates = endpoint->mirror.updates;

	endpoint->mirror.updates = 0;
	return updates;
}

int dart_endpoint__adopt(struct dart_endpoint *endpoint)
{
	int ret;

	ret = dart_queue_group__adopt(endpoint->group, endpoint->number, endpoint);
	endpoint->is_adopted = !ret;
	/* Not earlier: this thread takes their completions. */
	return ret ?: dart_endpoint__await_updates(endpoint);
}

void dart_endpoint__leave(struct dart_endpoint *endpoint)
{
	if (!endpoint->is_adopted)
		return;
	dart_endpoint__set_reading(endpoint, false);
	dart_queue_group__leave(endpoint->group, endpoint->number);
	endpoint->is_adopted = false;
}

void dart_endpoint__ahead(const struct dart_endpoint *endpoint, unsigned int step)
{
	if (!step) {
		dart_prefetch(endpoint, offsetof(struct dart_endpoint, request));
		return;
	}
	if (step == 1) {
		dart_prefetch(endpoint->group, sizeof(*endpoint->group));
		dart_prefetch(endpoint->queue.landing, sizeof(*endpoint->queue.landing));
		dart_prefetch(endpoint->queue.qp, sizeof(*endpoint->queue.qp));
		return;
	}
	dart_slots__prefetch(&endpoint->group->slots, endpoint->number);
	dart_prefetch(endpoint->group->cq, sizeof(*endpoint->group->cq));
}

uint32_t dart_endpoint__group(const struct dart_endpoint *endpoint)
{
	return endpoint->group->number;
}

static void endpoint__complete(struct dart_endpoint *endpoint, enum ibv_wc_status status,
			       dart_endpoint_completion_handler *handler)
{
	int result;

	if (endpoint->queue.has_failed)
		return;
	result = dart_read_queue__complete(&endpoint->queue, status);
	if (result)
		dart_endpoint__set_reading(endpoint, false);
	handler(endpoint, result);
}

/*
 * The end of an update, or of anything else that the agent sends.  A failure is one of the queue
 * pair, which the next READ or the connection reports.
 */
static void endpoint__update(struct dart_endpoint *endpoint, enum ibv_wc_status status,
			     dart_endpoint_completion_handler *handler)
{
	if (status != IBV_WC_SUCCESS || endpoint->queue.has_failed)
		return;
	endpoint->mirror.used++;
	endpoint->mirror.updates++;
	handler(endpoint, 0);
}

/* The completion queue does not work any more. */
static void queue_group__fail(struct dart_queue_group *group, const char *step, int error,
			      dart_endpoint_completion_handler *handler)
{
	struct dart_endpoint *endpoint;
	uint32_t i;

	for (i = 0; i < group->slots.count; i++) {
		endpoint = group->slots.users[i].user;
		if (!endpoint || endpoint->queue.has_failed)
			continue;
		dart_endpoint__set_reading(endpoint, false);
		handler(endpoint, dart_read_queue__fail(&endpoint->queue, step, error));
	}
}

static void queue_group__poll(struct dart_queue_group *group,
			      dart_endpoint_completion_handler *handler)
{
	struct ibv_wc completions[COMPLETIONS_MAX];
	struct dart_endpoint *endpoint;
	uint64_t number;
	int i, n;

	do {
		n = ibv_poll_cq(group->cq, COMPLETIONS_MAX, completions);
		for (i = 0; i < n; i++) {
			number = completions[i].wr_id & ~DART_SLOTS_MARK;
			endpoint = dart_slots__find(&group->slots, number);
			if (endpoint && completions[i].wr_id & DART_SLOTS_MARK)
				endpoint__update(endpoint, completions[i].status, handler);
			else if (endpoint)
				endpoint__complete(endpoint, completions[i].status, handler);
		}
	} while (n == COMPLETIONS_MAX);
	if (n < 0)
		queue_group__fail(group, "the completion queue is broken", -EIO, handler);
}

static void queue_group__on_event(struct dart_queue_group *group,
				  dart_endpoint_completion_handler *handler)
{
	int ret;

	group->is_armed = false;
	queue_group__poll(group, handler);
	ret = dart_queue_group__arm(group);
	if (ret)
		queue_group__fail(group, "cannot wait for READs", ret, handler);
	/* A completion before the queue is armed makes no event: poll again. */
	queue_group__poll(group, handler);
}

/* Nothing but errors comes from a device that was removed, and these at once. */
static void channel__fail(struct dart_channel *channel, int error,
			  dart_endpoint_completion_handler *handler)
{
	struct dart_queue_group *group;

	dart_channel__break(channel);
	LIST_FOREACH(group, &channel->thread->groups, adopted_place) {
		if (group->channel == channel)
			queue_group__fail(group, "the RDMA device was removed", error, handler);
	}
}

/* Each group raises one event at most, so the loop ends without asking for another. */
static void channel__take_events(struct dart_channel *channel,
				 dart_endpoint_completion_handler *handler)
{
	const uint32_t most = channel->adopted_groups;
	struct ibv_cq *cq;
	void *context;

	for (uint32_t i = 0; i < most && i < GROUPS_MAX; i++) {
		if (ibv_get_cq_event(channel->channel, &cq, &context)) {
			if (errno != EAGAIN && errno != EINTR)
				channel__fail(channel, -errno, handler);
			return;
		}
		ibv_ack_cq_events(cq, 1);
		queue_group__on_event(context, handler);
	}
}

void dart_endpoint_set__on_completion(struct dart_endpoint_set *set, uint32_t thread,
				      dart_endpoint_completion_handler *handler)
{
	struct epoll_event ready[CHANNELS_MAX];
	int i, n;

	n = epoll_wait(set->threads[thread].epoll, ready, CHANNELS_MAX, 0);
	for (i = 0; i < n; i++)
		channel__take_events(ready[i].data.ptr, handler);
}

bool dart_endpoint_set__poll(struct dart_endpoint_set *set, uint32_t thread,
			     dart_endpoint_completion_handler *handler)
{
	const struct dart_thread *own = &set->threads[thread];
	struct dart_queue_group *group;

	LIST_FOREACH(group, &own->groups, adopted_place) {
		if (group->reading)
			queue_group__poll(group, handler);
	}
	return own->reading;
}
