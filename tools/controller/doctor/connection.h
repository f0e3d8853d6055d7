/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of the way to a host up to an established connection: "route", "rdma", "gid", "firewall",
 * "connect".
 */
#ifndef CONTROLLER_DOCTOR_CONNECTION_H
#define CONTROLLER_DOCTOR_CONNECTION_H

#include <libdart/rdma/endpoint.h>

#include "tools/controller/settings/settings.h"
#include "tools/doctor/findings.h"
#include "tools/doctor/rdma_port.h"

/* Checks wait no longer than this for an answer of the host. */
#define ANSWER_TIMEOUT_MS 10000

struct connection {
	const struct target_settings *target;
	const char *address; /* numeric address of the host */
	struct dart_endpoint *endpoint; /* NULL unless connected */
	struct dart_endpoint_path path;
	struct rdma_port port; /* RDMA port of this machine */
};

/* Returns true once the host accepted the connection; the caller then frees the endpoint. */
bool check_connection(struct findings *findings, struct connection *connection);

/* Checks that need no READ: "mtu", "clock". */
void check_mtu(struct findings *findings, const struct connection *connection);
/* @offset_ns: offset of the host's clock from the local clock, accurate to @uncertainty_ns. */
void check_remote_clock(struct findings *findings, const struct connection *connection,
			int64_t offset_ns, uint64_t uncertainty_ns);

#endif /* CONTROLLER_DOCTOR_CONNECTION_H */
