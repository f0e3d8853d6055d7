// SPDX-License-Identifier: GPL-2.0-only
/* Opens the queue pair that takes the reports from one address. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <libdart/rdma/verbs.h>

#include "neighbour.h"
#include "report_qp.h"

static const char *const words[] = {
	[REPORT_AUTO] = "auto",
	[REPORT_UC] = "uc",
	[REPORT_RC] = "rc",
};

int report_transport__parse(const char *word, enum report_transport *transport)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(word, words[i]))
			continue;
		*transport = i;
		return 0;
	}
	return -EINVAL;
}

const char *report_transport__word(enum report_transport transport)
{
	return words[transport];
}

static int report_qp__initialize(const struct report_qp *report_qp)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT,
		.port_num = report_qp->path.port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	return ibv_modify_qp(report_qp->queue_pair, &attributes,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* The least path MTU for WRITEs of @length bytes. */
static enum ibv_mtu mtu_for(uint32_t length)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && UINT32_C(128) << mtu < length)
		mtu++;
	return mtu;
}

/*
 * The queue pair only receives, but the kernel resolves the reporter's MAC
 * address all the same.
 */
static int report_qp__start_receiving(const struct report_qp *report_qp)
{
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_for(report_qp->write_max),
		.rq_psn = report_qp->first_psn,
		.ah_attr = local_path__address(&report_qp->path),
	};

	return ibv_modify_qp(report_qp->queue_pair, &attributes,
			     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);
}

/* Only some adapters have unreliable connections, and their drivers refuse with different codes. */
static bool has_no_unreliable(int code)
{
	return code == EOPNOTSUPP || code == EINVAL;
}

static int cannot_open(const struct device *device, const struct report_qp_origin *origin, int code,
		       struct dart_error *error)
{
	if (has_no_unreliable(code) && origin->has_choice)
		return dart_error__set(
			error, EOPNOTSUPP,
			"RDMA device %s has no unreliable connected queue pairs (UC), which this store needs (a store created with --transport rc needs none)",
			device__name(device));
	if (has_no_unreliable(code))
		return dart_error__set(
			error, EOPNOTSUPP,
			"RDMA device %s has no unreliable connected queue pairs (UC), which journals and sketches need (see dartctl doctor)",
			device__name(device));
	return dart_error__system(error, code, "cannot open a queue pair");
}

static int report_qp__open_reliable(struct report_qp *report_qp, const struct device *device,
				    struct dart_error *error)
{
	const struct answering_qp_kind kind = {
		.one = "a reporter",
		.all = "reporters",
		.access = IBV_ACCESS_REMOTE_WRITE,
		.path_mtu = mtu_for(report_qp->write_max),
		.has_first_psn = true,
		.first_psn = report_qp->first_psn,
	};
	struct answering_qp answering_qp;
	int ret = answering_qp__open(&answering_qp, &kind, device, report_qp->view.pd,
				     &report_qp->path, error);

	if (ret)
		return ret;
	report_qp->queue_pair = answering_qp.queue_pair;
	report_qp->is_reliable = true;
	return 0;
}

static int report_qp__open(struct report_qp *report_qp, const struct device *device,
			   const struct report_qp_origin *origin, struct dart_error *error)
{
	const enum report_transport transport = origin->transport;
	int code;

	if (transport == REPORT_RC)
		return report_qp__open_reliable(report_qp, device, error);
	report_qp->queue_pair = device__create_qp(report_qp->view.pd, IBV_QPT_UC,
						  device->cq, device->cq, 1);
	if (!report_qp->queue_pair) {
		code = errno;
		if (transport == REPORT_AUTO && has_no_unreliable(code))
			return report_qp__open_reliable(report_qp, device, error);
		return cannot_open(device, origin, code, error);
	}
	code = report_qp__initialize(report_qp) ?: report_qp__start_receiving(report_qp);
	if (!code)
		return 0;
	ibv_destroy_qp(report_qp->queue_pair);
	return local_path__explain(&report_qp->path, code, error);
}

static int report_qp__choose_psn(struct report_qp *report_qp, int32_t first_psn,
				 struct dart_error *error)
{
	uint32_t random;

	if (first_psn == REPORT_QP_PSN_ANY) {
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return dart_error__set(error, EIO, "cannot get random numbers");
		first_psn = random & REPORT_QP_PSN_MAX;
	}
	report_qp->first_psn = first_psn;
	return 0;
}

static int report_qp__connect(struct report_qp *report_qp, const struct device *device,
			      void *memory, const struct report_qp_origin *origin,
			      struct dart_error *error)
{
	int ret;

	ret = local_path__find(&report_qp->path, device, report_qp->peer.address, error) ?:
		      neighbour__resolve(report_qp->peer.address, error)		 ?:
		      memory_view__open(&report_qp->view, device, memory, report_qp->peer.length,
					IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
					origin->base, error);
	if (ret)
		return ret;
	ret = report_qp__choose_psn(report_qp, origin->first_psn, error) ?:
		      report_qp__open(report_qp, device, origin, error);
	if (ret)
		memory_view__close(&report_qp->view);
	return ret;
}

int report_qp__new(const struct device *device, struct in_addr address, void *memory,
		   uint64_t length, uint32_t write_max, const struct report_qp_origin *origin,
		   struct report_qp **result, struct dart_error *error)
{
	struct report_qp *report_qp;
	int ret;

	report_qp = calloc(1, sizeof(*report_qp));
	if (!report_qp)
		return dart_error__no_memory(error);
	report_qp->peer.address = address;
	report_qp->peer.length = length;
	report_qp->write_max = write_max;
	ret = report_qp__connect(report_qp, device, memory, origin, error);
	if (ret)
		free(report_qp);
	else
		*result = report_qp;
	return ret;
}

void report_qp__free(struct report_qp *report_qp)
{
	ibv_destroy_qp(report_qp->queue_pair);
	memory_view__close(&report_qp->view);
	free(report_qp);
}

void report_qp__describe(const struct report_qp *report_qp, struct dart_collector *collector)
{
	collector->reporter = report_qp->path.peer;
	collector->ip = report_qp->path.local;
	collector->dscp = report_qp->path.traffic_class >> DART_VERBS_DSCP_SHIFT;
	collector->qpn = report_qp->queue_pair->qp_num;
	collector->rkey = report_qp->view.memory_region->rkey;
	collector->first_psn = report_qp->first_psn;
	collector->is_reliable = report_qp->is_reliable;
	collector->base = report_qp->view.base;
	memcpy(collector->mac, report_qp->path.mac, sizeof(collector->mac));
}

struct answering_qp_state report_qp__state(const struct report_qp *report_qp)
{
	return answering_qp__state(&(struct answering_qp){ .queue_pair = report_qp->queue_pair });
}
