/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection of a controller to a host of the farm: a queue pair that serves READs. */
#ifndef FARM_CONNECTION_H
#define FARM_CONNECTION_H

#include <stdbool.h>
#include <sys/queue.h>

#include <dart/control.h>

#include "farm_device.h"

struct farm_connection {
	TAILQ_ENTRY(farm_connection) link;
	struct farm_connections *list;
	struct rdma_cm_id *id;	/* its context is this connection */
	bool is_established;
};

TAILQ_HEAD(farm_connections, farm_connection);

/* Are these the private data of a controller? */
bool farm_connection__is_asked(const struct rdma_conn_param *asked);

/*
 * Accepts the request of @id, which asked for @reads READs in flight, with @offer, and adds
 * the connection to @list.  It owns @id then; the caller does after an error, -errno.
 */
int farm_connection__accept(struct farm_connections *list, const struct farm_device *device,
			    struct rdma_cm_id *id, uint8_t reads, struct dart_control_accept offer);
/* Disconnects, unless the host vanished. */
void farm_connection__free(struct farm_connection *connection);
/* Answers nothing from now on; the controller is not told. */
void farm_connection__vanish(struct farm_connection *connection);

#endif /* FARM_CONNECTION_H */
