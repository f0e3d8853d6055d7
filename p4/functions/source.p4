// SPDX-License-Identifier: GPL-2.0-only
/* Gives a packet another source, address and port. */
#ifndef DART_FUNCTIONS_SOURCE_P4
#define DART_FUNCTIONS_SOURCE_P4

#include "end.p4"

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

#ifdef TEA_IPV6
control SetSource6(inout headers_t headers, in bit<128> address,
                   in bit<16> port)
{
	AdjustEnd6() adjust;
	bit<144> before;

	apply {
		before = headers.ipv6.source ++
			 (headers.tcp.isValid() ? headers.tcp.source :
						  headers.udp.source);
		headers.ipv6.source = address;
		if (headers.tcp.isValid())
			headers.tcp.source = port;
		else
			headers.udp.source = port;
		adjust.apply(headers, before, address ++ port);
	}
}
#endif

#endif /* DART_FUNCTIONS_SOURCE_P4 */
