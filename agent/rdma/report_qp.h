/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair that takes the WRITEs of one reporter, by its address: see <dart/store.h> and
 * <dart/journal.h>.
 */
#ifndef REPORT_QP_H
#define REPORT_QP_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include <libdart/error.h>
#include <libdart/report/collectors.h>

#include "device.h"
#include "local_path.h"
#include "memory_view.h"
#include "remote_objects.h"

struct report_qp {
	struct remote_peer peer;
	struct local_path path; /* from the reporter */
	struct ibv_qp *queue_pair;
	struct memory_view view; /* that it writes */
	uint64_t former_base; /* of the view, before it turned */
	uint32_t first_psn;
	uint32_t write_max; /* bytes of a WRITE */
};

#define REPORT_QP_PSN_MAX 0xffffff
#define REPORT_QP_PSN_ANY (-1) /* a random one */

/* Numbers that reporters know from an earlier dartd, checked. */
struct report_qp_origin {
	int32_t first_psn;
	uint64_t base; /* 0: a random one */
};

/*
 * Lets the host at @address WRITE the @length bytes of @memory, at most @write_max bytes at a time,
 * which the path MTU of the device's port must allow.  -EAGAIN while it does not answer ARP; the
 * caller tries again.
 */
int report_qp__new(const struct device *device, struct in_addr address, void *memory,
		   uint64_t length, uint32_t write_max, const struct report_qp_origin *origin,
		   struct report_qp **report_qp, struct dart_error *error);
void report_qp__free(struct report_qp *report_qp);

/* Sets the members of @collector that say how the reporter reaches the memory. */
void report_qp__describe(const struct report_qp *report_qp, struct dart_collector *collector);

#endif /* REPORT_QP_H */
