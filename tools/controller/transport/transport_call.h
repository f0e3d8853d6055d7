/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transports by requests that the agent answers, see <dart/rpc.h>: rpc, over RDMA, and tcp,
 * over TCP with TLS.
 *
 * The control loop connects, with the handshake of TLS, and the I/O thread waits for the
 * descriptors: two of rpc (of the RDMA CM and of completions), one of tcp.  Answers are copied
 * out of receives, or deciphered, to where READs would have landed them.
 *
 * Flow control.  An answer cannot be cut, and so its credits are taken together before it is
 * asked for, and given back when the last byte has landed: one for each fragment of 4 KiB,
 * but no more than can be in flight at once, because the agent waits until it has been taken
 * (rpc: 32 KiB, those of the receives; tcp: 64 KiB, those of the window).  An agent that is
 * late, or silent, keeps none of them from others: see flow__lend().  All that the
 * control loop READs or calls by RDMA shares the credits; what it calls by TCP does if its
 * address here is on the interface of these, which is how it meets them in a switch, and has
 * only the window otherwise.
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
	const struct transport_handlers *handlers;
	void *data;
};

/*
 * In the control loop: begin to connect.  By TCP the certificate of the agent must have
 * @name, and @tls is held.  Return 0, or -errno with a sentence in @error.
 */
int transport_call__connect_rpc(const struct transport_call_parts *parts,
				struct transport **transport, struct dart_error *error);
int transport_call__connect_tcp(const struct transport_call_parts *parts, struct dart_tls *tls,
				const char *name, struct transport **transport,
				struct dart_error *error);

#endif /* CONTROLLER_TRANSPORT_CALL_H */
