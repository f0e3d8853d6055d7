/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VPN gateway: moves packets for a machine of a tenant from the tenant's tunnel into the tunnel
 * to the machine's server, as p4/functions/gateway.p4 does.  Its flows are these tunnels, one for each
 * machine of the policy: entries of schemas/gateway.yaml, or with tunnels of both families of
 * schemas/gateway6.yaml, and the table has no others.
 *
 * In each tenant's network it is a router: requests for the address of the tenant's gateway are
 * answered (ARP, ND, echoes), and packets for machines without a tunnel are dropped, or refused in
 * the name of this address.
 */
#ifndef FLOWS_GATEWAY_H
#define FLOWS_GATEWAY_H

#include "tools/flows/function/function.h"

/* What becomes of a packet. */
enum gateway_verdict {
	GATEWAY_MOVED,
	GATEWAY_RESOLVED, /* a request by ARP or ND for the gateway of a tenant is answered */
	GATEWAY_ECHOED, /* an echo request likewise */
	GATEWAY_UNKNOWN, /* no tunnel is for its machine */
	GATEWAY_FAMILY, /* it came over IPv4 and its server has an address of IPv6, or the reverse */
	GATEWAY_FOREIGN, /* its VNI is that of no tenant */
	GATEWAY_KEYLESS, /* it is no VXLAN, or contains neither IPv4 nor a request for the gateway */
	GATEWAY_INVALID, /* damaged, or a fragment, which tunnels must not send */
	GATEWAY_SPOOFED, /* it does not come from the next hop of its source */
	GATEWAY_VERDICTS
};

extern const struct function_type gateway_type;

#endif /* FLOWS_GATEWAY_H */
