/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A connection of the client of <dart/rpc.h> over TCP with TLS; private to it. */
#ifndef DART_RPC_TCP_H
#define DART_RPC_TCP_H

#include <stdint.h>

#include <libdart/rpc/tls.h>

#include "rpc_transport_internal.h"

/* As dart_rpc_client__connect_tcp(). */
int dart_rpc_tcp__open(const char *host, uint16_t port, struct dart_tls *tls, const char *name,
		       struct dart_rpc_transport **transport, struct dart_error *error);

#endif /* DART_RPC_TCP_H */
