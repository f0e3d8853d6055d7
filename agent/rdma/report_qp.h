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

#include "answering_qp.h"
#include "device.h"
#include "local_path.h"
#include "memory_view.h"
#include "remote_objects.h"

/* The connections that reports arrive over. */
enum report_transport {
	REPORT_AUTO, /* unreliable ones, or reliable ones if the device has no unreliable ones */
	REPORT_UC,
	REPORT_RC,
};

/* Sets *@transport to the one called "auto", "uc" or "rc"; -EINVAL for any other word. */
int report_transport__parse(const char *word, enum report_transport *transport);
const char *report_transport__word(enum report_transport transport);

struct report_qp {
	struct remote_peer peer;
	struct local_path path; /* from the reporter */
	struct ibv_qp *queue_pair;
	struct memory_view view; /* that it writes */
	uint64_t former_base; /* of the view, before it turned */
	uint32_t first_psn;
	uint32_t write_max; /* bytes of a WRITE */
	bool is_reliable; /* RC, otherwise UC */
};

#define REPORT_QP_PSN_MAX 0xffffff
#define REPORT_QP_PSN_ANY (-1) /* a random one */

/* The wanted connection, and numbers that reporters know from an earlier dartd, checked. */
struct report_qp_origin {
	int32_t first_psn;
	uint64_t base; /* 0: a random one */
	enum report_transport transport;
	bool has_choice; /* users choose the transport, as for stores */
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

/* Of a reliable queue pair: its state, as the device knows it. */
struct answering_qp_state report_qp__state(const struct report_qp *report_qp);

#endif /* REPORT_QP_H */
