/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The path MTU that both ends take: <dart/control.h>.  librdmacm would set up the queue pair of an
 * identifier with the MTU of its own end as soon as the agent accepts.  So the queue pair is hidden
 * from librdmacm until this side has set it up.
 */
#ifndef DART_PATH_MTU_H
#define DART_PATH_MTU_H

#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

/* A queue pair that is hidden from its identifier; NULL while the identifier has it. */
struct dart_held_qp {
	struct ibv_qp *qp;
	uint32_t own_mtu; /* bytes, of this end of the path; 0: not known */
};

/* Call this after rdma_connect(). */
void dart_held_qp__hold(struct dart_held_qp *held, struct rdma_cm_id *id);
/* Gives the queue pair back, if held; call this before destroying it or the identifier. */
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
