/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * READs in flight: the queue pair of an RDMA CM identifier, and one batch at a time.  Private
 * to the endpoint.
 */
#ifndef DART_READ_QUEUE_H
#define DART_READ_QUEUE_H

#include <stdbool.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <libdart/error.h>
#include <libdart/rdma/landing_internal.h>
#include <libdart/rdma/read_pieces_internal.h>
#include <libdart/rdma/read_plan.h>

/*
 * Operations of a batch that is posted bit by bit: its user hears of their completion in
 * runs of so many.  The device works on one while the user hears of another: adapters
 * answer 16 READs at a time.
 */
#define DART_READ_RUN		8
#define DART_READ_RUNS_MAX	16

/* Operations that complete together: the last of them is signaled. */
struct dart_read_run {
	uint32_t operations;
	uint32_t bytes;
};

/* Work requests of one call to the device; of the thread that posts. */
struct dart_read_scratch {
	uint32_t room;			/* operations */
	struct ibv_send_wr *requests;
	struct ibv_sge *landings;
};

/* Room for half of @depth operations.  Returns 0 or -ENOMEM. */
int dart_read_scratch__open(struct dart_read_scratch *scratch, uint32_t depth);
/* Also of zeros, or if dart_read_scratch__open() failed. */
void dart_read_scratch__close(struct dart_read_scratch *scratch);

struct dart_read_queue {
	struct rdma_cm_id *id;		/* borrowed */
	struct ibv_qp *qp;		/* of @id */
	struct dart_read_scratch *scratch;
	uint64_t number;		/* of its work requests */
	uint64_t bits_per_s;		/* of the port; 0: not known */
	uint32_t depth;			/* operations in flight, at most */
	uint32_t bytes_max;		/* in flight */
	uint32_t length_max;		/* bytes of an operation */
	const struct dart_landing *landing;	/* of READs; NULL: none */

	/*
	 * The batch in flight, posted in chunks.  Two chunks fill the queue:
	 * the device works on one while the other is posted.
	 */
	struct dart_read_pieces pieces;	/* to be posted; READs of NULL: no batch */
	uint32_t remaining;		/* operations to be posted */
	uint32_t permitted;		/* of them, now */
	uint32_t chunk;			/* operations of a chunk, at most */
	uint32_t operations;		/* in flight */
	uint32_t bytes;
	uint32_t completed;		/* operations, since they were last asked for */
	struct dart_read_run runs[DART_READ_RUNS_MAX];	/* in flight, a ring */
	uint32_t first_run;
	uint32_t run_count;

	bool has_failed;
	enum ibv_wc_status status;	/* of a READ that failed */
	const char *step;		/* the step that failed instead, */
	int step_error;			/* as -errno; 0: nothing */
};

/* The objects that a queue pair is made of. */
struct dart_read_queue_parts {
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	uint32_t depth;
	uint32_t receives;
	struct dart_read_scratch *scratch;
	uint64_t number;		/* of all its work requests */
};

/*
 * Creates the queue pair of @id.  Returns 0 or -errno; in both cases
 * dart_read_queue__close() cleans up.  It also accepts a queue that is all
 * zeros.
 */
int dart_read_queue__open(struct dart_read_queue *queue, struct rdma_cm_id *id,
			  const struct dart_read_queue_parts *parts);
/* Nothing is in flight afterwards: landings may be freed. */
void dart_read_queue__close(struct dart_read_queue *queue);

/* Call this if the MTU of the identifier's path has changed since the queue was opened. */
void dart_read_queue__fit_path(struct dart_read_queue *queue);

/* Like the endpoint's functions of the same names. */
int dart_read_queue__land_at(struct dart_read_queue *queue, const struct dart_landing *landing);
void dart_read_queue__cut(struct dart_read_queue *queue, uint32_t length);
int dart_read_queue__begin(struct dart_read_queue *queue,
			   const struct dart_read *reads, uint32_t count);
int dart_read_queue__post(struct dart_read_queue *queue, uint32_t operations);
uint32_t dart_read_queue__take_completed(struct dart_read_queue *queue);

/*
 * Takes a completion, and posts as many operations as there is room for now.  Returns 1 if the
 * batch has completed, 0 if not yet, or -EACCES, -ETIMEDOUT or -EIO: then the queue has failed, and
 * takes no more of them.
 */
int dart_read_queue__complete(struct dart_read_queue *queue, enum ibv_wc_status status);
/* @step, a constant, has failed with @error, as -errno.  Returns -EIO. */
int dart_read_queue__fail(struct dart_read_queue *queue, const char *step, int error);
/* Tells why it has failed; returns the result of the functions above. */
int dart_read_queue__explain(const struct dart_read_queue *queue, struct dart_error *error);

#endif /* DART_READ_QUEUE_H */
