/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mirror of an endpoint, see <dart/control.h>: memory that its agent WRITEs to.  It has a
 * protection domain of its own, which the queue pair of the endpoint shares: so no other agent
 * reaches it, and this agent nothing else.  Its address for the agent is random, and tells nothing
 * of the address space of this program.
 */
#ifndef DART_MIRROR_H
#define DART_MIRROR_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include <dart/control.h>

/* Updates that may come before the owner permits more. */
#define DART_MIRROR_UPDATES 4

/* All zeros: there is none. */
struct dart_mirror {
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	void *memory;
	uint32_t size; /* bytes */
	uint64_t address; /* for the agent */
	uint32_t updates; /* since they were asked for */
	uint32_t used; /* receives, to be posted again */
};

/*
 * Registers @size bytes, a multiple of DART_CONTROL_BLOCK, on @verbs.  Returns 0 or -errno; in both
 * cases dart_mirror__close() cleans up, after the queue pair was destroyed.
 */
int dart_mirror__open(struct dart_mirror *mirror, struct ibv_context *verbs, uint32_t size);
void dart_mirror__close(struct dart_mirror *mirror);
struct dart_control_mirror dart_mirror__offer(const struct dart_mirror *mirror);

/*
 * Posts @count receives to @qp, with @number, for the ends of updates.  Returns 0 or an error of
 * ibv_post_recv().
 */
int dart_mirror__post(struct ibv_qp *qp, uint64_t number, uint32_t count);

#endif /* DART_MIRROR_H */
