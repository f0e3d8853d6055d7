/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The path MTU that both ends take: <dart/control.h>.  librdmacm sets up the queue pair of an
 * identifier with that of its own end as soon as the agent accepts, so it does not get to see
 * the queue pair until this side has done it.
 */
#ifndef DART_PATH_MTU_H
#define DART_PATH_MTU_H

#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

/* A queue pair that is taken away from its identifier; NULL: it has it. */
struct dart_held_qp {
	struct ibv_qp *qp;
	uint32_t own_mtu; /* bytes, of this end of the path; 0: not known */
};

/* After rdma_connect(). */
void dart_held_qp__hold(struct dart_held_qp *held, struct rdma_cm_id *id);
/* Gives it back, if it is held; before the identifier or the queue pair is destroyed. */
void dart_held_qp__release(struct dart_held_qp *held, struct rdma_cm_id *id);
/*
 * After RDMA_CM_EVENT_CONNECT_RESPONSE with this private data: sets the queue pair up, gives
 * it back, and tells the agent.  The path of @id then has the MTU that both ends take.
 * Returns 0, or -errno and a sentence.
 */
int dart_held_qp__establish(struct dart_held_qp *held, struct rdma_cm_id *id,
			    const void *answer, size_t length,
			    struct dart_error *error);

#endif /* DART_PATH_MTU_H */
