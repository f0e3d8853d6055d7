/* SPDX-License-Identifier: GPL-2.0-only */
/* The connection of a peer: a queue pair that serves READs, or messages. */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <rdma/rdma_cma.h>
#include <sys/queue.h>

#include <libdart/error.h>

#include "agent/base/audience.h"
#include "agent/base/lease.h"
#include "agent/base/peer_kind.h"
#include "message_qp.h"
#include "peer_qp.h"

struct listener;

/* How long a connection may be half-open. */
struct patience {
	struct lease lease;
	struct connection *connection;
	unsigned int leases;	/* leases so far; 0: not waiting */
};

struct connection {
	TAILQ_ENTRY(connection) link;
	struct rdma_cm_id *id;
	/* One of these: */
	bool has_messages;
	struct peer_qp peer_qp;
	struct message_qp message_qp;
	/* Of the listener: */
	struct listener *listener;
	struct patience patience;
	/* For peers with messages: */
	struct lease lease;	/* on the time of an answer */
	bool has_deadline;
	uint32_t deadline_request;	/* the number of the request it began with */
	TAILQ_ENTRY(connection) turn_link;
	bool has_turn;		/* waits for one */
	struct audience_member member;
	struct mirror mirror;
	int64_t update_due_ns;	/* CLOCK_BOOTTIME: no update of the mirror begins before */
	const struct peer_kind *kind;
	struct peer_counts *counts;	/* of its kind */
	struct peer_object *object;	/* of the offer */
	int64_t established;	/* ns, CLOCK_BOOTTIME; 0: not yet */
	char peer[80];		/* address and port */
};

TAILQ_HEAD(connections, connection);

/*
 * Accepts the connect request of @id.  The connection then owns @id; on error the caller does.
 * @reads: READs in flight that the peer asks for.  When the queue pair fails, a message arrives or
 * the peer takes one, @completions gets an event with the connection as its context.
 */
int connection__accept(struct rdma_cm_id *id, uint8_t reads, const struct device *device,
		       struct ibv_comp_channel *completions, const struct peer_kind *kind,
		       const struct peer_offer *offer, struct connection **connection,
		       struct dart_error *error);
/* Disconnects first.  All events of the id must have been acknowledged. */
void connection__free(struct connection *connection);

/*
 * After an event of the queue pair, or again, after the turns of others, if it set @has_more.
 * Returns NULL, or why the connection is to end.
 */
const char *connection__serve(struct connection *connection, bool *has_more);
/* Is there an answer on its way?  Then the time of the peer is limited. */
bool connection__is_busy(const struct connection *connection);
/*
 * Begins an update of the mirror if the table has changed since the last one.  Returns after how
 * many us to call it again, if no event comes first; 0: not necessary; or -errno, after which the
 * mirror gets no more updates.
 */
int64_t connection__update(struct connection *connection);
/* Finds out whether the peer answers, as peer_qp__probe(). */
void connection__probe(struct connection *connection);

/* Writes the address and port of the peer of @id. */
void connection__name_peer(struct rdma_cm_id *id, char *name, size_t size);

#endif /* CONNECTION_H */
