/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of verbs and of the RDMA CM as two reliable connected queue pairs in this
 * process need, which exchange SENDs: one of a client with an identifier of the RDMA CM,
 * the other opened by the test when the client connects.  Descriptors become ready with
 * events, like real ones.
 *
 * It serves tests of the order of both ends' steps, which no guest can choose.  An
 * adapter does more: it acknowledges a message later than the message arrives, retries
 * a message without a receive, and reports leaving peers by an event of the RDMA CM:
 * see hostile_callers.
 */
#ifndef FAKE_RDMA_H
#define FAKE_RDMA_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "selftests/unit/unit.h"

#define FAKE_DEPTH 64

struct fake_channel {
	struct ibv_comp_channel channel;
	struct ibv_cq *ready[FAKE_DEPTH];
	unsigned int first, count;
};

struct fake_cq {
	struct ibv_cq cq;
	struct ibv_wc completions[FAKE_DEPTH];
	unsigned int first, count;
	bool is_armed;
};

struct fake_work {
	uint64_t id;
	uint8_t *memory;
	uint32_t length;
};

struct fake_qp {
	struct ibv_qp qp;
	struct fake_qp *peer;
	struct fake_work sends[FAKE_DEPTH], receives[FAKE_DEPTH];
	unsigned int first_send, sends_count, first_receive, receives_count;
};

/* State of the client; the other side sets accepted or rejected on request. */
static struct {
	struct ibv_context context;
	struct rdma_event_channel channel;
	struct rdma_cm_id id;
	struct rdma_cm_event events[FAKE_DEPTH];
	unsigned int first, count;
	uint8_t data[255];	/* private data of the answer */
} fake;

/* Set by the test: opens the other queue pair and returns the length of its answer, or -errno. */
static int fake__accept(const void *request, size_t length, void *answer,
			struct fake_qp **qp);

static void fake__tell(int fd)
{
	assert_int_equal(eventfd_write(fd, 1), 0);
}

static bool fake__take(int fd)
{
	eventfd_t one;

	return !eventfd_read(fd, &one);
}

/* ---- completions */

static void fake_cq__notify(struct fake_cq *cq)
{
	struct fake_channel *channel = (struct fake_channel *)cq->cq.channel;

	if (!cq->is_armed || !channel)
		return;
	cq->is_armed = false;
	assert_true(channel->count < FAKE_DEPTH);
	channel->ready[(channel->first + channel->count++) % FAKE_DEPTH] =
		&cq->cq;
	fake__tell(channel->channel.fd);
}

static void fake_cq__add(struct ibv_cq *of, uint64_t id, enum ibv_wc_opcode opcode,
			 enum ibv_wc_status status, uint32_t length)
{
	struct fake_cq *cq = (struct fake_cq *)of;

	assert_true(cq->count < (unsigned int)of->cqe);
	cq->completions[(cq->first + cq->count++) % FAKE_DEPTH] =
		(struct ibv_wc){ .wr_id = id, .opcode = opcode,
				 .status = status, .byte_len = length };
	fake_cq__notify(cq);
}

static int fake__poll_cq(struct ibv_cq *of, int count, struct ibv_wc *completion)
{
	struct fake_cq *cq = (struct fake_cq *)of;

	assert_int_equal(count, 1);
	if (!cq->count)
		return 0;
	*completion = cq->completions[cq->first];
	cq->first = (cq->first + 1) % FAKE_DEPTH;
	cq->count--;
	return 1;
}

/* Called once, when a queue is about to be armed. */
static void (*fake__before_arming)(struct ibv_cq *cq);

static int fake__req_notify_cq(struct ibv_cq *cq, int solicited)
{
	void (*call)(struct ibv_cq *of) = fake__before_arming;

	fake__before_arming = NULL;
	if (call)
		call(cq);
	((struct fake_cq *)cq)->is_armed = true;
	return 0;
}

/* ---- queue pairs */

static void fake_qp__fail(struct fake_qp *qp)
{
	qp->qp.state = IBV_QPS_ERR;
	for (; qp->sends_count; qp->sends_count--) {
		fake_cq__add(qp->qp.send_cq, qp->sends[qp->first_send].id,
			     IBV_WC_SEND, IBV_WC_WR_FLUSH_ERR, 0);
		qp->first_send = (qp->first_send + 1) % FAKE_DEPTH;
	}
	for (; qp->receives_count; qp->receives_count--) {
		fake_cq__add(qp->qp.recv_cq,
			     qp->receives[qp->first_receive].id, IBV_WC_RECV,
			     IBV_WC_WR_FLUSH_ERR, 0);
		qp->first_receive = (qp->first_receive + 1) % FAKE_DEPTH;
	}
}

/* Messages wait until the other side posts a receive. */
static void fake_qp__deliver(struct fake_qp *from)
{
	struct fake_qp *to = from->peer;
	struct fake_work *send, *receive;
	bool fits;

	while (to && from->sends_count && to->receives_count) {
		send = &from->sends[from->first_send];
		receive = &to->receives[to->first_receive];
		fits = send->length <= receive->length;
		if (fits)
			memcpy(receive->memory, send->memory, send->length);
		from->first_send = (from->first_send + 1) % FAKE_DEPTH;
		from->sends_count--;
		to->first_receive = (to->first_receive + 1) % FAKE_DEPTH;
		to->receives_count--;
		fake_cq__add(from->qp.send_cq, send->id, IBV_WC_SEND,
			     fits ? IBV_WC_SUCCESS : IBV_WC_REM_INV_REQ_ERR, 0);
		fake_cq__add(to->qp.recv_cq, receive->id, IBV_WC_RECV,
			     fits ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR,
			     send->length);
		if (!fits) {
			fake_qp__fail(from);
			fake_qp__fail(to);
		}
	}
}

