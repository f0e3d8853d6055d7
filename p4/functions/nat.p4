// SPDX-License-Identifier: GPL-2.0-only
/*
 * NAT: gives one end of a flow another address and another port.  The lookup table has
 * an entry for each direction of a connection: one gives outgoing packets their new
 * source, the other gives returning packets their new destination.  See
 * schemas/nat.yaml; and with TEA_IPV6, schemas/nat6.yaml.
 */
#ifdef TEA_IPV6
#define TEA_KEY_BYTES	37
#define TEA_VALUE_BYTES	19
#else
#define TEA_KEY_BYTES	13
#define TEA_VALUE_BYTES	7
#endif
#include <tea/headers.p4>
#include "destination.p4"
#ifdef TEA_IPV6
#include "flow6.p4"
#else
#include "flow.p4"
#endif
#include "source.p4"

control FunctionKey(in headers_t headers, out bit<TEA_KEY_BITS> key,
		    out bool there)
{
	FlowOfPacket() flow;

	apply {
		flow.apply(headers, key, there);
	}
}

/*
 * The value: new address (4 bytes, or 16), new port (2), flags (1 byte).  Bit 0: it replaces the source.
 * Bit 1: the flow is tracked: SYN, FIN and RST leave as they are, to the control plane, which
 * decides about them.
 */
control FunctionApply(inout headers_t headers, in bit<TEA_VALUE_BITS> value,
		      out bool drop, out bool defer)
{
	SetSource() set_source;
	SetDestination() set_destination;
#ifdef TEA_IPV6
	SetSource6() set_source6;
	SetDestination6() set_destination6;
#endif

	apply {
		drop = false;
		/* RST, SYN and FIN */
		defer = value[1:1] == 1 && headers.tcp.isValid() &&
			headers.tcp.flags[2:0] != 0;
		if (defer)
			return;
#ifdef TEA_IPV6
		/* An address of IPv4 is mapped, and a packet keeps its family. */
		drop = headers.ipv6.isValid() ==
		       (value[151:56] == IPV4_MAPPED);
		if (drop)
			return;
		if (headers.ipv6.isValid()) {
			if (value[0:0] == 1)
				set_source6.apply(headers, value[151:24],
						  value[23:8]);
			else
				set_destination6.apply(headers, value[151:24],
						       value[23:8]);
			return;
		}
#endif
		if (value[0:0] == 1)
			set_source.apply(headers, value[55:24], value[23:8]);
		else
			set_destination.apply(headers, value[55:24],
					      value[23:8]);
	}
}
