// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shares channels, protection domains and completion queues: see endpoint_set.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <libdart/rdma/endpoint_internal.h>

/* Events of connections that are handled before the caller looks at others. */
#define EVENTS_MAX 64
/* Completions that one call takes from the device. */
#define COMPLETIONS_MAX 16
/* Completion channels that one system call tells of: those of so many devices. */
#define CHANNELS_MAX 8
/* Groups of a device with an event that are looked at before others, and messages. */
#define GROUPS_MAX 16

#define DEVICE_FILES "/dev/infiniband"

/*
 * The kernel removes the file of a device before it waits for processes that have it open.  Only
 * this event reports the removal of a device without a connection.  Without the watch, the removal
 * waits until the program ends.
 */
static void set__open_watch(struct dart_endpoint_set *set)
{
	struct epoll_event event = { .events = EPOLLIN };

	set->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (set->watch < 0)
		return;
	if (inotify_add_watch(set->watch, DEVICE_FILES,
			      IN_DELETE | IN_ONLYDIR) >= 0 &&
	    !epoll_ctl(set->epoll, EPOLL_CTL_ADD, set->watch, &event))
		return;
	close(set->watch);
	set->watch = -1;
}

static void set__on_removal(struct dart_endpoint_set *set, const char *node)
{
	struct dart_device *device;

	LIST_FOREACH(device, &set->devices, place)
	{
		if (!strcmp(device->verbs->device->dev_name, node))
			break;
	}
	/* The last endpoint of the device closes it. */
	if (device)
		device->is_removed = true;
	else
		dart_cm_contexts__let_go(&set->contexts, node);
}

void dart_endpoint_set__take_removals(struct dart_endpoint_set *set)
{
	char buffer[4096]
		__attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *event;
	ssize_t length, at;

	if (set->watch < 0)
		return;
	while ((length = read(set->watch, buffer, sizeof(buffer))) > 0) {
		for (at = 0; at < length; at += sizeof(*event) + event->len) {
			event = (const struct inotify_event *)(buffer + at);
			if (event->len && event->mask & IN_DELETE)
				set__on_removal(set, event->name);
		}
	}
}

int dart_endpoint_set__open_channel(struct dart_endpoint_set *set,
				    struct dart_error *error)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct rdma_event_channel *channel;
	int flags, ret;

	if (set->channel)
		return 0;
	channel = rdma_create_event_channel();
	if (!channel)
		return dart_error__set(
			error, errno,
			"cannot open the RDMA connection manager: %s (modprobe rdma_ucm)",
			strerror(errno));
	flags = fcntl(channel->fd, F_GETFL);
	if (flags < 0 || fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    epoll_ctl(set->epoll, EPOLL_CTL_ADD, channel->fd, &event)) {
		ret = dart_error__system(
			error, errno,
			"cannot wait for the RDMA connection manager");
		rdma_destroy_event_channel(channel);
		return ret;
	}
	set->channel = channel;
	set__open_watch(set);
	return 0;
}

static int thread__open(struct dart_thread *thread, uint32_t depth, bool polls,
			struct dart_error *error)
{
	thread->polls = polls;
	thread->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (thread->epoll < 0)
		return dart_error__system(error, errno,
					  "cannot wait for completions");
	if (dart_read_scratch__open(&thread->scratch, depth))
		return dart_error__no_memory(error);
	return 0;
}

int dart_endpoint_set__new(const struct dart_endpoint_sizes *sizes,
			   struct dart_endpoint_set **setp,
			   struct dart_error *error)
{
	const uint32_t threads = sizes->threads;
	struct dart_endpoint_set *set;
	uint32_t i;
	int ret = 0;

	if (!threads || threads > DART_ENDPOINT_THREADS ||
	    sizes->group > DART_SLOTS_MAX)
		return dart_error__set(
			error, EINVAL,
			"a set of endpoints has 1 to %u threads, and groups of at most %u",
			DART_ENDPOINT_THREADS, DART_SLOTS_MAX);
	set = calloc(1, sizeof(*set) + threads * sizeof(*set->threads));
	if (!set)
		return dart_error__no_memory(error);
	set->sizes.group = sizes->group ?: DART_ENDPOINT_GROUP;
	set->sizes.depth = sizes->depth ?: DART_ENDPOINT_DEPTH;
	set->thread_count = threads;
	set->watch = -1;
	for (i = 0; i < threads; i++)
		set->threads[i].epoll = -1;
	set->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll < 0)
		ret = dart_error__system(error, errno,
					 "cannot wait for connections");
	for (i = 0; !ret && i < threads; i++)
		ret = thread__open(&set->threads[i], set->sizes.depth,
				   sizes->polling >> i & 1, error);
	if (ret) {
		dart_endpoint_set__free(set);
		return ret;
	}
	*setp = set;
	return 0;
}

