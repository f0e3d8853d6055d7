/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA device of this host and its port, as sysfs shows them. */
#ifndef RDMA_PORT_H
#define RDMA_PORT_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>

#include "findings.h"

struct rdma_port {
	char device[NAME_MAX + 1];
	char netdev[IFNAMSIZ]; /* or "" */
	char state[32]; /* "ACTIVE", "DOWN" */
	bool is_active;
	bool is_roce; /* neither InfiniBand nor iWARP */
	bool is_soft; /* rxe: its packets pass the host's network stack */
	bool has_ipv4, has_ipv6; /* a RoCE v2 GID with such an address */
	char address[16]; /* the first of IPv4, as a.b.c.d */
};

/* Checks "rdma_cm": the RDMA CM can be opened. */
void check_rdma_cm(struct findings *findings);
/*
 * Checks "rdma" and "gid", the latter only if the port is there and active, which
 * is true then; @port is found as above.
 */
bool check_rdma_port(struct findings *findings, struct rdma_port *port, const char *name);

#endif /* RDMA_PORT_H */
