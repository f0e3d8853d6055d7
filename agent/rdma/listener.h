/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The listener: takes connect requests of controllers, and of readers of stores,
 * through the RDMA CM.
 */
#ifndef LISTENER_H
#define LISTENER_H

#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>
#include "agent/store/stores.h"
#include "agent/table/control_region.h"
#include "connection.h"
#include "device.h"

struct listener {
	const struct device *device;
	const struct control_region *control_region;
	const struct stores *stores;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	sd_event_source *events;
	struct connections connections;
};

int listener__open(struct listener *listener, sd_event *loop, uint16_t port,
		   const struct device *device,
		   const struct control_region *control_region,
		   const struct stores *stores, struct dart_error *error);
void listener__close(struct listener *listener);

/* Ends the connections of the readers of @store. */
void listener__hang_up(struct listener *listener, const struct store *store);

#endif /* LISTENER_H */
