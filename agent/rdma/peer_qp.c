// SPDX-License-Identifier: GPL-2.0-only
/* Opens the queue pair of a peer, restricts it to READs, and watches it. */
#include <errno.h>

#include <libdart/rdma/verbs.h>

#include "peer_qp.h"

static int peer_qp__advance(struct peer_qp *peer_qp, const struct device *device,
			    struct rdma_cm_id *id, enum ibv_qp_state state, uint8_t reads)
{
	return device__advance_qp(device, peer_qp->queue_pair, id, state, IBV_ACCESS_REMOTE_READ,
				  reads);
}

/* A receive without room: its completion tells that the peer sent a message, or has failed. */
static int peer_qp__post_receive(struct peer_qp *peer_qp)
{
	struct ibv_sge no_bytes = {};
	struct ibv_recv_wr nothing = {}, *bad;
	int ret = dart_verbs__result(ibv_req_notify_cq(peer_qp->received, 0));

	/* libsiw refuses a receive without an SGE.  To mlx4, an SGE of 0 bytes means 2 GiB. */
	if (dart_verbs__is_iwarp(peer_qp->queue_pair->context)) {
		nothing.sg_list = &no_bytes;
		nothing.num_sge = 1;
	}
	return ret ?: dart_verbs__result(ibv_post_recv(peer_qp->queue_pair, &nothing, &bad));
}

int peer_qp__open(struct peer_qp *peer_qp, const struct device *device,
		  struct ibv_pd *pd, struct rdma_cm_id *id, uint8_t reads,
		  struct ibv_comp_channel *channel, void *context)
{
	int ret;

	*peer_qp = (struct peer_qp){};
	peer_qp->received = ibv_create_cq(device->context, 1, context, channel, 0);
	if (!peer_qp->received)
		return -errno;
	peer_qp->sent = ibv_create_cq(device->context, 1, NULL, NULL, 0);
	if (!peer_qp->sent) {
		ret = -errno;
		goto destroy_received;
	}
	peer_qp->queue_pair = device__create_qp(pd, IBV_QPT_RC, peer_qp->sent,
						peer_qp->received, 1);
	if (!peer_qp->queue_pair) {
		ret = -errno;
		goto destroy_sent;
	}

	ret = peer_qp__advance(peer_qp, device, id, IBV_QPS_INIT, reads) ?:
	      peer_qp__post_receive(peer_qp) ?:
	      peer_qp__advance(peer_qp, device, id, IBV_QPS_RTR, reads) ?:
	      peer_qp__advance(peer_qp, device, id, IBV_QPS_RTS, reads);
	if (!ret)
		return 0;

	ibv_destroy_qp(peer_qp->queue_pair);
destroy_sent:
	ibv_destroy_cq(peer_qp->sent);
destroy_received:
	ibv_destroy_cq(peer_qp->received);
	return ret;
}

void peer_qp__close(struct peer_qp *peer_qp)
{
	ibv_destroy_qp(peer_qp->queue_pair);
	ibv_destroy_cq(peer_qp->sent);
	ibv_destroy_cq(peer_qp->received);
}

/* Takes the completion of the only probe: answered, or failed. */
static bool peer_qp__has_answer(struct peer_qp *peer_qp, struct ibv_wc *answer)
{
	if (ibv_poll_cq(peer_qp->sent, 1, answer) <= 0)
		return false;
	peer_qp->is_probed = false;
	return true;
}

int peer_qp__probe(struct peer_qp *peer_qp)
{
	struct ibv_send_wr probe = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	struct ibv_wc answer;
	int code;

	if (peer_qp->is_probed && !peer_qp__has_answer(peer_qp, &answer))
		return 0;
	code = ibv_post_send(peer_qp->queue_pair, &probe, &bad);
	peer_qp->is_probed = !code;
	return dart_verbs__result(code);
}

const char *peer_qp__failure(struct peer_qp *peer_qp)
{
	struct ibv_wc received, answer;

	if (ibv_poll_cq(peer_qp->received, 1, &received) <= 0)
		return NULL;
	if (received.status == IBV_WC_SUCCESS)
		return "disconnected: it sent a message, which no peer does";
	if (peer_qp->is_probed && peer_qp__has_answer(peer_qp, &answer)) {
		if (answer.status == IBV_WC_RETRY_EXC_ERR)
			return "disconnected: it does not answer";
		if (answer.status == IBV_WC_REM_INV_REQ_ERR ||
		    answer.status == IBV_WC_REM_ACCESS_ERR)
			return "disconnected: its queue pair refuses the empty WRITEs of the setting 'keepalive'";
	}
	return "disconnected: its queue pair failed after an invalid request";
}
