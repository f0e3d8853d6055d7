// SPDX-License-Identifier: GPL-2.0-only
/* Opens the queue pair of a peer, restricts it to READs, and watches it. */
#include <errno.h>

#include <libdart/rdma/verbs.h>

#include "peer_qp.h"
#include "update.h"

/* Numbers of work requests. */
#define PROBE_ID 0
#define UPDATE_ID 1

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
		  struct ibv_pd *pd, struct rdma_cm_id *id, uint8_t reads, bool has_mirror,
		  struct ibv_comp_channel *channel, void *context)
{
	/* All complete if they fail. */
	const uint32_t sends = has_mirror ? 1 + UPDATE_WRITES : 1;
	int ret;

	*peer_qp = (struct peer_qp){};
	peer_qp->received = ibv_create_cq(device->context, 1, context, channel, 0);
	if (!peer_qp->received)
		return -errno;
	peer_qp->sent = has_mirror ? ibv_create_cq(device->context, sends, context, channel, 0) :
				     ibv_create_cq(device->context, sends, NULL, NULL, 0);
	if (!peer_qp->sent) {
		ret = -errno;
		goto destroy_received;
	}
	peer_qp->queue_pair = device__create_qp(pd, IBV_QPT_RC, peer_qp->sent,
						peer_qp->received, sends);
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

/* Takes completions of the probe and the update: answered, or failed. */
static void peer_qp__reap(struct peer_qp *peer_qp)
{
	struct ibv_wc completion;

	while (ibv_poll_cq(peer_qp->sent, 1, &completion) > 0) {
		if (completion.status != IBV_WC_SUCCESS && peer_qp->status == IBV_WC_SUCCESS) {
			peer_qp->status = completion.status;
			peer_qp->has_update_failed = completion.wr_id == UPDATE_ID;
		}
		if (completion.wr_id == UPDATE_ID)
			peer_qp->is_updating = peer_qp->is_awaited = false;
		else
			peer_qp->is_probed = false;
	}
}

int peer_qp__probe(struct peer_qp *peer_qp)
{
	struct ibv_send_wr probe = {
		.wr_id = PROBE_ID,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	int code;

	peer_qp__reap(peer_qp);
	/* It fails as well if the peer does not answer. */
	if (peer_qp->is_probed || peer_qp->is_updating)
		return 0;
	code = ibv_post_send(peer_qp->queue_pair, &probe, &bad);
	peer_qp->is_probed = !code;
	return dart_verbs__result(code);
}

int peer_qp__update(struct peer_qp *peer_qp, struct mirror *mirror)
{
	struct ibv_send_wr *bad;
	struct update update;
	int ret;

	update__make(&update, mirror, UPDATE_ID);
	ret = dart_verbs__result(ibv_post_send(peer_qp->queue_pair, update.requests, &bad));
	if (ret)
		return ret;
	mirror->generation = mirror->mirrors->generation;
	peer_qp->is_updating = true;
	return 0;
}

bool peer_qp__awaits_update(struct peer_qp *peer_qp)
{
	peer_qp__reap(peer_qp);
	if (!peer_qp->is_updating || peer_qp->is_awaited)
		return peer_qp->is_updating;
	peer_qp->is_awaited = true;
	ibv_req_notify_cq(peer_qp->sent, 0);
	/* A completion before that makes no event. */
	peer_qp__reap(peer_qp);
	return peer_qp->is_updating;
}

static const char *peer_qp__explain(const struct peer_qp *peer_qp)
{
	switch (peer_qp->status) {
	case IBV_WC_RETRY_EXC_ERR:
		return "disconnected: it does not answer";
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_ACCESS_ERR:
		if (peer_qp->has_update_failed)
			return "disconnected: its queue pair refuses WRITEs to the mirror that it offered";
		return "disconnected: its queue pair refuses the empty WRITEs of the setting 'keepalive'";
	default:
		if (peer_qp->has_update_failed && peer_qp->status != IBV_WC_WR_FLUSH_ERR)
			return "disconnected: its mirror could not be updated";
		return "disconnected: its queue pair failed after an invalid request";
	}
}

const char *peer_qp__serve(struct peer_qp *peer_qp)
{
	struct ibv_wc received;

	peer_qp__reap(peer_qp);
	/*
	 * The event was of something else, perhaps of a probe, and the next one has to be asked
	 * for.
	 */
	if (peer_qp->is_awaited) {
		ibv_req_notify_cq(peer_qp->sent, 0);
		peer_qp__reap(peer_qp);
	}
	if (ibv_poll_cq(peer_qp->received, 1, &received) > 0) {
		if (received.status == IBV_WC_SUCCESS)
			return "disconnected: it sent a message, which no peer does";
		peer_qp__reap(peer_qp);
		return peer_qp__explain(peer_qp);
	}
	return peer_qp->status == IBV_WC_SUCCESS ? NULL : peer_qp__explain(peer_qp);
}
