// SPDX-License-Identifier: GPL-2.0-only
/* Forwards a packet by its IP destination, after its network function. */
#ifndef DART_TEA_ROUTE_P4
#define DART_TEA_ROUTE_P4

#include "shared/checksum.p4"
#include "sizes.p4"

/* @way: a port; unchanged for a packet without a route. */
control Route(inout headers_t headers, in bit<48> self_mac,
	      inout bit<9> way, out bool there)
{
	AdjustChecksum() adjust_ttl;
	bit<16> before;

	@name(".route_to")
	action route_to(bit<9> port, bit<48> mac)
	{
		way = port;
		there = true;
		headers.ethernet.source = self_mac;
		headers.ethernet.destination = mac;
	}

	@name(".route_drop")
	action route_drop()
	{
	}

	@name(".route")
	table routes {
		key = { headers.ipv4.destination : lpm @name("destination"); }
		actions = { route_to; route_drop; }
		default_action = route_drop;
		size = TEA_ROUTES;
	}

#ifdef TEA_IPV6
	@name(".route6")
	table routes6 {
		key = { headers.ipv6.destination : lpm @name("destination"); }
		actions = { route_to; route_drop; }
		default_action = route_drop;
		size = TEA_ROUTES;
	}
#endif

	apply {
		there = false;
#ifdef TEA_IPV6
		if (headers.ipv6.isValid()) {
			headers.ipv6.hop_limit = headers.ipv6.hop_limit - 1;
			routes6.apply();
			return;
		}
#endif
		before = headers.ipv4.ttl ++ headers.ipv4.protocol;
		headers.ipv4.ttl = headers.ipv4.ttl - 1;
		adjust_ttl.apply(headers.ipv4.checksum, before,
				 headers.ipv4.ttl ++ headers.ipv4.protocol);
		routes.apply();
	}
}

#endif /* DART_TEA_ROUTE_P4 */