static struct fake_work work_of(uint64_t id, const struct ibv_sge *place, int count)
{
	assert_int_equal(count, 1);
	return (struct fake_work){ id, (uint8_t *)(uintptr_t)place->addr,
				   place->length };
}

static int fake__post_send(struct ibv_qp *of, struct ibv_send_wr *request,
			   struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)of;

	if (of->state == IBV_QPS_ERR)
		return EINVAL;
	assert_int_equal(request->opcode, IBV_WR_SEND);
	assert_true(request->send_flags & IBV_SEND_SIGNALED);
	qp->sends[(qp->first_send + qp->sends_count++) % FAKE_DEPTH] =
		work_of(request->wr_id, request->sg_list, request->num_sge);
	fake_qp__deliver(qp);
	return 0;
}

static int fake__post_recv(struct ibv_qp *of, struct ibv_recv_wr *request,
			   struct ibv_recv_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)of;

	if (of->state == IBV_QPS_ERR)
		return EINVAL;
	qp->receives[(qp->first_receive + qp->receives_count++) % FAKE_DEPTH] =
		work_of(request->wr_id, request->sg_list, request->num_sge);
	if (qp->peer)
		fake_qp__deliver(qp->peer);
	return 0;
}

static struct fake_qp *fake_qp__new(struct ibv_cq *sent, struct ibv_cq *received)
{
	struct fake_qp *qp = calloc(1, sizeof(*qp));

	assert_non_null(qp);
	qp->qp.context = &fake.context;
	qp->qp.send_cq = sent;
	qp->qp.recv_cq = received;
	return qp;
}

static void fake_qp__free(struct ibv_qp *of)
{
	struct fake_qp *qp = (struct fake_qp *)of;

	if (qp->peer) {
		fake_qp__fail(qp->peer);
		qp->peer->peer = NULL;
	}
	free(qp);
}

static void fake__open(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.context.ops.poll_cq = fake__poll_cq;
	fake.context.ops.req_notify_cq = fake__req_notify_cq;
	fake.context.ops.post_send = fake__post_send;
	fake.context.ops.post_recv = fake__post_recv;
}

/* ---- verbs */

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	return calloc(1, sizeof(struct ibv_pd));
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_channel *channel = calloc(1, sizeof(*channel));

	assert_non_null(channel);
	channel->channel.fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
	return &channel->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	close(channel->fd);
	free(channel);
	return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *of,
			     struct ibv_comp_channel *channel, int vector)
{
	struct fake_cq *cq = calloc(1, sizeof(*cq));

	assert_non_null(cq);
	cq->cq.context = context;
	cq->cq.channel = channel;
	cq->cq.cq_context = of;
	cq->cq.cqe = cqe;
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	free(cq);
	return 0;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *memory, size_t length, int access)
{
	struct ibv_mr *memory_region = calloc(1, sizeof(*memory_region));

	/* Nobody else may write there. */
	assert_int_equal(access, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(memory_region);
	return memory_region;
}

int ibv_dereg_mr(struct ibv_mr *memory_region)
{
	free(memory_region);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *of, struct ibv_cq **cq, void **context)
{
	struct fake_channel *channel = (struct fake_channel *)of;

	if (!fake__take(of->fd))
		return -1;
	assert_true(channel->count > 0);
	*cq = channel->ready[channel->first];
	*context = (*cq)->cq_context;
	channel->first = (channel->first + 1) % FAKE_DEPTH;
	channel->count--;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask)
{
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	fake_qp__free(qp);
	return 0;
}

/* ---- the RDMA CM */

static void fake__push(enum rdma_cm_event_type type, int status, size_t length)
{
	struct rdma_cm_event *event = &fake.events[(fake.first + fake.count++) %
						   FAKE_DEPTH];

	*event = (struct rdma_cm_event){ .event = type, .status = status,
					 .id = &fake.id };
	event->param.conn.private_data = length ? fake.data : NULL;
	event->param.conn.private_data_len = length;
	fake__tell(fake.channel.fd);
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	fake.channel.fd = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE);
	return &fake.channel;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	close(channel->fd);
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id,
		   void *context, enum rdma_port_space space)
{
	fake.id.verbs = &fake.context;
	*id = &fake.id;
	return 0;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source,
		      struct sockaddr *destination, int timeout_ms)
{
	fake__push(RDMA_CM_EVENT_ADDR_RESOLVED, 0, 0);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	fake__push(RDMA_CM_EVENT_ROUTE_RESOLVED, 0, 0);
	return 0;
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value,
		    size_t length)
{
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *attributes)
{
	id->qp = &fake_qp__new(attributes->send_cq, attributes->recv_cq)->qp;
	return 0;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	fake_qp__free(id->qp);
	id->qp = NULL;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *parameters)
{
	struct fake_qp *own = (struct fake_qp *)id->qp, *other;
	int length = fake__accept(parameters->private_data,
				  parameters->private_data_len, fake.data,
				  &other);

	if (length < 0) {
		/* Reason 28: by the consumer */
		fake__push(RDMA_CM_EVENT_REJECTED, 28, sizeof(fake.data));
		return 0;
	}
	own->peer = other;
	other->peer = own;
	fake__push(RDMA_CM_EVENT_ESTABLISHED, 0, length);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel,
		      struct rdma_cm_event **event)
{
	if (!fake__take(channel->fd)) {
		errno = EAGAIN;
		return -1;
	}
	*event = &fake.events[fake.first];
	fake.first = (fake.first + 1) % FAKE_DEPTH;
	fake.count--;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	return 0;
}

#endif /* FAKE_RDMA_H */
