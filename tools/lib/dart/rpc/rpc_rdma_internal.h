/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection of the client of <dart/rpc.h> over RDMA; private to it. */
#ifndef DART_RPC_RDMA_H
#define DART_RPC_RDMA_H

#include <stdint.h>

#include "rpc_transport_internal.h"

/* As dart_rpc_client__connect_rdma(). */
int dart_rpc_rdma__open(const char *host, uint16_t port, uint8_t dscp,
			struct dart_rpc_transport **transport, struct dart_error *error);

#endif /* DART_RPC_RDMA_H */
