// SPDX-License-Identifier: GPL-2.0-only
/*
 * For network functions of IPv4 flows: the flow as key.  Fragments have no ports, so they
 * have no key.
 */
#ifndef DART_FUNCTIONS_FLOW_P4
#define DART_FUNCTIONS_FLOW_P4

/* Source, destination, source port, destination port, protocol: 13 bytes. */
control FlowOfPacket(in headers_t headers, out bit<104> key, out bool there)
{
	apply {
		there = true;
		key = 0;
		if (headers.udp.isValid())
			key = headers.ipv4.source ++
			      headers.ipv4.destination ++
			      headers.udp.source ++ headers.udp.destination ++
			      headers.ipv4.protocol;
		else if (headers.tcp.isValid())
			key = headers.ipv4.source ++
			      headers.ipv4.destination ++
			      headers.tcp.source ++ headers.tcp.destination ++
			      headers.ipv4.protocol;
		else
			there = false;
	}
}

#endif /* DART_FUNCTIONS_FLOW_P4 */
