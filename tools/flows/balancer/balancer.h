/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A load balancer of layer 4: a service has an address and a port that clients know, and servers
 * that serve it.
 *
 * A new flow to a service gets a server that is up and does not drain (maglev.h), and keeps it:
 * packets of the client get the server as their destination, and answers get the service as their
 * source.  Connections of TCP are tracked, see tracking.h.
 *
 * The ends of a flow: inside is its server, outside the service, and remote the client, so entries
 * and values are those of a NAT.
 */
#ifndef FLOWS_BALANCER_H
#define FLOWS_BALANCER_H

#include "tools/flows/function/function.h"

/* What becomes of a packet. */
enum balancer_verdict {
	BALANCER_TRANSLATED,
	BALANCER_RELATED, /* an ICMP error about a flow, translated with the packet that it quotes */
	BALANCER_DOWN, /* no server of the service takes new flows */
	BALANCER_UNKNOWN, /* to a service, but it begins no connection and belongs to none */
	BALANCER_UNSERVED, /* to the address of a service, but to none of its services */
	BALANCER_UNRELATED, /* neither to a service nor from one of its servers */
	BALANCER_INVALID, /* damaged, or no host can have sent it in the state of its connection */
	BALANCER_SPOOFED, /* it does not come from the next hop of its source */
	BALANCER_LIMITED, /* its client has as many flows as it may */
	BALANCER_EXHAUSTED, /* there are as many flows as there may be */
	BALANCER_ENDED, /* its flow, or one with the same entry, is being ended */
	BALANCER_CLOSED, /* no flow can begin: the journal cannot be written */
	BALANCER_VERDICTS
};

extern const struct function_type balancer_type;

/* ---- of a function of this type; servers by their number in the policy */

/*
 * The server answers its checks, or no longer.  If it does not, flows that wait for its first
 * answer end, and if the policy says so all of its flows.
 */
void balancer__set_up(struct function *function, size_t server, bool is_up);
bool balancer__is_up(const struct function *function, size_t server);
/* The number of its flows. */
uint64_t balancer__flows(const struct function *function, size_t server);

#endif /* FLOWS_BALANCER_H */
