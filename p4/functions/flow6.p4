// SPDX-License-Identifier: GPL-2.0-only
/*
 * For network functions of flows of IPv6 and IPv4: the flow as key.  Fragments, and packets of IPv6
 * with extension headers, have no ports here, so they have no key.
 */
#ifndef DART_FUNCTIONS_FLOW6_P4
#define DART_FUNCTIONS_FLOW6_P4

#include "mapped.p4"

/*
 * Source, destination, source port, destination port, protocol: 37 bytes.  Addresses of IPv4 are
 * mapped: no packet of IPv6 has such an address, or it is refused.
 */
control FlowOfPacket(in headers_t headers, out bit<296> key, out bool there)
{
	bit<256> addresses;
	bit<8> protocol;

	apply {
		there = headers.udp.isValid() || headers.tcp.isValid();
		key = 0;
		if (headers.ipv6.isValid()) {
			addresses = headers.ipv6.source ++ headers.ipv6.destination;
			protocol = headers.ipv6.next_header;
			if (headers.ipv6.source[127:32] == IPV4_MAPPED ||
			    headers.ipv6.destination[127:32] == IPV4_MAPPED)
				there = false;
		} else {
			addresses = IPV4_MAPPED ++ headers.ipv4.source ++
				    IPV4_MAPPED ++ headers.ipv4.destination;
			protocol = headers.ipv4.protocol;
		}
		if (headers.udp.isValid())
			key = addresses ++ headers.udp.source ++
			      headers.udp.destination ++ protocol;
		else if (headers.tcp.isValid())
			key = addresses ++ headers.tcp.source ++
			      headers.tcp.destination ++ protocol;
	}
}

#endif /* DART_FUNCTIONS_FLOW6_P4 */
