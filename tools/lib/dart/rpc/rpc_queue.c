// SPDX-License-Identifier: LGPL-2.1-or-later
/* SENDs and RECEIVEs over a queue pair: see rpc_queue_internal.h. */
#include <errno.h>
#include <fcntl.h>

#include <libdart/rdma/verbs.h>

#include "rpc_queue_internal.h"

#define RECEIVES DART_RPC_QUEUE_RECEIVES
#define ANSWER_MAX DART_RPC_QUEUE_ANSWER_MAX

/*
 * 0.16 ms (IBTA 9.7.5.2.8): how long the agent waits if all receives are in use.  The RDMA
 * CM would set 655 ms.
 */
#define MIN_RNR_TIMER 8

/*
 * A request follows the answer to the one before, which may come before the acknowledgement of
 * that.  By then the request has arrived: the agent drops a repeated one, and so all requests can
 * share one buffer.
 */
#define SENDS 4
#define SEND_ID RECEIVES	/* ID of sends; the IDs of receives are their numbers */

static int post_receive(struct dart_rpc_queue *queue, int number)
{
	struct ibv_sge place = {
		.addr = (uintptr_t)queue->memory.answers[number],
		.length = ANSWER_MAX,
		.lkey = queue->memory_region->lkey,
	};
	struct ibv_recv_wr request = {
		.wr_id = number,
		.sg_list = &place,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad;

	return dart_verbs__result(ibv_post_recv(queue->id->qp, &request, &bad));
}

/* Without remote access: only messages land in the memory. */
static int make_memory(struct dart_rpc_queue *queue)
{
	struct ibv_context *verbs = queue->id->verbs;
	int flags;

	queue->pd = ibv_alloc_pd(verbs);
	if (!queue->pd)
		return -errno;
	queue->memory_region = ibv_reg_mr(queue->pd, &queue->memory, sizeof(queue->memory),
					  IBV_ACCESS_LOCAL_WRITE);
	if (!queue->memory_region)
		return -errno;
	queue->channel = ibv_create_comp_channel(verbs);
	if (!queue->channel)
		return -errno;
	flags = fcntl(queue->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(queue->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	queue->cq = ibv_create_cq(verbs, RECEIVES + SENDS, NULL, queue->channel, 0);
	return queue->cq ? 0 : -errno;
}

int dart_rpc_queue__open(struct dart_rpc_queue *queue, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = SENDS,
			.max_recv_wr = RECEIVES,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	int i, ret;

	queue->id = id;
	ret = make_memory(queue);
	if (ret)
		return ret;
	attributes.send_cq = queue->cq;
	attributes.recv_cq = queue->cq;
	if (rdma_create_qp(id, queue->pd, &attributes))
		return -errno;
	for (i = 0; !ret && i < RECEIVES; i++)
		ret = post_receive(queue, i);
	return ret ?: dart_verbs__result(ibv_req_notify_cq(queue->cq, 0));
}

void dart_rpc_queue__close(struct dart_rpc_queue *queue)
{
	if (queue->id && queue->id->qp)
		rdma_destroy_qp(queue->id);
	if (queue->cq)
		ibv_destroy_cq(queue->cq);
	if (queue->channel)
		ibv_destroy_comp_channel(queue->channel);
	if (queue->memory_region)
		ibv_dereg_mr(queue->memory_region);
	if (queue->pd)
		ibv_dealloc_pd(queue->pd);
}

/* An adapter that cannot change it then is slower when it is short of receives. */
void dart_rpc_queue__set_timer(const struct dart_rpc_queue *queue)
{
	struct ibv_qp_attr attributes = { .min_rnr_timer = MIN_RNR_TIMER };

	ibv_modify_qp(queue->id->qp, &attributes, IBV_QP_MIN_RNR_TIMER);
}

int dart_rpc_queue__send(struct dart_rpc_queue *queue, size_t length, struct dart_error *error)
{
	struct ibv_sge place = {
		.addr = (uintptr_t)queue->memory.request,
		.length = length,
		.lkey = queue->memory_region->lkey,
	};
	struct ibv_send_wr request = {
		.wr_id = SEND_ID,
		.sg_list = &place,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	int ret = dart_verbs__result(ibv_post_send(queue->id->qp, &request, &bad));

	if (ret)
		return dart_error__system(error, -ret, "cannot send a request");
	return 0;
}

static int explain(enum ibv_wc_status status, struct dart_error *error)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return dart_error__set(error, ETIMEDOUT, "the host no longer answers");
	case IBV_WC_LOC_LEN_ERR:
		return dart_error__set(error, EBADMSG,
				       "the agent sent a message that is longer than its receive");
	default:
		return dart_error__set(error, ECONNRESET, "the connection broke: %s",
				       ibv_wc_status_str(status));
	}
}

/* Returns 1 with a completion, 0 if there is none; then there will be an event. */
static int next_completion(struct dart_rpc_queue *queue, struct ibv_wc *completion)
{
	struct ibv_cq *cq;
	void *context;
	int n;

	n = ibv_poll_cq(queue->cq, 1, completion);
	if (n)
		return n;
	if (!ibv_get_cq_event(queue->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	/* A completion before the queue is armed makes no event: poll again. */
	if (ibv_req_notify_cq(queue->cq, 0))
		return -1;
	return ibv_poll_cq(queue->cq, 1, completion);
}

int dart_rpc_queue__receive(struct dart_rpc_queue *queue, const void **bytes,
			    size_t *length, struct dart_error *error)
{
	struct ibv_wc completion;
	int ret = 0;

	if (queue->used)
		ret = post_receive(queue, queue->used - 1);
	queue->used = 0;
	if (ret)
		return dart_error__system(error, -ret, "cannot post a receive");
	while ((ret = next_completion(queue, &completion)) > 0) {
		if (completion.status != IBV_WC_SUCCESS)
			return explain(completion.status, error);
		if (completion.wr_id == SEND_ID)
			continue;
		queue->used = completion.wr_id + 1;
		*bytes = queue->memory.answers[completion.wr_id];
		*length = completion.byte_len;
		return 1;
	}
	if (ret < 0)
		return dart_error__set(error, EIO, "the completion queue is broken");
	return 0;
}
