/* SPDX-License-Identifier: GPL-2.0-only */
/* The abilities of an RDMA device, which its driver is asked for. */
#ifndef TRANSPORT_H
#define TRANSPORT_H

#include "findings.h"
#include "rdma_port.h"

enum transport_use {
	TRANSPORT_OF_HOST,	/* dartd: READs by controllers, and reports to stores */
	TRANSPORT_OF_STORES,	/* the same, and this host has stores */
	TRANSPORT_OF_UNRELIABLE,	/* the same, and some take reports over UC only */
	TRANSPORT_OF_CONTROLLER,
};

/*
 * Checks "transport": tries to create a queue pair of each kind that dartd or a controller uses on
 * the device of @port, and names the features that fail without it.  Adds no finding if this user
 * cannot open the device.
 */
void check_transport(struct findings *findings, const struct rdma_port *port,
		     enum transport_use use);

#endif /* TRANSPORT_H */
