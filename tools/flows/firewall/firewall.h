/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stateful firewall: which hosts may begin a connection with which others.
 *
 * The rules of the policy decide about the first packet of a connection; others pass if they
 * belong to one.  A connection of TCP is a flow from its SYN on, and is kept out of table and
 * journal until both ends have acknowledged each other: packets with forged addresses change
 * neither.  UDP and ICMP echoes make pseudo-connections, which begin with their first packet.  An
 * ICMP error passes if it quotes a packet of a flow.
 *
 * The ends of a flow: inside, and outside, too, the host that began it.
 */
#ifndef FLOWS_FIREWALL_H
#define FLOWS_FIREWALL_H

#include "tools/flows/function/function.h"

/* What becomes of a packet. */
enum firewall_verdict {
	FIREWALL_PASSED,
	FIREWALL_RELATED, /* an ICMP error about a flow passes */
	FIREWALL_DROPPED, /* a rule, or the refusal, says so */
	FIREWALL_REJECTED, /* likewise, and its sender is told */
	FIREWALL_UNKNOWN, /* it begins no connection and belongs to none */
	FIREWALL_INVALID, /* damaged, or no host can have sent it in the state of its connection */
	FIREWALL_SPOOFED, /* it does not come from the next hop of its source */
	FIREWALL_LIMITED, /* its sender has as many flows as it may */
	FIREWALL_EXHAUSTED, /* there are as many flows as there may be */
	FIREWALL_ENDED, /* its flow is being ended */
	FIREWALL_CLOSED, /* no flow can begin: the journal cannot be written */
	FIREWALL_VERDICTS
};

extern const struct function_type firewall_type;

#endif /* FLOWS_FIREWALL_H */
