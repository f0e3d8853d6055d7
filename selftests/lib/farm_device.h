/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects that all hosts of the farm share: one RDMA device, on it a protection domain, a
 * completion queue and a receive queue that stay empty, and one channel for the events of
 * all listeners and connections.
 */
#ifndef FARM_DEVICE_H
#define FARM_DEVICE_H

#include <rdma/rdma_cma.h>

#include <libdart/error.h>

struct farm_device {
	struct ibv_context **devices;	/* of librdmacm */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct rdma_event_channel *channel;	/* does not block */
	uint8_t reads_max;		/* in flight from a peer */
};

/* The first device of this machine. */
int farm_device__open(struct farm_device *device, struct dart_error *error);
/* After all that was opened on it. */
void farm_device__close(struct farm_device *device);

/* Reads and forgets the asynchronous events of the device; -ENODEV once the device failed. */
int farm_device__drain(struct farm_device *device);

/* For READs; NULL and errno on error. */
struct ibv_mr *farm_device__expose(const struct farm_device *device, void *memory, size_t length);

#endif /* FARM_DEVICE_H */
