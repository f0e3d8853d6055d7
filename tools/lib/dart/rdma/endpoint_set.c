// SPDX-License-Identifier: LGPL-2.1-or-later
/* The channels, devices and threads that endpoints share: see endpoint_set.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <libdart/rdma/endpoint_internal.h>

#define DEVICE_FILES "/dev/infiniband"

/*
 * The kernel removes the file of a device before it waits for processes that hold it open.  Only
 * this event reports the removal of a device without a connection.  Without the watch, the removal
 * waits until the program ends.
 */
static void set__open_watch(struct dart_endpoint_set *set)
{
	struct epoll_event event = { .events = EPOLLIN };

	set->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (set->watch < 0)
		return;
	if (inotify_add_watch(set->watch, DEVICE_FILES, IN_DELETE | IN_ONLYDIR) >= 0 &&
	    !epoll_ctl(set->epoll, EPOLL_CTL_ADD, set->watch, &event))
		return;
	close(set->watch);
	set->watch = -1;
}

static void set__on_removal(struct dart_endpoint_set *set, const char *node)
{
	struct dart_device *device;

	LIST_FOREACH(device, &set->devices, place) {
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
	char buffer[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
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

int dart_endpoint_set__open_channel(struct dart_endpoint_set *set, struct dart_error *error)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct rdma_event_channel *channel;
	int ret;

	if (set->channel)
		return 0;
	ret = dart_cm_channel__open(&channel, error);
	if (ret)
		return ret;
	if (epoll_ctl(set->epoll, EPOLL_CTL_ADD, channel->fd, &event)) {
		ret = dart_error__system(error, errno,
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
		return dart_error__system(error, errno, "cannot wait for completions");
	if (dart_read_scratch__open(&thread->scratch, depth))
		return dart_error__no_memory(error);
	return 0;
}

int dart_endpoint_set__new(const struct dart_endpoint_sizes *sizes, struct dart_endpoint_set **setp,
			   struct dart_error *error)
{
	const uint32_t threads = sizes->threads;
	struct dart_endpoint_set *set;
	uint32_t i;
	int ret = 0;

	if (!threads || threads > DART_ENDPOINT_THREADS || sizes->group > DART_SLOTS_MAX)
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
		ret = dart_error__system(error, errno, "cannot wait for connections");
	for (i = 0; !ret && i < threads; i++)
		ret = thread__open(&set->threads[i], set->sizes.depth, sizes->polling >> i & 1,
				   error);
	if (ret) {
		dart_endpoint_set__free(set);
		return ret;
	}
	*setp = set;
	return 0;
}

void dart_endpoint_set__mark(struct dart_endpoint_set *set, uint8_t dscp)
{
	set->dscp = dscp;
}

void dart_endpoint_set__offer_mirrors(struct dart_endpoint_set *set, uint32_t size)
{
	set->mirror_size = size;
	set->sizes.receives = DART_MIRROR_UPDATES;
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

int dart_endpoint_set__connection_fd(const struct dart_endpoint_set *set)
{
	return set->epoll;
}

int dart_endpoint_set__completion_fd(const struct dart_endpoint_set *set, uint32_t thread)
{
	return set->threads[thread].epoll;
}
