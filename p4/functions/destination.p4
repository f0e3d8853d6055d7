// SPDX-License-Identifier: GPL-2.0-only
/* Gives a packet another destination, address and port. */
#ifndef DART_FUNCTIONS_DESTINATION_P4
#define DART_FUNCTIONS_DESTINATION_P4

#include "end.p4"

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

#ifdef TEA_IPV6
control SetDestination6(inout headers_t headers, in bit<128> address,
                        in bit<16> port)
{
	AdjustEnd6() adjust;
	bit<144> before;

	apply {
		before = headers.ipv6.destination ++
			 (headers.tcp.isValid() ? headers.tcp.destination :
						  headers.udp.destination);
		headers.ipv6.destination = address;
		if (headers.tcp.isValid())
			headers.tcp.destination = port;
		else
			headers.udp.destination = port;
		adjust.apply(headers, before, address ++ port);
	}
}
#endif

#endif /* DART_FUNCTIONS_DESTINATION_P4 */
