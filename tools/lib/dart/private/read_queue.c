// SPDX-License-Identifier: LGPL-2.1-or-later
/* Posts READs to a queue pair and reaps their completions: see read_queue.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link_speed.h"
#include "read_queue.h"

/* Operations that fit into the queue pair; longer batches are posted in chunks. */
#define QUEUE_DEPTH	1024

/* That of soft-RoCE on Ethernet. */
#define MTU_DEFAULT	1024

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int make_queues(struct dart_read_queue *queue, uint32_t depth)
{
	struct ibv_context *verbs = queue->id->verbs;
	struct ibv_qp_init_attr attributes = { .qp_type = IBV_QPT_RC };
	int flags;

	queue->pd = ibv_alloc_pd(verbs);
	if (!queue->pd)
		return -errno;
	queue->channel = ibv_create_comp_channel(verbs);
	if (!queue->channel)
		return -errno;
	flags = fcntl(queue->channel->fd, F_GETFL);
	if (flags < 0 ||
	    fcntl(queue->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	/* Room for every READ: after one fails, all of them complete. */
	queue->cq = ibv_create_cq(verbs, depth, NULL, queue->channel, 0);
	if (!queue->cq)
		return -errno;

	attributes.send_cq = queue->cq;
	attributes.recv_cq = queue->cq;
	attributes.cap.max_send_wr = depth;
	attributes.cap.max_recv_wr = 1;
	attributes.cap.max_send_sge = 1;
	attributes.cap.max_recv_sge = 1;
	if (rdma_create_qp(queue->id, queue->pd, &attributes))
		return -errno;
	return 0;
}

uint32_t dart_read_queue__mtu(const struct rdma_cm_id *id)
{
	/* enum ibv_mtu: 1 is 256 bytes. */
	if (id->route.num_paths > 0 && id->route.path_rec &&
	    id->route.path_rec->mtu >= IBV_MTU_256 &&
	    id->route.path_rec->mtu <= IBV_MTU_4096)
		return 128U << id->route.path_rec->mtu;
	return 0;
}

int dart_read_queue__open(struct dart_read_queue *queue, struct rdma_cm_id *id,
			  const struct ibv_device_attr *device)
{
	uint32_t depth = QUEUE_DEPTH;
	struct ibv_port_attr port;
	int ret;

	depth = min_u32(depth, device->max_qp_wr);
	depth = min_u32(depth, device->max_cqe);
	queue->depth = depth;
	queue->chunk = depth > 1 ? depth / 2 : 1;
	queue->requests = calloc(queue->chunk, sizeof(*queue->requests));
	queue->landings = calloc(queue->chunk, sizeof(*queue->landings));
	if (!queue->requests || !queue->landings)
		return -ENOMEM;

	queue->id = id;
	ret = ibv_query_port(id->verbs, id->port_num, &port);
	if (ret)
		return -ret;
	if (!port.max_msg_sz)
		return -EINVAL;
	queue->bits_per_s =
		dart_link_speed(port.active_speed, port.active_width);
	queue->bytes_max = DART_READ_PACKETS_MAX *
			   (dart_read_queue__mtu(id) ?: MTU_DEFAULT);
	queue->length_max = min_u32(port.max_msg_sz, queue->bytes_max);
	return make_queues(queue, depth);
}

static void forget_landing(struct dart_read_queue *queue)
{
	if (queue->landing_mr)
		ibv_dereg_mr(queue->landing_mr);
	if (!queue->landing_is_borrowed)
		free(queue->landing);
	queue->landing_mr = NULL;
	queue->landing = NULL;
	queue->landing_size = 0;
	queue->landing_is_borrowed = false;
}

void dart_read_queue__close(struct dart_read_queue *queue)
{
	if (queue->id && queue->id->qp)
		rdma_destroy_qp(queue->id);
	forget_landing(queue);
	if (queue->cq)
		ibv_destroy_cq(queue->cq);
	if (queue->channel)
		ibv_destroy_comp_channel(queue->channel);
	if (queue->pd)
		ibv_dealloc_pd(queue->pd);
	free(queue->requests);
	free(queue->landings);
}

/* No remote access: only responses to own READs are written there. */
static int register_landing(struct dart_read_queue *queue, void *memory,
			    size_t size)
{
	queue->landing_mr = ibv_reg_mr(queue->pd, memory, size,
				       IBV_ACCESS_LOCAL_WRITE);
	if (!queue->landing_mr)
		return -errno;
	queue->landing = memory;
	queue->landing_size = size;
	return 0;
}

int dart_read_queue__land_in(struct dart_read_queue *queue, void *memory,
			     size_t size)
{
	if (queue->pieces.reads)
		return -EBUSY;
	if (memory == queue->landing && size == queue->landing_size)
		return 0;
	/* First: both together might exceed the locked memory. */
	forget_landing(queue);
	queue->landing_is_borrowed = true;
	return register_landing(queue, memory, size);
}

int dart_read_queue__reserve(struct dart_read_queue *queue, size_t size,
			     void **landing)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *memory;
	int ret;

	if (queue->pieces.reads)
		return -EBUSY;
	if (size <= queue->landing_size && !queue->landing_is_borrowed)
		goto out;
	if (size > SIZE_MAX - page)
		return -ENOMEM;
	size = (size + page - 1) / page * page;

	/* The old buffer first, as above. */
	forget_landing(queue);
	memory = aligned_alloc(page, size);
	if (!memory)
		return -ENOMEM;
	memset(memory, 0, size);
	ret = register_landing(queue, memory, size);
	if (ret) {
		free(memory);
		return ret;
	}
out:
	*landing = queue->landing;
	return 0;
}

static void prepare(struct dart_read_queue *queue, uint32_t slot,
		    const struct dart_read *piece)
{
	queue->landings[slot] = (struct ibv_sge) {
		.addr = (uintptr_t)queue->landing + piece->landing,
		.length = piece->length,
		.lkey = queue->landing_mr->lkey,
	};
	queue->requests[slot] = (struct ibv_send_wr) {
		.next = &queue->requests[slot + 1],
		.sg_list = &queue->landings[slot],
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.wr.rdma.remote_addr = piece->address,
		.wr.rdma.rkey = piece->rkey,
	};
}

/* Begins a run if there is room for one; NULL if not. */
static struct dart_read_run *new_run(struct dart_read_queue *queue)
{
	struct dart_read_run *run;

	if (queue->run_count == DART_READ_RUNS_MAX)
		return NULL;
	run = &queue->runs[(queue->first_run + queue->run_count) %
			   DART_READ_RUNS_MAX];
	*run = (struct dart_read_run){ };
	queue->run_count++;
	return run;
}

static bool take_piece(struct dart_read_queue *queue, struct dart_read *piece)
{
	return queue->permitted && queue->operations < queue->depth &&
	       dart_read_pieces__take(&queue->pieces,
				      queue->bytes_max - queue->bytes, piece);
}

/* Prepares what is permitted and fits into a chunk; returns how many operations. */
static uint32_t fill_chunk(struct dart_read_queue *queue)
{
	/* Nobody waits for the first of them if the batch is permitted as a whole. */
	const uint32_t run_max = queue->permitted < queue->remaining ?
					 DART_READ_RUN : queue->chunk;
	struct dart_read_run *run = NULL;
	struct dart_read piece;
	uint32_t n;

	for (n = 0; n < queue->chunk; n++) {
		if (!run && queue->run_count == DART_READ_RUNS_MAX)
			break;
		if (!take_piece(queue, &piece))
			break;
		prepare(queue, n, &piece);
		run = run ?: new_run(queue);
		run->operations++;
		run->bytes += piece.length;
		queue->operations++;
		queue->bytes += piece.length;
		queue->permitted--;
		queue->remaining--;
		if (run->operations == run_max) {
			queue->requests[n].send_flags = IBV_SEND_SIGNALED;
			run = NULL;
		}
	}
	return n;
}

/* Fills the queue pair; only the last operation of a run is signaled. */
static int post(struct dart_read_queue *queue)
{
	struct ibv_send_wr *bad;
	uint32_t n;
	int ret;

	while ((n = fill_chunk(queue))) {
		queue->requests[n - 1].next = NULL;
		queue->requests[n - 1].send_flags = IBV_SEND_SIGNALED;
		ret = ibv_post_send(queue->id->qp, queue->requests, &bad);
		if (ret)
			return -ret;
	}
	return 0;
}

void dart_read_queue__cut(struct dart_read_queue *queue, uint32_t length)
{
	queue->length_max = min_u32(queue->length_max, length);
}

int dart_read_queue__begin(struct dart_read_queue *queue,
			   const struct dart_read *reads, uint32_t count)
{
	uint32_t i;
	int ret;

	if (queue->pieces.reads)
		return -EBUSY;
	for (i = 0; i < count; i++) {
		if (!reads[i].length ||
		    reads[i].landing > queue->landing_size ||
		    reads[i].length > queue->landing_size - reads[i].landing)
			return -EINVAL;
	}

	ret = ibv_req_notify_cq(queue->cq, 0);
	if (ret)
		return -ret;
	queue->pieces = (struct dart_read_pieces){
		.reads = reads,
		.count = count,
		.length_max = queue->length_max,
	};
	queue->remaining =
		dart_read_pieces__count(reads, count, queue->length_max);
	queue->permitted = 0;
	queue->completed = 0;
	return 0;
}

int dart_read_queue__post(struct dart_read_queue *queue, uint32_t operations)
{
	if (!queue->pieces.reads)
		return -EINVAL;
	queue->permitted +=
		min_u32(operations, queue->remaining - queue->permitted);
	return post(queue);
}

uint32_t dart_read_queue__take_completed(struct dart_read_queue *queue)
{
	uint32_t completed = queue->completed;

	queue->completed = 0;
	return completed;
}

static int explain(enum ibv_wc_status status, struct dart_error *error)
{
	switch (status) {
	case IBV_WC_REM_ACCESS_ERR:
		return dart_error__set(
			error, EACCES,
			"the host refused a READ: remote access error");
	case IBV_WC_RETRY_EXC_ERR:
		return dart_error__set(error, ETIMEDOUT,
				       "the host no longer answers");
	case IBV_WC_WR_FLUSH_ERR:
		return dart_error__set(error, EIO,
				       "the connection broke during a READ");
	default:
		return dart_error__set(error, EIO, "a READ failed: %s",
				       ibv_wc_status_str(status));
	}
}

static void end_run(struct dart_read_queue *queue)
{
	const struct dart_read_run *run = &queue->runs[queue->first_run];

	queue->operations -= run->operations;
	queue->bytes -= run->bytes;
	queue->completed += run->operations;
	queue->first_run = (queue->first_run + 1) % DART_READ_RUNS_MAX;
	queue->run_count--;
}

/* Takes the completions; returns 1 if the batch has completed. */
static int reap(struct dart_read_queue *queue, struct dart_error *error)
{
	struct ibv_wc wc;
	int n, ret;

	while ((n = ibv_poll_cq(queue->cq, 1, &wc)) > 0) {
		if (wc.status != IBV_WC_SUCCESS)
			return explain(wc.status, error);
		end_run(queue);
		ret = post(queue);
		if (ret)
			return dart_error__set(error, EIO,
					       "cannot post a READ: %s",
					       strerror(-ret));
		if (!queue->operations && !queue->remaining) {
			queue->pieces.reads = NULL;
			return 1;
		}
	}
	if (n < 0)
		return dart_error__set(error, EIO,
				       "the completion queue is broken");
	return 0;
}

int dart_read_queue__on_completion(struct dart_read_queue *queue,
				   struct dart_error *error)
{
	struct ibv_cq *cq;
	void *context;
	int ret;

	if (!ibv_get_cq_event(queue->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	if (!queue->pieces.reads)
		return 0;

	ret = reap(queue, error);
	if (ret)
		return ret;
	/* A completion before the queue is armed makes no event: poll again. */
	ret = ibv_req_notify_cq(queue->cq, 0);
	if (ret)
		return dart_error__set(error, EIO, "cannot wait for READs: %s",
				       strerror(ret));
	return reap(queue, error);
}
