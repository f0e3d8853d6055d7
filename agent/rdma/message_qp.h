/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair of a peer that sends requests and gets messages: it grants no remote access, and
 * its protection domain contains no memory of entries.  It posts a receive for one request, and
 * sends messages from a few buffers; dartd runs when a request arrives, and when a buffer comes
 * free that a message waits for.
 */
#ifndef MESSAGE_QP_H
#define MESSAGE_QP_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/base/peer_kind.h"
#include "device.h"

/* Messages that are sent and not acknowledged, and as many in one turn of a peer. */
#define MESSAGE_QP_SENDS 4

struct message_qp {
	struct ibv_qp *queue_pair;
	struct ibv_cq *received;	/* an event for each request, or failure */
	struct ibv_cq *sent;	/* an event if all buffers were in use */
	struct ibv_mr *memory_region;	/* over @memory */
	uint8_t *memory;	/* for a request, then for messages */
	struct peer_messenger *messenger;	/* owned */
	uint32_t in_use;	/* bit i: message i is being sent */
	uint32_t requests;	/* that were taken, modulo 2^32 */
	bool has_request;	/* an arrived request in @memory, not taken yet */
	uint32_t request_length;
	bool is_probed;
};

/*
 * Opens the queue pair for the connect request of @id, whose messages @messenger takes and makes;
 * takes it over only if it succeeds.  Events of @channel carry @context. -errno.
 */
int message_qp__open(struct message_qp *message_qp, const struct device *device,
		     struct rdma_cm_id *id, struct peer_messenger *messenger,
		     struct ibv_comp_channel *channel, void *context);
/* All events of the channel must have been acknowledged. */
void message_qp__close(struct message_qp *message_qp);

/*
 * Takes an arrived request and sends waiting messages, after an event: one request and
 * MESSAGE_QP_SENDS messages.  With @has_more it is to be called again, without an event, when
 * others have had their turn.  Returns NULL, or why the peer is to be disconnected.
 */
const char *message_qp__serve(struct message_qp *message_qp, bool *has_more);
/*
 * True while an answer is being sent, or has not been acknowledged by the peer: then the peer's
 * time is limited.
 */
bool message_qp__is_busy(const struct message_qp *message_qp);
/*
 * The peer's time has ended.  Returns why the peer is to be disconnected; or NULL, if it took all
 * messages: then dartd itself is late, or no message is left.
 */
const char *message_qp__expire(struct message_qp *message_qp);

/* As peer_qp__probe(), unless messages are being sent, which is the same. */
int message_qp__probe(struct message_qp *message_qp);

#endif /* MESSAGE_QP_H */
