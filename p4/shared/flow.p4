// SPDX-License-Identifier: GPL-2.0-only
/* The flow of a packet, as key of a report: with INT, the flow that INT describes. */
#ifndef DART_FLOW_P4
#define DART_FLOW_P4

#include "headers.p4"
#include "report.p4"

/* The architecture defines Ipv6Protocol. */
control FlowKey(in headers_t headers, inout report_t report)
{
	Ipv6Protocol() ipv6_protocol;

	apply {
		report.key = KEY_NONE;
		report.source_port = 0;
		report.destination_port = 0;
		if (headers.ipv4.isValid()) {
			report.key = KEY_IPV4;
			report.source = (bit<128>)headers.ipv4.source;
			report.destination =
				(bit<128>)headers.ipv4.destination;
			report.protocol = headers.ipv4.protocol;
		} else if (headers.ipv6.isValid()) {
			report.key = KEY_IPV6;
			report.source = headers.ipv6.source;
			report.destination = headers.ipv6.destination;
			ipv6_protocol.apply(headers, report.protocol);
		}
		if (headers.ports.isValid()) {
			report.source_port = headers.ports.source;
			report.destination_port = headers.ports.destination;
		} else if (headers.udp.isValid() &&
			   (!headers.int_shim.isValid() ||
			    headers.int_shim.npt == INT_BEHIND_UDP)) {
			report.source_port = headers.udp.source;
			report.destination_port = headers.udp.destination;
		}
		if (headers.int_shim.isValid()) {
			if (headers.int_shim.npt == INT_BEHIND_UDP)
				report.destination_port =
					headers.int_shim.original;
			else
				report.protocol =
					headers.int_shim.original[7:0];
		}
	}
}

#endif /* DART_FLOW_P4 */
