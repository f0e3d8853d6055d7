/* SPDX-License-Identifier: GPL-2.0-only */
/* What the driver of an RDMA device can do, asked of the driver itself. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "findings.h"
#include "rdma_port.h"

enum transport_use {
	TRANSPORT_OF_HOST,	/* dartd: READs by controllers, and reports to stores */
	TRANSPORT_OF_STORES,	/* the same, and this host has stores */
	TRANSPORT_OF_CONTROLLER,
};

/*
 * Checks "transport": tries to create a queue pair of each kind that dartd or a controller uses on
 * the device of @port, and says what does not work without it.  Adds no finding if this user cannot
 * open the device.
 */
void check_transport(struct findings *findings, const struct rdma_port *port,
		     enum transport_use use);

#endif /* TRANSPORT_H */
