/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of verbs as READs from memory of this process need: see fake_hosts.h.  Queues take
 * as much memory as those of an adapter: 64 bytes for each work request and for each
 * completion.
 *
 * As in verbs, one thread makes and frees objects, and another one posts and takes
 * completions.
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "unit.h"

#define FAKE_QUEUE_ELEMENT 64 /* bytes */

/* Memory that a key opens. */
struct fake_memory {
	const void *bytes;
	size_t length;
	uint32_t rkey;
};

struct fake_host {
	struct fake_memory table, values;
};

struct fake_qp {
	struct ibv_qp qp; /* first */
	const struct fake_host *host;
	uint8_t work_requests[];
};

struct fake_cq {
	struct ibv_cq cq; /* first */
	struct fake_cq *next_ready;
	unsigned int first, count;
	bool is_armed;
	struct ibv_wc completions[];
};

struct fake_channel {
	struct ibv_comp_channel channel; /* first */
	struct fake_cq *ready; /* that have an event */
};

static void fake__tell(int fd)
{
	assert_int_equal(eventfd_write(fd, 1), 0);
}

/* ---- completions */

static void fake_cq__notify(struct fake_cq *cq)
{
	struct fake_channel *channel = (struct fake_channel *)cq->cq.channel;

	if (!cq->is_armed)
		return;
	cq->is_armed = false;
	cq->next_ready = channel->ready;
	channel->ready = cq;
	fake__tell(channel->channel.fd);
}

static void fake_cq__add(struct fake_cq *cq, uint64_t id,
			 enum ibv_wc_status status)
{
	assert_true(cq->count < (unsigned int)cq->cq.cqe);
	cq->completions[(cq->first + cq->count++) % cq->cq.cqe] =
		(struct ibv_wc){ .wr_id = id, .status = status };
	fake_cq__notify(cq);
}

static int fake__poll_cq(struct ibv_cq *of, int count, struct ibv_wc *completions)
{
	struct fake_cq *cq = (struct fake_cq *)of;
	int i;

	for (i = 0; i < count && cq->count; i++, cq->count--) {
		completions[i] = cq->completions[cq->first];
		cq->first = (cq->first + 1) % of->cqe;
	}
	return i;
}

static int fake__req_notify_cq(struct ibv_cq *cq, int solicited)
{
	((struct fake_cq *)cq)->is_armed = true;
	return 0;
}

/* ---- queue pairs */

static bool fake_memory__read(const struct fake_memory *memory,
			      const struct ibv_send_wr *request)
{
	const struct ibv_sge *to = request->sg_list;
	const uint64_t from = request->wr.rdma.remote_addr;
	const uint64_t base = (uintptr_t)memory->bytes;

	if (request->wr.rdma.rkey != memory->rkey || from < base ||
	    from - base > memory->length ||
	    to->length > memory->length - (from - base))
		return false;
	memcpy((void *)(uintptr_t)to->addr, (const void *)(uintptr_t)from,
	       to->length);
	return true;
}

static int fake__post_send(struct ibv_qp *of, struct ibv_send_wr *request,
			   struct ibv_send_wr **bad)
{
	struct fake_qp *qp = (struct fake_qp *)of;
	struct fake_cq *cq = (struct fake_cq *)of->send_cq;

	for (; request; request = request->next) {
		assert_int_equal(request->opcode, IBV_WR_RDMA_READ);
		if (!fake_memory__read(&qp->host->table, request) &&
		    !fake_memory__read(&qp->host->values, request))
			fake_cq__add(cq, request->wr_id, IBV_WC_REM_ACCESS_ERR);
		else if (request->send_flags & IBV_SEND_SIGNALED)
			fake_cq__add(cq, request->wr_id, IBV_WC_SUCCESS);
	}
	return 0;
}

static struct fake_qp *fake_qp__new(const struct fake_host *host,
				    const struct ibv_qp_init_attr *attributes)
{
	const size_t elements = attributes->cap.max_send_wr +
				attributes->cap.max_recv_wr;
	struct fake_qp *qp =
		calloc(1, sizeof(*qp) + elements * FAKE_QUEUE_ELEMENT);

	assert_non_null(qp);
	qp->qp.send_cq = attributes->send_cq;
	qp->qp.recv_cq = attributes->recv_cq;
	qp->host = host;
	return qp;
}

/* ---- verbs */

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attributes)
{
	*attributes = (struct ibv_device_attr){
		.max_qp_wr = 1024,
		.max_cqe = 1 << 20,
		.max_qp_init_rd_atom = 16,
	};
	return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port,
		   struct _compat_ibv_port_attr *of)
{
	struct ibv_port_attr *attributes = (struct ibv_port_attr *)of;

	/* 100 Gbit/s: EDR, 4 lanes. */
	attributes->max_msg_sz = 1U << 31;
	attributes->active_speed = 32;
	attributes->active_width = 2;
	return 0;
}

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
	channel->channel.fd = eventfd(0, EFD_SEMAPHORE);
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
	struct fake_cq *cq = calloc(
		1, sizeof(*cq) + (size_t)cqe * FAKE_QUEUE_ELEMENT);

	_Static_assert(sizeof(struct ibv_wc) <= FAKE_QUEUE_ELEMENT,
		       "a completion has no room");
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
	struct ibv_mr *region = calloc(1, sizeof(*region));

	/* Nobody else may write there. */
	assert_int_equal(access, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(region);
	return region;
}

int ibv_dereg_mr(struct ibv_mr *region)
{
	free(region);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *of, struct ibv_cq **cq, void **context)
{
	struct fake_channel *channel = (struct fake_channel *)of;
	eventfd_t one;

	if (eventfd_read(of->fd, &one))
		return -1;
	assert_non_null(channel->ready);
	*cq = &channel->ready->cq;
	*context = (*cq)->cq_context;
	channel->ready = channel->ready->next_ready;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
}

#endif /* FAKE_VERBS_H */
