/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair of a connected peer.  It serves READs, reports its failure, can find out whether
 * the peer still answers, and WRITEs updates of the peer's mirror if there is one.
 */
#ifndef PEER_QP_H
#define PEER_QP_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "agent/base/mirror.h"
#include "device.h"

struct peer_qp {
	struct ibv_qp *queue_pair;
	/*
	 * A receive is posted for which no peer sends anything: it completes when
	 * the queue pair enters the error state (IBTA 10.3.1.6), or when the
	 * peer sends something all the same.
	 */
	struct ibv_cq *received;
	/*
	 * Probes of the peer, and updates.  Without a mirror no event: a failure is an error, too.
	 */
	struct ibv_cq *sent;
	bool is_probed;		/* a probe waits for its answer */
	bool is_updating;	/* an update is on its way */
	bool is_awaited;	/* its end is an event, because a later update waits for it */
	bool has_update_failed;	/* that is why the queue pair has */
	enum ibv_wc_status status;	/* of a probe or an update that failed */
};

/*
 * Opens the queue pair for the connect request of @id; READs in flight: @reads; @has_mirror: it
 * may get updates.  A failure, or the end of an update that is awaited, is an event of @channel
 * with @context.  -errno.
 */
int peer_qp__open(struct peer_qp *peer_qp, const struct device *device,
		  struct ibv_pd *pd, struct rdma_cm_id *id, uint8_t reads, bool has_mirror,
		  struct ibv_comp_channel *channel, void *context);
/* All events of the channel must have been acknowledged. */
void peer_qp__close(struct peer_qp *peer_qp);

/*
 * Sends a WRITE of no bytes, which the peer's adapter acknowledges, unless one is
 * in flight.  If neither it nor its retries are acknowledged, the queue pair fails
 * after PEER_QP_PROBE_MS; some adapters need up to four times as long.
 */
int peer_qp__probe(struct peer_qp *peer_qp);

/* 4.096 us * 2^17 for each of 7 tries (IBTA 9.7.6.1.3) */
#define PEER_QP_PROBE_MS 3800

/*
 * Begins to WRITE the changes of the table to @mirror; none is on its way.  The generation of the
 * mirror is then the one of the table.  Returns 0 or -errno.
 */
int peer_qp__update(struct peer_qp *peer_qp, struct mirror *mirror);

/*
 * True if an update is on its way; then its end is an event.  The end of an update wakes dartd only
 * after this call.
 */
bool peer_qp__awaits_update(struct peer_qp *peer_qp);

/* After an event: says why the queue pair has failed, NULL if it has not. */
const char *peer_qp__serve(struct peer_qp *peer_qp);

#endif /* PEER_QP_H */
