// SPDX-License-Identifier: GPL-2.0-only
/* Opens the RDMA device that all hosts of the farm share. */
#include <errno.h>
#include <fcntl.h>

#include "farm_device.h"

/* READs in flight that an agent grants a peer. */
#define READS_MAX 16

static int unblock(int fd)
{
	const int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

static int farm_device__choose(struct farm_device *device, struct dart_error *error)
{
	struct ibv_device_attr attributes;
	int ret;

	device->devices = rdma_get_devices(NULL);
	if (!device->devices || !*device->devices)
		return dart_error__set(error, ENODEV, "this machine has no RDMA device");
	device->context = *device->devices;
	ret = -ibv_query_device(device->context, &attributes);
	if (!ret)
		ret = unblock(device->context->async_fd);
	if (ret)
		return dart_error__system(error, -ret, "cannot query the RDMA device");
	device->reads_max = attributes.max_qp_rd_atom < READS_MAX ? attributes.max_qp_rd_atom :
								    READS_MAX;
	return 0;
}

int farm_device__open(struct farm_device *device, struct dart_error *error)
{
	struct ibv_srq_init_attr nothing = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};
	int ret;

	*device = (struct farm_device){};
	ret = farm_device__choose(device, error);
	if (ret)
		goto close;

	device->pd = ibv_alloc_pd(device->context);
	if (device->pd)
		device->cq = ibv_create_cq(device->context, 1, NULL, NULL, 0);
	if (device->cq)
		device->srq = ibv_create_srq(device->pd, &nothing);
	if (device->srq)
		device->channel = rdma_create_event_channel();
	ret = device->channel ? unblock(device->channel->fd) : -errno;
	if (!ret)
		return 0;
	ret = dart_error__system(error, -ret, "cannot use RDMA device %s",
				 ibv_get_device_name(device->context->device));
close:
	farm_device__close(device);
	return ret;
}

void farm_device__close(struct farm_device *device)
{
	if (device->channel)
		rdma_destroy_event_channel(device->channel);
	if (device->srq)
		ibv_destroy_srq(device->srq);
	if (device->cq)
		ibv_destroy_cq(device->cq);
	if (device->pd)
		ibv_dealloc_pd(device->pd);
	if (device->devices)
		rdma_free_devices(device->devices);
}

int farm_device__drain(struct farm_device *device)
{
	enum ibv_event_type type;
	struct ibv_async_event event;

	while (!ibv_get_async_event(device->context, &event)) {
		type = event.event_type;
		ibv_ack_async_event(&event);
		if (type == IBV_EVENT_DEVICE_FATAL)
			return -ENODEV;
	}
	return 0;
}

struct ibv_mr *farm_device__expose(const struct farm_device *device, void *memory, size_t length)
{
	return ibv_reg_mr(device->pd, memory, length, IBV_ACCESS_REMOTE_READ);
}
