/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection of a peer: a queue pair that serves READs. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <rdma/rdma_cma.h>
#include <sys/queue.h>

#include <libdart/error.h>

#include "agent/base/peer_kind.h"
#include "peer_qp.h"

struct connection {
	TAILQ_ENTRY(connection) link;
	struct rdma_cm_id *id;
	struct peer_qp peer_qp;
	const struct peer_kind *kind;
	struct peer_counts *counts;	/* of its kind */
	struct peer_object *object;	/* of the offer */
	int64_t established;	/* ns, CLOCK_BOOTTIME; 0: not yet */
	char peer[80];		/* address and port */
};

TAILQ_HEAD(connections, connection);

/*
 * Accepts the connect request of @id.  The connection then owns @id; on error
 * the caller does.  @reads: READs in flight that the peer asks for.  If the queue
 * pair fails, @failures has an event with the connection as its context.
 */
int connection__accept(struct rdma_cm_id *id, uint8_t reads,
		       const struct device *device,
		       struct ibv_comp_channel *failures,
		       const struct peer_kind *kind,
		       const struct peer_offer *offer,
		       struct connection **connection,
		       struct dart_error *error);
/* Disconnects first.  All events of the id must have been acknowledged. */
void connection__free(struct connection *connection);

/* Writes the address and port of the peer of @id. */
void connection__name_peer(struct rdma_cm_id *id, char *name, size_t size);

#endif /* CONNECTION_H */
