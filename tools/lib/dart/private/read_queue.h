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
#include <libdart/private/read_pieces.h>
#include <libdart/rdma/read_plan.h>

struct dart_read_queue {
	struct rdma_cm_id *id;		/* borrowed */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint32_t length_max;		/* bytes of an operation, and in flight */

	void *landing;
	size_t landing_size;
	struct ibv_mr *landing_mr;

	/*
	 * The batch in flight, posted in chunks.  Two chunks fill the queue:
	 * the device works on one while the other is posted.
	 */
	struct dart_read_pieces pieces;	/* to be posted; READs of NULL: no batch */
	uint32_t chunk;			/* operations of a chunk, at most */
	uint32_t chunks_max;
	uint32_t chunks_in_flight;
	uint32_t chunk_bytes[2];	/* of those in flight, the older first */
	struct ibv_send_wr *requests;	/* room for a chunk */
	struct ibv_sge *landings;
};

/*
 * Creates the queue pair of @id.  Returns 0 or -errno; in both cases
 * dart_read_queue__close() cleans up.  It also accepts a queue that is all
 * zeros.
 */
int dart_read_queue__open(struct dart_read_queue *queue, struct rdma_cm_id *id,
			  const struct ibv_device_attr *device);
void dart_read_queue__close(struct dart_read_queue *queue);

/* Bytes of a packet's payload on the path that @id has resolved; 0: not known. */
uint32_t dart_read_queue__mtu(const struct rdma_cm_id *id);

/* Like the endpoint's functions of the same names. */
int dart_read_queue__reserve(struct dart_read_queue *queue, size_t size,
			     void **landing);
int dart_read_queue__read(struct dart_read_queue *queue,
			  const struct dart_read *reads, uint32_t count);
int dart_read_queue__on_completion(struct dart_read_queue *queue,
				   struct dart_error *error);

#endif /* DART_READ_QUEUE_H */
