// SPDX-License-Identifier: GPL-2.0-only
/* Receives the requests of a peer and sends the messages of the answers. */
#include <errno.h>
#include <stdlib.h>

#include <libdart/rdma/verbs.h>

#include "message_qp.h"

/* One for a probe. */
#define SENDS (MESSAGE_QP_SENDS + 1)
#define PROBE_ID MESSAGE_QP_SENDS	/* the IDs of messages are their numbers */

static uint8_t *message_at(const struct message_qp *message_qp, uint32_t number)
{
	const struct peer_messenger *messenger = message_qp->messenger;

	return message_qp->memory + messenger->request_max + (size_t)number * messenger->answer_max;
}

static int post_receive(struct message_qp *message_qp)
{
	struct ibv_sge place = {
		.addr = (uintptr_t)message_qp->memory,
		.length = message_qp->messenger->request_max,
		.lkey = message_qp->memory_region->lkey,
	};
	struct ibv_recv_wr request = { .sg_list = &place, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	return dart_verbs__result(ibv_post_recv(message_qp->queue_pair, &request, &bad));
}

static int make_memory(struct message_qp *message_qp, struct ibv_pd *pd)
{
	const struct peer_messenger *messenger = message_qp->messenger;
	size_t size = messenger->request_max + (size_t)MESSAGE_QP_SENDS * messenger->answer_max;

	message_qp->memory = calloc(1, size);
	if (!message_qp->memory)
		return -ENOMEM;
	/* Without remote access. */
	message_qp->memory_region = ibv_reg_mr(pd, message_qp->memory, size,
					       IBV_ACCESS_LOCAL_WRITE);
	return message_qp->memory_region ? 0 : -errno;
}

static int make_queues(struct message_qp *message_qp, const struct device *device,
		       struct ibv_comp_channel *channel, void *context)
{
	message_qp->received = ibv_create_cq(device->context, 1, context, channel, 0);
	if (!message_qp->received)
		return -errno;
	message_qp->sent = ibv_create_cq(device->context, SENDS, context, channel, 0);
	if (!message_qp->sent)
		return -errno;
	message_qp->queue_pair = device__create_qp(device->message_pd, IBV_QPT_RC, message_qp->sent,
						   message_qp->received, SENDS);
	return message_qp->queue_pair ? 0 : -errno;
}

static int message_qp__connect(struct message_qp *message_qp, const struct device *device,
			       struct rdma_cm_id *id)
{
	struct ibv_qp *queue_pair = message_qp->queue_pair;

	return device__advance_qp(device, queue_pair, id, IBV_QPS_INIT, 0, 0) ?:
	       dart_verbs__result(ibv_req_notify_cq(message_qp->received, 0)) ?:
	       post_receive(message_qp) ?:
	       device__advance_qp(device, queue_pair, id, IBV_QPS_RTR, 0, 0) ?:
	       device__advance_qp(device, queue_pair, id, IBV_QPS_RTS, 0, 0);
}

static void message_qp__destroy(struct message_qp *message_qp)
{
	if (message_qp->queue_pair)
		ibv_destroy_qp(message_qp->queue_pair);
	if (message_qp->sent)
		ibv_destroy_cq(message_qp->sent);
	if (message_qp->received)
		ibv_destroy_cq(message_qp->received);
	if (message_qp->memory_region)
		ibv_dereg_mr(message_qp->memory_region);
	free(message_qp->memory);
}

int message_qp__open(struct message_qp *message_qp, const struct device *device,
		     struct rdma_cm_id *id, struct peer_messenger *messenger,
		     struct ibv_comp_channel *channel, void *context)
{
	int ret;

	*message_qp = (struct message_qp){ .messenger = messenger };
	ret = make_memory(message_qp, device->message_pd) ?:
		      make_queues(message_qp, device, channel, context) ?:
		      message_qp__connect(message_qp, device, id);
	if (ret)
		message_qp__destroy(message_qp);
	return ret;
}

void message_qp__close(struct message_qp *message_qp)
{
	struct peer_messenger *messenger = message_qp->messenger;

	message_qp__destroy(message_qp);
	messenger->operations->free(messenger);
}

static const char *explain(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_RETRY_EXC_ERR:
		return "disconnected: it does not answer";
	case IBV_WC_REM_INV_REQ_ERR:
		return "disconnected: its receives are shorter than it said";
	default:
		return "disconnected: its queue pair failed";
	}
}

