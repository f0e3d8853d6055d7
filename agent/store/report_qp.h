/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A reporter of a store: a queue pair that takes the reports that come from one
 * address, see <dart/store.h>.
 */
#ifndef REPORT_QP_H
#define REPORT_QP_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/queue.h>

#include <libdart/error.h>
#include "agent/rdma/device.h"

struct report_qp {
	TAILQ_ENTRY(report_qp) link;
	struct in_addr address;	/* where reports come from */
	struct in_addr local;	/* where they go to, and to which MAC */
	uint8_t mac[6];
	struct ibv_qp *queue_pair;
	uint32_t first_psn;
};

TAILQ_HEAD(report_qps, report_qp);

/*
 * Lets @address WRITE what is registered in @pd.  This asks the network for it and
 * may take a second.
 */
int report_qp__new(const struct device *device, struct ibv_pd *pd,
		   struct in_addr address, struct report_qp **report_qp,
		   struct dart_error *error);
void report_qp__free(struct report_qp *report_qp);

#endif /* REPORT_QP_H */
