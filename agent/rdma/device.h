/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA device through which controllers read this host. */
#ifndef DEVICE_H
#define DEVICE_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#include <libdart/rdma/cm_contexts.h>

struct device {
	uint8_t dscp;		/* of packets that dartd sends; 0: the peers' choice */
	const char *wanted;	/* its name in the configuration; NULL: the first one */
	char name[IBV_SYSFS_NAME_MAX];	/* of the last one that was opened, or "" */
	/*
	 * NULL while no device is open.  A separate context: the RDMA CM never closes the one it
	 * opened.
	 */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_pd *message_pd;	/* of queue pairs that serve no READs */
	struct ibv_cq *cq;	/* of queue pairs that post no work: empty */
	uint8_t reads_max;	/* READs in flight that a queue pair serves */
	bool has_atomics;
	/* A READ of a row can show values of two updates: see "Hosts" in <dart/control.h>. */
	bool mixes_updates;
	sd_event_source *events;
	struct dart_cm_contexts *cm_contexts;	/* of all devices */
	/* The device has failed, or is being removed; it is still open. */
	void (*lost)(void *subject, bool is_removed, const char *reason);
	void *subject;
};

/* The name of no device: then nobody connects, and all pointers are NULL. */
#define DEVICE_NONE "none"

/*
 * The device called @wanted, NULL for the first one, is not open yet.  All of these outlive
 * it; @lost is called at most once for each opening.
 */
void device__prepare(struct device *device, const char *wanted, uint8_t dscp,
		     struct dart_cm_contexts *cm_contexts,
		     void (*lost)(void *subject, bool is_removed, const char *reason),
		     void *subject);
/* Does the configuration ask for an RDMA device? */
bool device__is_wanted(const struct device *device);
/* Opens the device; -ENODEV if it is absent. */
int device__open(struct device *device, sd_event *loop, struct dart_error *error);
/* Afterwards it can be opened again. */
void device__close(struct device *device);
/* Calls @lost of the device, if it is open. */
void device__lose(const struct device *device, bool is_removed, const char *reason);
/* Is @verbs, the context of an RDMA CM identifier, of the device that is open? */
bool device__is(const struct device *device, const struct ibv_context *verbs);

/* A queue pair with room for so many sends and one receive; NULL and errno. */
struct ibv_qp *device__create_qp(struct ibv_pd *pd, enum ibv_qp_type type, struct ibv_cq *sent,
				 struct ibv_cq *received, uint32_t sends);
/* The path MTU that a port takes; the largest one if the device does not tell. */
enum ibv_mtu device__path_mtu(struct ibv_context *context, uint8_t port_number);
/* The traffic class of packets to peers that did not choose one. */
uint8_t device__traffic_class(const struct device *device);
/*
 * Moves the queue pair of the peer of @id to the next state, with these access flags and READs in
 * flight instead of the RDMA CM's values, which would let the peer WRITE and use atomics, too, with
 * the path MTU of this end if the peer's is larger, and with the device's DSCP if it has one; -errno.
 */
int device__advance_qp(const struct device *device, struct ibv_qp *queue_pair,
		       struct rdma_cm_id *id, enum ibv_qp_state state, unsigned int access,
		       uint8_t reads);

/* Name of the device that is open or awaited, or DEVICE_NONE. */
const char *device__name(const struct device *device);
/* The same, or NULL while the agent waits for any device. */
const char *device__known_name(const struct device *device);

#endif /* DEVICE_H */
