// SPDX-License-Identifier: GPL-2.0-only
/*
 * NAT: gives one end of a flow another address and another port.  The lookup table has
 * an entry for each direction of a connection: one gives outgoing packets their new
 * source, the other gives returning packets their new destination.  See
 * schemas/nat.yaml.
 */
#define TEA_KEY_BYTES	13
#define TEA_VALUE_BYTES	7
#include <tea/headers.p4>
#include "destination.p4"
#include "flow.p4"
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
 * The value: new address (4 bytes), new port (2), flags (1 byte).  Bit 0: it replaces the source.
 * Bit 1: the flow is tracked: SYN, FIN and RST leave as they are, to the control plane, which
 * decides about them.
 */
control FunctionApply(inout headers_t headers, in bit<TEA_VALUE_BITS> value,
		      out bool drop, out bool defer)
{
	SetSource() set_source;
	SetDestination() set_destination;

	apply {
		drop = false;
		/* RST, SYN and FIN */
		defer = value[1:1] == 1 && headers.tcp.isValid() &&
			headers.tcp.flags[2:0] != 0;
		if (defer)
			return;
		if (value[0:0] == 1)
			set_source.apply(headers, value[55:24], value[23:8]);
		else
			set_destination.apply(headers, value[55:24],
					      value[23:8]);
	}
}
