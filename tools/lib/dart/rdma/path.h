/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of a connection to an agent. */
#ifndef DART_RDMA_PATH_H
#define DART_RDMA_PATH_H

#include <stdint.h>

/* Zeros where it is not known yet. */
struct dart_endpoint_path {
	char device[64];	/* RDMA device of this host; "": not known */
	char source[46];	/* addresses as text */
	char destination[46];
	uint32_t mtu;		/* bytes of a packet's payload, accepted by both ends */
	uint32_t own_mtu;	/* accepted by this end */
	uint64_t bits_per_s;	/* of the port, as the device tells */
};

#endif /* DART_RDMA_PATH_H */
