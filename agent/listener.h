/* SPDX-License-Identifier: GPL-2.0-only */
/* The listener: takes connect requests of controllers through the RDMA CM. */
#ifndef LISTENER_H
#define LISTENER_H

#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "connection.h"
#include "device.h"
#include "publication.h"
#include "why.h"

struct listener {
	const struct device *device;
	const struct publication *publication;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	sd_event_source *events;
	struct connections connections;
	uint32_t established;	/* connections */
};

int listener__open(struct listener *listener, sd_event *loop, uint16_t port,
		   const struct device *device,
		   const struct publication *publication, struct why *why);
void listener__close(struct listener *listener);

#endif /* LISTENER_H */
