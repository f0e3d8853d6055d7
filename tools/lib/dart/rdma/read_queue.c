// SPDX-License-Identifier: LGPL-2.1-or-later
/* Posts READs to a queue pair and reaps their completions: see read_queue_internal.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/rdma/verbs.h>

#include "path_internal.h"
#include "read_queue_internal.h"

/* That of soft-RoCE on Ethernet. */
#define MTU_DEFAULT	1024

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

int dart_read_scratch__open(struct dart_read_scratch *scratch, uint32_t depth)
{
	scratch->room = depth > 1 ? depth / 2 : 1;
	scratch->requests = calloc(scratch->room, sizeof(*scratch->requests));
	scratch->landings = calloc(scratch->room, sizeof(*scratch->landings));
	return scratch->requests && scratch->landings ? 0 : -ENOMEM;
}

void dart_read_scratch__close(struct dart_read_scratch *scratch)
{
	free(scratch->requests);
	free(scratch->landings);
	*scratch = (struct dart_read_scratch){ };
}

void dart_read_queue__fit_path(struct dart_read_queue *queue)
{
	queue->bytes_max = DART_READ_PACKETS_MAX * (dart_path__mtu(queue->id) ?: MTU_DEFAULT);
	queue->length_max = min_u32(queue->length_max, queue->bytes_max);
}

int dart_read_queue__open(struct dart_read_queue *queue, struct rdma_cm_id *id,
			  const struct dart_read_queue_parts *parts)
{
	struct ibv_qp_init_attr attributes = {
		.qp_type = IBV_QPT_RC,
		.send_cq = parts->cq,
		.recv_cq = parts->cq,
		.cap.max_send_wr = parts->depth,
		.cap.max_recv_wr = parts->receives ?: 1,
		.cap.max_send_sge = 1,
		.cap.max_recv_sge = 1,
	};
	struct ibv_port_attr port;
	int ret;

	queue->id = id;
	queue->scratch = parts->scratch;
	queue->number = parts->number;
	queue->depth = parts->depth;
	queue->chunk = min_u32(parts->scratch->room, parts->depth > 1 ? parts->depth / 2 : 1);
	ret = ibv_query_port(id->verbs, id->port_num, &port);
	if (ret)
		return -ret;
	if (!port.max_msg_sz)
		return -EINVAL;
	queue->bits_per_s = dart_path__link_speed(port.active_speed, port.active_width);
	queue->length_max = port.max_msg_sz;
	dart_read_queue__fit_path(queue);
	if (rdma_create_qp(id, parts->pd, &attributes))
		return -errno;
	queue->qp = id->qp;
	return 0;
}

void dart_read_queue__close(struct dart_read_queue *queue)
{
	if (queue->id && queue->id->qp)
		rdma_destroy_qp(queue->id);
}

int dart_read_queue__land_at(struct dart_read_queue *queue, const struct dart_landing *landing)
{
	if (queue->pieces.reads)
		return -EBUSY;
	queue->landing = landing;
	return 0;
}

static void prepare(struct dart_read_queue *queue, uint32_t slot, const struct dart_read *piece)
{
	const struct dart_landing *landing = queue->landing;
	struct dart_read_scratch *scratch = queue->scratch;

	scratch->landings[slot] = (struct ibv_sge) {
		.addr = (uintptr_t)landing->memory + piece->landing,
		.length = piece->length,
		.lkey = landing->lkey,
	};
	scratch->requests[slot] = (struct ibv_send_wr) {
		.wr_id = queue->number,
		.next = &scratch->requests[slot + 1],
		.sg_list = &scratch->landings[slot],
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
	run = &queue->runs[(queue->first_run + queue->run_count) % DART_READ_RUNS_MAX];
	*run = (struct dart_read_run){};
	queue->run_count++;
	return run;
}

static bool take_piece(struct dart_read_queue *queue, struct dart_read *piece)
{
	return queue->permitted && queue->operations < queue->depth &&
	       dart_read_pieces__take(&queue->pieces, queue->bytes_max - queue->bytes, piece);
}

/* Prepares the permitted operations that fit into a chunk; returns how many. */
static uint32_t fill_chunk(struct dart_read_queue *queue)
{
	/* Nobody waits for the first of them if the batch is permitted as a whole. */
	const uint32_t run_max = queue->permitted < queue->remaining ? DART_READ_RUN : queue->chunk;
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
			queue->scratch->requests[n].send_flags = IBV_SEND_SIGNALED;
			run = NULL;
		}
	}
	return n;
}