void dart_endpoint_set__free(struct dart_endpoint_set *set)
{
	uint32_t i;

	if (!set)
		return;
	for (i = 0; i < set->thread_count; i++) {
		if (set->threads[i].epoll >= 0)
			close(set->threads[i].epoll);
		dart_read_scratch__close(&set->threads[i].scratch);
	}
	if (set->channel)
		rdma_destroy_event_channel(set->channel);
	if (set->watch >= 0)
		close(set->watch);
	dart_cm_contexts__close(&set->contexts);
	if (set->epoll >= 0)
		close(set->epoll);
	dart_numbers__close(&set->groups);
	free(set);
}

int dart_endpoint_set__connect(struct dart_endpoint_set *set, uint32_t thread,
			       const char *host, uint16_t port, void *user,
			       struct dart_endpoint **endpointp,
			       struct dart_error *error)
{
	struct dart_endpoint *endpoint = calloc(1, sizeof(*endpoint));
	int ret;

	if (!endpoint)
		return dart_error__no_memory(error);
	endpoint->set = set;
	endpoint->thread = thread;
	endpoint->user = user;
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

int dart_endpoint_set__connection_fd(const struct dart_endpoint_set *set)
{
	return set->epoll;
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
		/* First: to destroy an identifier is to wait for this. */
		rdma_ack_cm_event(event);
		if (result != DART_ENDPOINT_NOTHING)
			handler(endpoint, result, &error);
	}
	return 0;
}

int dart_endpoint__adopt(struct dart_endpoint *endpoint)
{
	int ret;

	ret = dart_queue_group__adopt(endpoint->group, endpoint->number,
				      endpoint);
	endpoint->is_adopted = !ret;
	return ret;
}

void dart_endpoint__leave(struct dart_endpoint *endpoint)
{
	if (!endpoint->is_adopted)
		return;
	dart_endpoint__set_reading(endpoint, false);
	dart_queue_group__leave(endpoint->group, endpoint->number);
	endpoint->is_adopted = false;
}

uint32_t dart_endpoint__group(const struct dart_endpoint *endpoint)
{
	return endpoint->group->number;
}

int dart_endpoint_set__completion_fd(const struct dart_endpoint_set *set,
				     uint32_t thread)
{
	return set->threads[thread].epoll;
}

static void endpoint__complete(struct dart_endpoint *endpoint,
			       enum ibv_wc_status status,
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

/* The completion queue does not work any more. */
static void queue_group__fail(struct dart_queue_group *group, const char *step,
			      int error,
			      dart_endpoint_completion_handler *handler)
{
	struct dart_endpoint *endpoint;
	uint32_t i;

	for (i = 0; i < group->slots.count; i++) {
		endpoint = group->slots.users[i].user;
		if (!endpoint || endpoint->queue.has_failed)
			continue;
		dart_endpoint__set_reading(endpoint, false);
		handler(endpoint,
			dart_read_queue__fail(&endpoint->queue, step, error));
	}
}

static void queue_group__poll(struct dart_queue_group *group,
			      dart_endpoint_completion_handler *handler)
{
	struct ibv_wc completions[COMPLETIONS_MAX];
	struct dart_endpoint *endpoint;
	int i, n;

	do {
		n = ibv_poll_cq(group->cq, COMPLETIONS_MAX, completions);
		for (i = 0; i < n; i++) {
			endpoint = dart_slots__find(&group->slots,
						    completions[i].wr_id);
			if (endpoint)
				endpoint__complete(endpoint,
						   completions[i].status,
						   handler);
		}
	} while (n == COMPLETIONS_MAX);
	if (n < 0)
		queue_group__fail(group, "the completion queue is broken", -EIO,
				  handler);
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
	LIST_FOREACH(group, &channel->thread->groups, adopted_place)
	{
		if (group->channel == channel)
			queue_group__fail(group, "the RDMA device was removed",
					  error, handler);
	}
}

/* Each group has an event at most, and the last one need not be looked for. */
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

void dart_endpoint_set__on_completion(struct dart_endpoint_set *set,
				      uint32_t thread,
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

	LIST_FOREACH(group, &own->groups, adopted_place)
	{
		if (group->reading)
			queue_group__poll(group, handler);
	}
	return own->reading;
}
