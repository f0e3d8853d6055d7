// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sets a queue pair up with the smaller path MTU of both ends: see path_mtu_internal.h. */
#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <dart/control.h>
#include <libdart/rdma/path_mtu_internal.h>
#include <libdart/rdma/read_queue_internal.h>

void dart_held_qp__hold(struct dart_held_qp *held, struct rdma_cm_id *id)
{
	held->own_mtu = dart_read_queue__mtu(id);
	held->qp = id->qp;
	id->qp = NULL;
}

void dart_held_qp__release(struct dart_held_qp *held, struct rdma_cm_id *id)
{
	if (held->qp)
		id->qp = held->qp;
	held->qp = NULL;
}

/*
 * The path MTU of the agent's end; IBV_MTU_4096 if the agent does not tell it, or the value is
 * invalid.
 */
static enum ibv_mtu told(const void *answer, size_t length)
{
	struct dart_control_path path;
	enum ibv_mtu mtu = IBV_MTU_4096;

	if (length < DART_CONTROL_PATH_OFFSET + sizeof(path))
		return mtu;
	memcpy(&path, (const uint8_t *)answer + DART_CONTROL_PATH_OFFSET,
	       sizeof(path));
	while (mtu > IBV_MTU_256 && le32toh(path.mtu) &&
	       le32toh(path.mtu) < 128U << mtu)
		mtu--;
	return mtu;
}

static int advance(struct ibv_qp *qp, struct rdma_cm_id *id,
		   enum ibv_qp_state state, enum ibv_mtu mtu)
{
	struct ibv_qp_attr attributes = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(id, &attributes, &mask))
		return -errno;
	if (mask & IBV_QP_PATH_MTU && attributes.path_mtu > mtu)
		attributes.path_mtu = mtu;
	return -ibv_modify_qp(qp, &attributes, mask);
}

int dart_held_qp__establish(struct dart_held_qp *held, struct rdma_cm_id *id,
			    const void *answer, size_t length,
			    struct dart_error *error)
{
	const enum ibv_mtu mtu = told(answer, length);
	int ret;

	ret = advance(held->qp, id, IBV_QPS_INIT, mtu) ?:
		      advance(held->qp, id, IBV_QPS_RTR, mtu) ?:
		      advance(held->qp, id, IBV_QPS_RTS, mtu);
	if (!ret && rdma_establish(id))
		ret = -errno;
	dart_held_qp__release(held, id);
	if (ret)
		return dart_error__system(error, -ret,
					  "cannot set up the queue pair");
	if (id->route.num_paths > 0 && id->route.path_rec &&
	    id->route.path_rec->mtu > mtu)
		id->route.path_rec->mtu = mtu;
	return 0;
}
