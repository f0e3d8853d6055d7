/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA device through which controllers read this host. */
#ifndef DEVICE_H
#define DEVICE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

struct device {
	/* all devices, open: the same contexts as those of the RDMA CM */
	struct ibv_context **devices;
	struct ibv_context *context;	/* the one in use */
	struct ibv_pd *pd;
	struct ibv_pd *message_pd;	/* of queue pairs that serve no READs */
	struct ibv_cq *cq;	/* of queue pairs that post no work: empty */
	uint8_t reads_max;	/* READs in flight that a queue pair serves */
	sd_event_source *events;
};

/* The name of no device: then nobody connects, and all pointers are NULL. */
#define DEVICE_NONE "none"

/*
 * Opens the device called @name, NULL for the first one.  The event loop exits if
 * the device fails.
 */
int device__open(struct device *device, sd_event *loop, const char *name,
		 struct dart_error *error);
void device__close(struct device *device);

/* A queue pair with room for so many sends and one receive; NULL and errno. */
struct ibv_qp *device__create_qp(struct ibv_pd *pd, enum ibv_qp_type type,
				 struct ibv_cq *sent, struct ibv_cq *received,
				 uint32_t sends);
/*
 * Moves the queue pair of the peer of @id to the next state, with these access flags and
 * READs in flight instead of those of the RDMA CM, which would let the peer WRITE and use
 * atomics, too; -errno.
 */
int device__advance_qp(struct ibv_qp *queue_pair, struct rdma_cm_id *id,
		       enum ibv_qp_state state, unsigned int access,
		       uint8_t reads);

const char *device__name(const struct device *device);

#endif /* DEVICE_H */