/* Fills the queue pair; only the last operation of a run is signaled. */
static int post(struct dart_read_queue *queue)
{
	struct ibv_send_wr *requests = queue->scratch->requests, *bad;
	uint32_t n;
	int ret;

	while ((n = fill_chunk(queue))) {
		requests[n - 1].next = NULL;
		requests[n - 1].send_flags = IBV_SEND_SIGNALED;
		ret = dart_verbs__result(ibv_post_send(queue->qp, requests, &bad));
		if (ret)
			return ret;
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
	const size_t size = queue->landing ? queue->landing->size : 0;
	uint32_t i;

	if (queue->pieces.reads)
		return -EBUSY;
	for (i = 0; i < count; i++) {
		if (!reads[i].length || reads[i].landing > size ||
		    reads[i].length > size - reads[i].landing)
			return -EINVAL;
	}

	queue->pieces = (struct dart_read_pieces){
		.reads = reads,
		.count = count,
		.length_max = queue->length_max,
	};
	queue->remaining = dart_read_pieces__count(reads, count, queue->length_max);
	queue->permitted = 0;
	queue->completed = 0;
	return 0;
}

int dart_read_queue__post(struct dart_read_queue *queue, uint32_t operations)
{
	if (!queue->pieces.reads)
		return -EINVAL;
	queue->permitted += min_u32(operations, queue->remaining - queue->permitted);
	return post(queue);
}

uint32_t dart_read_queue__take_completed(struct dart_read_queue *queue)
{
	uint32_t completed = queue->completed;

	queue->completed = 0;
	return completed;
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

static int error_of(const struct dart_read_queue *queue)
{
	if (queue->step_error)
		return -EIO;
	switch (queue->status) {
	case IBV_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IBV_WC_RETRY_EXC_ERR:
		return -ETIMEDOUT;
	default:
		return -EIO;
	}
}

int dart_read_queue__complete(struct dart_read_queue *queue, enum ibv_wc_status status)
{
	int ret;

	if (queue->has_failed)
		return 0;
	if (status != IBV_WC_SUCCESS) {
		queue->has_failed = true;
		queue->status = status;
		return error_of(queue);
	}
	if (!queue->run_count)
		return 0;
	end_run(queue);
	ret = post(queue);
	if (ret)
		return dart_read_queue__fail(queue, "cannot post a READ", ret);
	if (queue->operations || queue->remaining)
		return 0;
	queue->pieces.reads = NULL;
	return 1;
}

int dart_read_queue__fail(struct dart_read_queue *queue, const char *step, int error)
{
	queue->has_failed = true;
	queue->step = step;
	queue->step_error = error;
	return error_of(queue);
}

int dart_read_queue__explain(const struct dart_read_queue *queue, struct dart_error *error)
{
	const int ret = -error_of(queue);

	if (queue->step_error)
		return dart_error__set(error, ret, "%s: %s", queue->step,
				       strerror(-queue->step_error));
	switch (queue->status) {
	case IBV_WC_REM_ACCESS_ERR:
		return dart_error__set(error, ret, "the host refused a READ: remote access error");
	case IBV_WC_RETRY_EXC_ERR:
		return dart_error__set(error, ret, "the host no longer answers");
	case IBV_WC_WR_FLUSH_ERR:
		return dart_error__set(error, ret, "the connection broke during a READ");
	default:
		return dart_error__set(error, ret, "a READ failed: %s",
				       ibv_wc_status_str(queue->status));
	}
}
