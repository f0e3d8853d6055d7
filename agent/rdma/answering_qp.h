/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue pair that a switch or another host sends its requests to, see <dart/tea.h>,
 * <dart/ledger.h> and, for reports over reliable connections, <dart/store.h>.  It is opened by hand, only answers, and posts nothing.
 */
#ifndef ANSWERING_QP_H
#define ANSWERING_QP_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <libdart/error.h>

#include "agent/rdma/device.h"
#include "agent/rdma/local_path.h"

/* The differences between objects. */
struct answering_qp_kind {
	const char *one, *all; /* "a switch", "switches": in errors */
	unsigned int access; /* of ibv_modify_qp(3) */
	uint8_t outstanding; /* requests that the peer may have in flight */
	uint32_t peer_qpn; /* number of the peer's queue pair; 0: the same as of this one */
	enum ibv_mtu path_mtu; /* at least */
	bool needs_atomics;
	bool has_first_psn; /* that the peer knows; otherwise it is random */
	uint32_t first_psn;
};

struct answering_qp {
	struct local_path path; /* from the peer */
	struct ibv_qp *queue_pair;
	uint32_t first_psn;
};

/* The peer, as the device knows it. */
struct answering_qp_state {
	bool is_ready; /* otherwise it is in error */
	uint32_t expected_psn; /* of the next request */
};

/*
 * Finds the path of @address, and refuses a device that cannot serve it, before anything is
 * allocated for it.  -EAGAIN while the peer does not answer ARP; the caller tries again.
 */
int answering_qp__find_path(const struct answering_qp_kind *kind, const struct device *device,
			    struct in_addr address, struct local_path *path,
			    struct dart_error *error);
/* Opens the queue pair; it reaches the memory regions of @pd. */
int answering_qp__open(struct answering_qp *answering_qp, const struct answering_qp_kind *kind,
		       const struct device *device, struct ibv_pd *pd,
		       const struct local_path *path, struct dart_error *error);
void answering_qp__close(struct answering_qp *answering_qp);

/* One that the device cannot tell about is in error. */
struct answering_qp_state answering_qp__state(const struct answering_qp *answering_qp);

#endif /* ANSWERING_QP_H */
