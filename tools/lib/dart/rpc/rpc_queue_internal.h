/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue pair of a client of <dart/rpc.h>: SENDs requests, and RECEIVEs the messages of
 * answers into buffers of its own.  Private to the client.
 */
#ifndef DART_RPC_QUEUE_H
#define DART_RPC_QUEUE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

#include <dart/rpc.h>
#include <libdart/error.h>

/* Receives, and the bytes of each: of an answer that is longer, the agent sends parts. */
#define DART_RPC_QUEUE_RECEIVES		8
#define DART_RPC_QUEUE_ANSWER_MAX	4096

/* All zeros: not open. */
struct dart_rpc_queue {
	struct rdma_cm_id *id;		/* borrowed */
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *memory_region;	/* over the next two */
	struct {
		uint8_t answers[DART_RPC_QUEUE_RECEIVES][DART_RPC_QUEUE_ANSWER_MAX];
		/* The next request, to be written while none waits for its answer. */
		uint8_t request[DART_RPC_REQUEST_MAX];
	} memory;
	int used;	/* index + 1 of the receive lent to the caller; 0: none */
};

/*
 * Creates the queue pair of @id, with all receives.  Returns 0 or -errno; in both cases
 * dart_rpc_queue__close() cleans up.
 */
int dart_rpc_queue__open(struct dart_rpc_queue *queue, struct rdma_cm_id *id);
void dart_rpc_queue__close(struct dart_rpc_queue *queue);
/* To call when it is connected. */
void dart_rpc_queue__set_timer(const struct dart_rpc_queue *queue);

int dart_rpc_queue__send(struct dart_rpc_queue *queue, size_t length, struct dart_error *error);
/*
 * Returns 1 and a message, valid until the next call; 0 if none has arrived: then there
 * will be an event of the channel; or sets @error and returns -errno.
 */
int dart_rpc_queue__receive(struct dart_rpc_queue *queue, const void **bytes,
			    size_t *length, struct dart_error *error);

#endif /* DART_RPC_QUEUE_H */
