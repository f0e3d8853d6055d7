/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * READs in flight: the queue pair of an RDMA CM identifier, the buffer that
 * READs land in, and one batch at a time.  Private to the endpoint.
 */
#ifndef DART_READ_QUEUE_H
#define DART_READ_QUEUE_H

#include <stdbool.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <libdart/error.h>
#include <libdart/rdma/read_plan.h>

struct dart_read_queue {
	struct rdma_cm_id *id;		/* borrowed */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint32_t read_length_max;	/* bytes of one READ */

	void *landing;
	size_t landing_size;
	struct ibv_mr *landing_mr;

	/*
	 * The batch in flight, posted in chunks.  Two chunks fill the queue:
	 * the device works on one while the other is posted.
	 */
	const struct dart_read *reads;	/* NULL if none */
	uint32_t read_count;
	uint32_t next;			/* first READ not completely posted */
	uint32_t next_done;		/* bytes of it that are posted */
	uint32_t chunk;			/* READs of a chunk, at most */
	uint32_t chunks_max;
	uint32_t chunks_in_flight;
	struct ibv_send_wr *requests;	/* room for a chunk */
	struct ibv_sge *pieces;
};

/*
 * Creates the queue pair of @id.  Returns 0 or -errno; in both cases
 * dart_read_queue__close() cleans up.  It also accepts a queue that is all
 * zeros.
 */
int dart_read_queue__open(struct dart_read_queue *queue, struct rdma_cm_id *id,
			  const struct ibv_device_attr *device);
void dart_read_queue__close(struct dart_read_queue *queue);

/* Like the endpoint's functions of the same names. */
int dart_read_queue__reserve(struct dart_read_queue *queue, size_t size,
			     void **landing);
int dart_read_queue__read(struct dart_read_queue *queue,
			  const struct dart_read *reads, uint32_t count);
int dart_read_queue__on_completion(struct dart_read_queue *queue,
				   struct dart_error *error);

#endif /* DART_READ_QUEUE_H */
