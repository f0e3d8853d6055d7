// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shares a protection domain and completion queues among queue pairs: see device_internal.h. */
#include "device_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include <libdart/rdma/verbs.h>

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Completions that one call takes from the device. */
#define COMPLETIONS_MAX 16

/*
 * Room for all operations and receives of the group, which complete when all its queue pairs fail,
 * and for as many of queue pairs that were there before: the thread that posts takes completions
 * while one is adopted, and when it adopts the first one, but some may come in between.
 */
static uint32_t cq_size(const struct dart_device_sizes *sizes)
{
	return 2 * sizes->group * (sizes->depth + sizes->receives);
}

static void device__fit(struct dart_device *device)
{
	struct dart_device_sizes *sizes = &device->sizes;
	const struct ibv_device_attr *attributes = &device->attributes;
	const uint32_t cqe_max = attributes->max_cqe;

	sizes->depth = least(sizes->depth, attributes->max_qp_wr);
	sizes->depth = least(sizes->depth, cqe_max / 2) ?: 1;
	sizes->receives = least(sizes->receives, attributes->max_qp_wr);
	while (sizes->group > 1 && cq_size(sizes) > cqe_max)
		sizes->group--;
}

static void queue_group__free(struct dart_queue_group *group)
{
	LIST_REMOVE(group, place);
	if (group->cq)
		ibv_destroy_cq(group->cq);
	dart_slots__close(&group->slots);
	dart_numbers__give_back(group->numbers, group->number);
	free(group);
}

static void channel__close(struct dart_channel *channel)
{
	struct dart_queue_group *group;

	while ((group = LIST_FIRST(&channel->groups)))
		queue_group__free(group);
	if (channel->channel)
		ibv_destroy_comp_channel(channel->channel);
}

static int channel__open(struct dart_channel *channel, struct ibv_context *verbs,
			 struct dart_thread *thread)
{
	int flags;

	channel->thread = thread;
	channel->channel = ibv_create_comp_channel(verbs);
	if (!channel->channel)
		return -errno;
	flags = fcntl(channel->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(channel->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

static void device__free(struct dart_device *device)
{
	uint32_t i;

	LIST_REMOVE(device, place);
	for (i = 0; i < device->thread_count; i++)
		channel__close(&device->channels[i]);
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	free(device);
}

static int device__open(struct dart_device *device, struct dart_thread *threads)
{
	uint32_t i;
	int ret;

	ret = ibv_query_device(device->verbs, &device->attributes);
	if (ret)
		return -ret;
	device__fit(device);
	device->pd = ibv_alloc_pd(device->verbs);
	if (!device->pd)
		return -errno;
	for (i = 0; !ret && i < device->thread_count; i++)
		ret = channel__open(&device->channels[i], device->verbs, &threads[i]);
	return ret;
}

int dart_device__get(struct dart_devices *devices, struct ibv_context *verbs,
		     struct dart_thread *threads, uint32_t thread_count,
		     const struct dart_device_sizes *sizes, struct dart_device **devicep)
{
	struct dart_device *device;
	int ret = 0;

	LIST_FOREACH(device, devices, place) {
		if (device->verbs == verbs)
			break;
	}
	if (!device) {
		device = calloc(1, sizeof(*device) + thread_count * sizeof(*device->channels));
		if (!device)
			return -ENOMEM;
		LIST_INSERT_HEAD(devices, device, place);
		device->verbs = verbs;
		device->sizes = *sizes;
		device->thread_count = thread_count;
		ret = device__open(device, threads);
	}
	if (ret) {
		device__free(device);
		return ret;
	}
	device->queue_pairs++;
	*devicep = device;
	return 0;
}

void dart_device__put(struct dart_device *device)
{
	if (!--device->queue_pairs)
		device__free(device);
}

static int queue_group__new(struct dart_device *device, struct dart_channel *channel,
			    struct dart_numbers *numbers, struct dart_queue_group **groupp)
{
	struct dart_queue_group *group = calloc(1, sizeof(*group));
	int ret;

	if (!group)
		return -ENOMEM;
	ret = dart_numbers__take(numbers, &group->number);
	if (ret) {
		free(group);
		return ret;
	}
	LIST_INSERT_HEAD(&channel->groups, group, place);
	group->channel = channel;
	group->numbers = numbers;
	ret = dart_slots__open(&group->slots, device->sizes.group);
	if (!ret) {
		group->cq = ibv_create_cq(device->verbs, cq_size(&device->sizes), group,
					  channel->channel, 0);
		if (!group->cq)
			ret = -errno;
	}
	if (ret)
		queue_group__free(group);
	else
		*groupp = group;
	return ret;
}

int dart_device__join(struct dart_device *device, uint32_t thread, struct dart_numbers *numbers,
		      struct dart_queue_group **groupp, uint64_t *number)
{
	struct dart_channel *channel = &device->channels[thread];
	struct dart_queue_group *group;
	int ret;

	LIST_FOREACH(group, &channel->groups, place) {
		*number = dart_slots__take(&group->slots);
		if (*number != DART_SLOTS_NONE) {
			*groupp = group;
			return 0;
		}
	}
	ret = queue_group__new(device, channel, numbers, &group);
	if (ret)
		return ret;
	*number = dart_slots__take(&group->slots);
	*groupp = group;
	return 0;
}

void dart_queue_group__quit(struct dart_queue_group *group, uint64_t number)
{
	dart_slots__give_back(&group->slots, number);
}

static int channel__watch(struct dart_channel *channel, int operation)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.ptr = channel,
	};

	if (channel->thread->polls)
		return 0;
	return epoll_ctl(channel->thread->epoll, operation, channel->channel->fd, &event) ? -errno :
											    0;
}

int dart_queue_group__arm(struct dart_queue_group *group)
{
	int ret;

	if (group->is_armed || group->channel->thread->polls)
		return 0;
	ret = ibv_req_notify_cq(group->cq, 0);
	group->is_armed = !ret;
	return dart_verbs__result(ret);
}

/* Drops completions of a group without adopted queue pairs: nobody waits for them. */
static void queue_group__empty(struct dart_queue_group *group)
{
	struct ibv_wc completions[COMPLETIONS_MAX];

	while (ibv_poll_cq(group->cq, COMPLETIONS_MAX, completions) == COMPLETIONS_MAX)
		;
}

int dart_queue_group__adopt(struct dart_queue_group *group, uint64_t number, void *user)
{
	struct dart_channel *channel = group->channel;
	int ret;

	if (channel->is_broken)
		return -ENODEV;
	if (!group->adopted)
		queue_group__empty(group);
	ret = dart_queue_group__arm(group);
	if (!ret && !channel->adopted)
		ret = channel__watch(channel, EPOLL_CTL_ADD);
	if (ret)
		return ret;
	channel->adopted++;
	if (!group->adopted++) {
		channel->adopted_groups++;
		LIST_INSERT_HEAD(&channel->thread->groups, group, adopted_place);
	}
	dart_slots__enter(&group->slots, number, user);
	return 0;
}

void dart_queue_group__leave(struct dart_queue_group *group, uint64_t number)
{
	struct dart_channel *channel = group->channel;

	dart_slots__leave(&group->slots, number);
	if (!--group->adopted) {
		channel->adopted_groups--;
		LIST_REMOVE(group, adopted_place);
	}
	if (!--channel->adopted && !channel->is_broken)
		channel__watch(channel, EPOLL_CTL_DEL);
}

void dart_channel__break(struct dart_channel *channel)
{
	channel->is_broken = true;
	channel__watch(channel, EPOLL_CTL_DEL);
}