static const char *explain_received(enum ibv_wc_status status)
{
	/* Soft-RoCE reports the second one for a request that is too long. */
	if (status == IBV_WC_LOC_LEN_ERR || status == IBV_WC_REM_INV_REQ_ERR)
		return "disconnected: its request is too long";
	return explain(status);
}

/*
 * Frees the buffers of messages that the peer took; returns why it is to be disconnected, or NULL.
 */
static const char *message_qp__reap(struct message_qp *message_qp, bool *has_some)
{
	struct ibv_wc completion;

	while (ibv_poll_cq(message_qp->sent, 1, &completion) > 0) {
		*has_some = true;
		if (completion.status != IBV_WC_SUCCESS)
			return explain(completion.status);
		if (completion.wr_id == PROBE_ID)
			message_qp->is_probed = false;
		else
			message_qp->in_use &= ~(1U << completion.wr_id);
	}
	return NULL;
}

static int message_qp__send(struct message_qp *message_qp, uint32_t number, size_t length)
{
	struct ibv_sge place = {
		.addr = (uintptr_t)message_at(message_qp, number),
		.length = length,
		.lkey = message_qp->memory_region->lkey,
	};
	struct ibv_send_wr request = {
		.wr_id = number,
		.sg_list = &place,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;

	message_qp->in_use |= 1U << number;
	return dart_verbs__result(ibv_post_send(message_qp->queue_pair, &request, &bad));
}

/* The first buffer that is not in use; MESSAGE_QP_SENDS if all are. */
static uint32_t message_qp__find_buffer(const struct message_qp *message_qp)
{
	const uint32_t most = message_qp->messenger->sends_max;
	uint32_t i;

	for (i = 0; i < MESSAGE_QP_SENDS && i < most; i++)
		if (!(message_qp->in_use & 1U << i))
			return i;
	return MESSAGE_QP_SENDS;
}

static bool message_qp__has_buffer(const struct message_qp *message_qp)
{
	return message_qp__find_buffer(message_qp) < MESSAGE_QP_SENDS;
}

/* The rest of the turn of a peer. */
struct turn {
	uint32_t messages;
	uint32_t requests;
};

/* Sends as many messages as there are free buffers. */
static const char *message_qp__produce(struct message_qp *message_qp, struct turn *turn)
{
	struct peer_messenger *messenger = message_qp->messenger;
	uint32_t number;
	size_t length;

	for (; turn->messages && message_qp__has_buffer(message_qp); turn->messages--) {
		number = message_qp__find_buffer(message_qp);
		length = messenger->operations->next(messenger, message_at(message_qp, number),
						     messenger->answer_max);
		if (!length)
			break;
		if (message_qp__send(message_qp, number, length))
			return "disconnected: a message cannot be sent";
	}
	return NULL;
}

/* Notes an arrived request, if there is one, or a failure. */
static const char *message_qp__receive(struct message_qp *message_qp, bool *has_happened)
{
	struct ibv_wc completion;
	bool has_sent;

	if (message_qp->has_request || ibv_poll_cq(message_qp->received, 1, &completion) <= 0)
		return NULL;
	*has_happened = true;
	/* Flushed: a message that failed says more. */
	if (completion.status != IBV_WC_SUCCESS)
		return message_qp__reap(message_qp, &has_sent) ?:
			       explain_received(completion.status);
	message_qp->has_request = true;
	message_qp->request_length = completion.byte_len;
	return NULL;
}

/* Takes the request that was noted.  After an error no further request is received. */
static const char *message_qp__take(struct message_qp *message_qp)
{
	struct peer_messenger *messenger = message_qp->messenger;

	message_qp->has_request = false;
	message_qp->requests++;
	messenger->operations->take(messenger, message_qp->memory, message_qp->request_length);
	if (!messenger->operations->is_over(messenger) && post_receive(message_qp))
		return "disconnected: no receive can be posted for it";
	return NULL;
}

/* Takes a step; returns true if something has happened since the last call. */
static bool message_qp__step(struct message_qp *message_qp, struct turn *turn, const char **reason)
{
	bool has_happened = false;

	*reason = message_qp__reap(message_qp, &has_happened) ?:
			  message_qp__produce(message_qp, turn) ?:
			  message_qp__receive(message_qp, &has_happened);
	if (!*reason && message_qp->has_request && turn->requests) {
		turn->requests--;
		*reason = message_qp__take(message_qp);
		has_happened = true;
	}
	return has_happened;
}

/* Is there anything to do that only waits for the next turn? */
static bool message_qp__has_more(const struct message_qp *message_qp, const struct turn *turn)
{
	const struct peer_messenger *messenger = message_qp->messenger;

	return (message_qp->has_request && !turn->requests) ||
	       (!turn->messages && messenger->operations->is_busy(messenger) &&
		message_qp__has_buffer(message_qp));
}

/* Arms completions of receives, and of sends only while a message waits for a buffer. */
static void message_qp__arm(struct message_qp *message_qp)
{
	const struct peer_messenger *messenger = message_qp->messenger;
	const bool is_over = messenger->operations->is_over(messenger);

	if (!is_over)
		ibv_req_notify_cq(message_qp->received, 0);
	if (messenger->operations->is_busy(messenger) || (is_over && message_qp->in_use))
		ibv_req_notify_cq(message_qp->sent, 0);
}

const char *message_qp__serve(struct message_qp *message_qp, bool *has_more)
{
	struct peer_messenger *messenger = message_qp->messenger;
	struct turn turn = { .messages = MESSAGE_QP_SENDS, .requests = 1 };
	bool is_armed = false, has_happened;
	const char *reason;

	for (;;) {
		has_happened = message_qp__step(message_qp, &turn, &reason);
		*has_more = message_qp__has_more(message_qp, &turn);
		if (reason)
			return reason;
		if (*has_more)
			return NULL;
		/* A completion from before the queue was armed makes no event. */
		if (!has_happened && is_armed)
			break;
		is_armed = !has_happened;
		if (is_armed)
			message_qp__arm(message_qp);
	}
	/* The connection ends only after the last message, the error, has left. */
	if (messenger->operations->is_over(messenger) && !message_qp__is_busy(message_qp))
		return "disconnected: it broke a rule of the protocol";
	return NULL;
}

bool message_qp__is_busy(const struct message_qp *message_qp)
{
	struct peer_messenger *messenger = message_qp->messenger;

	return message_qp->in_use || messenger->operations->is_busy(messenger);
}

const char *message_qp__expire(struct message_qp *message_qp)
{
	struct peer_messenger *messenger = message_qp->messenger;
	bool has_sent;
	const char *reason = message_qp__reap(message_qp, &has_sent);

	if (reason || !message_qp->in_use)
		return reason;
	messenger->operations->cut_off(messenger);
	return "disconnected: it is too slow with an answer";
}

int message_qp__probe(struct message_qp *message_qp)
{
	struct ibv_send_wr probe = {
		.wr_id = PROBE_ID,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;
	bool has_sent;
	int code;

	/* A failure is an event as well. */
	message_qp__reap(message_qp, &has_sent);
	if (message_qp->is_probed || message_qp->in_use)
		return 0;
	code = ibv_post_send(message_qp->queue_pair, &probe, &bad);
	message_qp->is_probed = !code;
	return dart_verbs__result(code);
}
