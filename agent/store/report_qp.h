/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair of a store that takes the reports from one address, see
 * <dart/store.h>.
 */
#ifndef REPORT_QP_H
#define REPORT_QP_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include <libdart/error.h>

#include "agent/rdma/device.h"
#include "agent/rdma/local_path.h"
#include "agent/rdma/memory_view.h"
#include "agent/rdma/remote_objects.h"

struct report_qp {
	struct remote_peer peer;
	struct local_path path;	/* from the reporter */
	struct ibv_qp *queue_pair;
	struct memory_view view;	/* that it writes */
	uint32_t first_psn;
};

#define REPORT_QP_PSN_MAX	0xffffff
#define REPORT_QP_PSN_ANY	(-1)	/* a random one */

/* Numbers that reporters know from an earlier dartd, checked. */
struct report_qp_origin {
	int32_t first_psn;
	uint64_t base;		/* 0: a random one */
};

/*
 * Lets the peer of @path WRITE the memory of @view, from @first_psn on; takes @view over if it
 * succeeds.
 */
int report_qp__new(const struct device *device, const struct memory_view *view,
		   const struct local_path *path, int32_t first_psn, struct report_qp **report_qp,
		   struct dart_error *error);
void report_qp__free(struct report_qp *report_qp);

#endif /* REPORT_QP_H */
