// SPDX-License-Identifier: GPL-2.0-only
/*
 * For network functions of IPv4 flows: the flow as key, and changes of an end of it.
 * Fragments have no ports, so they have no key.
 */
#ifndef DART_FUNCTIONS_FLOW_P4
#define DART_FUNCTIONS_FLOW_P4

#include "shared/checksum.p4"

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

/* Adjusts all checksums when @before, address and port, becomes @now. */
control AdjustEnd(inout headers_t headers, in bit<48> before, in bit<48> now)
{
	AdjustWords() adjust_ip;
	AdjustWords() adjust_udp;
	AdjustWords() adjust_tcp;

	apply {
		adjust_ip.apply(headers.ipv4.checksum,
				before[47:16] ++ 16w0, now[47:16] ++ 16w0);
		if (headers.tcp.isValid()) {
			adjust_tcp.apply(headers.tcp.checksum, before, now);
		} else if (headers.udp.checksum != 0) {
			adjust_udp.apply(headers.udp.checksum, before, now);
			if (headers.udp.checksum == 0)
				headers.udp.checksum = 0xffff;
		}
	}
}

control SetDestination(inout headers_t headers, in bit<32> address,
		       in bit<16> port)
{
	AdjustEnd() adjust;
	bit<48> before;

	apply {
		before = headers.ipv4.destination ++
			 (headers.tcp.isValid() ? headers.tcp.destination :
						  headers.udp.destination);
		headers.ipv4.destination = address;
		if (headers.tcp.isValid())
			headers.tcp.destination = port;
		else
			headers.udp.destination = port;
		adjust.apply(headers, before, address ++ port);
	}
}

control SetSource(inout headers_t headers, in bit<32> address,
		  in bit<16> port)
{
	AdjustEnd() adjust;
	bit<48> before;

	apply {
		before = headers.ipv4.source ++
			 (headers.tcp.isValid() ? headers.tcp.source :
						  headers.udp.source);
		headers.ipv4.source = address;
		if (headers.tcp.isValid())
			headers.tcp.source = port;
		else
			headers.udp.source = port;
		adjust.apply(headers, before, address ++ port);
	}
}

#endif /* DART_FUNCTIONS_FLOW_P4 */
