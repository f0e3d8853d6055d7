/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source NAT: which address and port each flow gets.
 *
 * A mapping gives an address and a port outside to an address and a port inside, whatever hosts
 * these talk to (endpoint-independent, RFC 4787, REQ-1).  A flow is a mapping with one such host.
 * ICMP echoes are kept, and so are flows between two hosts inside (hairpin, REQ-9), which need both
 * of their ends rewritten.  A flow that is asked keeps its mapping, and so its port.
 *
 * A flow of TCP is tracked: the switch sends SYN, FIN and RST here.  A flow whose connection is
 * closed leaves the table, and ends when nothing comes for the time-out of such connections.
 */
#ifndef FLOWS_NAT_H
#define FLOWS_NAT_H

#include "tools/flows/function/function.h"

/* What becomes of a packet. */
enum nat_verdict {
	NAT_TRANSLATED,
	NAT_RELATED, /* an ICMP error about a flow, translated with the packet that it quotes */
	NAT_UNRELATED, /* neither from inside nor to an address of a pool, or to the inside */
	/*
	 * to a port of a pool without a mapping, an error about no flow, or a segment of no flow that
	 * begins none
	 */
	NAT_UNKNOWN,
	NAT_FILTERED, /* from a host that the mapping has no flow with */
	NAT_LIMITED, /* its subscriber has as many ports or flows as it may */
	NAT_EXHAUSTED, /* the pool has no port left, or there are as many flows as there may be */
	NAT_ENDED, /* its flow is being ended */
	NAT_CLOSED, /* no flow can begin: the journal cannot be written */
	NAT_INVALID, /* damaged, and of no flow */
	NAT_SPOOFED, /* it would begin a flow, but does not come from the next hop of its source */
	NAT_VERDICTS
};

extern const struct function_type nat_type;

/* Of a function of this type. */
struct nat_counts {
	uint64_t mappings, subscribers;
	uint64_t ports[POLICY_CLASSES]; /* that are taken */
	uint64_t port_places; /* ports of all pools, for each class */
};

void nat__count(const struct function *function, struct nat_counts *counts);

#endif /* FLOWS_NAT_H */
