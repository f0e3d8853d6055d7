/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transports by requests that the agent answers, see <dart/rpc.h>: rpc, over RDMA, and tcp,
 * over TCP with TLS.
 *
 * The control loop connects, with the handshake of TLS, and the I/O thread waits for the
 * descriptors: two of rpc (of the RDMA CM and of completions), one of tcp.  Answers are copied
 * out of receives, or deciphered, to the place where READs would land them.
 *
 * Flow control.  An answer cannot be cut.  So its credits are taken together before the request,
 * and given back when the last byte landed: one for each fragment of 4 KiB, but no more than can be
 * in flight at once, because the agent waits until the controller took the bytes (rpc: 32 KiB, the
 * receives; tcp: 64 KiB, the window).  An agent that is late, or silent, keeps no credits from
 * other flows: see flow__lend().  All READs, and calls over RDMA, share the credits.  Calls over
 * TCP share them if their address here is on the same interface, where they meet the others in a
 * switch; otherwise only the window bounds them.
 */
#ifndef CONTROLLER_TRANSPORT_CALL_H
#define CONTROLLER_TRANSPORT_CALL_H

#include <systemd/sd-event.h>

#include <libdart/rpc/tls.h>

#include "tools/controller/flow/transport.h"

/* Where to connect to, and who hears of it. */
struct transport_call_parts {
	sd_event *event; /* of the control loop */
	const char *host; /* numeric */
	uint16_t port;
	uint8_t dscp; /* over RDMA; 0: the default of the device */
	uint32_t interval_ms; /* that the agent is told; 0: none */
	uint32_t followed_max; /* bytes: of longer tables it does not tell when they change */
	const struct transport_handlers *handlers;
	void *data;
};

/*
 * In the control loop: begin to connect.  Over TCP the certificate of the agent must bear @name,
 * and @tls is held.  Return 0, or -errno with a sentence in @error.
 */
int transport_call__connect_rpc(const struct transport_call_parts *parts,
				struct transport **transport, struct dart_error *error);
int transport_call__connect_tcp(const struct transport_call_parts *parts, struct dart_tls *tls,
				const char *name, struct transport **transport,
				struct dart_error *error);

#endif /* CONTROLLER_TRANSPORT_CALL_H */
