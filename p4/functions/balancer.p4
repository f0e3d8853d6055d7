// SPDX-License-Identifier: GPL-2.0-only
/*
 * A load balancer of layer 4: sends each flow to the server that its entry names.  The
 * control plane makes an entry for a flow when it gets the first packet of the flow:
 * see "absent" in Documentation/p4.md, and schemas/balancer.yaml.
 */
#define TEA_KEY_BYTES	13
#define TEA_VALUE_BYTES	6
#include <tea/headers.p4>
#include "destination.p4"
#include "flow.p4"

control FunctionKey(in headers_t headers, out bit<TEA_KEY_BITS> key,
		    out bool there)
{
	FlowOfPacket() flow;

	apply {
		flow.apply(headers, key, there);
	}
}

/* The value: address (4 bytes) and port (2) of the server. */
control FunctionApply(inout headers_t headers, in bit<TEA_VALUE_BITS> value,
		      out bool drop, out bool defer)
{
	SetDestination() set_destination;

	apply {
		drop = false;
		defer = false;
		set_destination.apply(headers, value[47:16], value[15:0]);
	}
}
