// SPDX-License-Identifier: GPL-2.0-only
/* Opens a queue pair that only answers, and asks the device for its state. */
#include <errno.h>
#include <net/if.h>
#include <sys/random.h>

#include "neighbour.h"
#include "answering_qp.h"

#define PSN_MASK 0xffffff

/* Bytes of the headers beside the payload of a path MTU, rounded up. */
#define MTU_HEADERS 104

/* 0.64 ms (IBTA 9.7.5.2.8); no request needs a receive. */
#define RNR_TIMER 12

static int check_mtu(const struct answering_qp_kind *kind, const struct device *device,
		     const struct local_path *path, struct dart_error *error)
{
	const int wanted = 128 << kind->path_mtu;
	struct ibv_port_attr port;
	char name[IF_NAMESIZE];
	int code = ibv_query_port(device->context, path->port, &port);

	if (code)
		return dart_error__system(error, code, "cannot query RDMA device %s",
					  device__name(device));
	if (port.active_mtu >= kind->path_mtu)
		return 0;
	return dart_error__set(
		error, EMSGSIZE,
		"%s needs a path MTU of %d, and RDMA device %s has %d: the MTU of its network device must be at least %d (ip link set %s mtu %d, and on each switch port between)",
		kind->one, wanted, device__name(device), 128 << port.active_mtu,
		wanted + MTU_HEADERS, if_indextoname(path->interface, name) ?: "DEVICE",
		wanted + MTU_HEADERS);
}

/* Can the device do what the kind needs? */
static int check_device(const struct answering_qp_kind *kind, const struct device *device,
			struct dart_error *error)
{
	if (kind->needs_atomics && !device->has_atomics)
		return dart_error__set(error, EOPNOTSUPP,
				       "RDMA device %s has no atomic operations, which %s need",
				       device__name(device), kind->all);
	if (device->reads_max < kind->outstanding)
		return dart_error__set(
			error, EOPNOTSUPP,
			"RDMA device %s serves %u READs at a time, and %s may have %u in flight",
			device__name(device), device->reads_max, kind->one, kind->outstanding);
	return 0;
}

int answering_qp__find_path(const struct answering_qp_kind *kind, const struct device *device,
			    struct in_addr address, struct local_path *path,
			    struct dart_error *error)
{
	int ret;

	if (!device->context)
		return dart_error__set(error, ENODEV,
				       "%s need the RDMA device, which is not there now",
				       kind->all);
	ret = local_path__find(path, device, address, error);
	if (ret)
		return ret;
	ret = check_device(kind, device, error) ?: check_mtu(kind, device, path, error);
	return ret ?: neighbour__resolve(address, error);
}

static int answering_qp__initialize(const struct answering_qp *answering_qp,
				    const struct answering_qp_kind *kind)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT,
		.port_num = answering_qp->path.port,
		.qp_access_flags = kind->access,
	};

	return ibv_modify_qp(answering_qp->queue_pair, &attributes,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* Who only answers stays ready to receive. */
static int answering_qp__start_receiving(const struct answering_qp *answering_qp,
					 const struct answering_qp_kind *kind)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = kind->path_mtu,
		.dest_qp_num = kind->peer_qpn ?: answering_qp->queue_pair->qp_num,
		.rq_psn = answering_qp->first_psn,
		.max_dest_rd_atomic = kind->outstanding,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = local_path__address(&answering_qp->path),
	};

	return ibv_modify_qp(answering_qp->queue_pair, &attributes,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				     IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				     IBV_QP_MIN_RNR_TIMER);
}

int answering_qp__open(struct answering_qp *answering_qp, const struct answering_qp_kind *kind,
		       const struct device *device, struct ibv_pd *pd,
		       const struct local_path *path, struct dart_error *error)
{
	uint32_t random;
	int code;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return dart_error__set(error, EIO, "cannot get random numbers");
	*answering_qp = (struct answering_qp){
		.path = *path,
		.first_psn = kind->has_first_psn ? kind->first_psn : random & PSN_MASK,
		.queue_pair = device__create_qp(pd, IBV_QPT_RC, device->cq, device->cq, 1),
	};
	if (!answering_qp->queue_pair)
		return dart_error__system(error, errno, "cannot open a queue pair");
	code = answering_qp__initialize(answering_qp, kind) ?:
		       answering_qp__start_receiving(answering_qp, kind);
	if (!code)
		return 0;
	ibv_destroy_qp(answering_qp->queue_pair);
	return local_path__explain(path, code, error);
}

void answering_qp__close(struct answering_qp *answering_qp)
{
	ibv_destroy_qp(answering_qp->queue_pair);
}

struct answering_qp_state answering_qp__state(const struct answering_qp *answering_qp)
{
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr initial;

	if (ibv_query_qp(answering_qp->queue_pair, &attributes, IBV_QP_STATE | IBV_QP_RQ_PSN,
			 &initial))
		return (struct answering_qp_state){};
	return (struct answering_qp_state){
		.is_ready = attributes.qp_state == IBV_QPS_RTR,
		.expected_psn = attributes.rq_psn & PSN_MASK,
	};
}
