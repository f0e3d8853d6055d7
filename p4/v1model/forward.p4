// SPDX-License-Identifier: GPL-2.0-only
/* Forwards a packet by its Ethernet destination. */
#ifndef DART_V1MODEL_FORWARD_P4
#define DART_V1MODEL_FORWARD_P4

#include "shared/sizes.p4"

/* @is_forwarded: the packet may leave; the others are dropped. */
control Forward(in bit<48> destination, inout standard_metadata_t standard,
		out bool is_forwarded)
{
	@name(".forward_to")
	action forward_to(bit<9> port)
	{
		standard.egress_spec = port;
		is_forwarded = true;
	}

	/* To all ports of a group except the port of arrival. */
	@name(".forward_flood")
	action forward_flood(bit<16> group)
	{
		standard.mcast_grp = group;
		is_forwarded = true;
	}

	@name(".forward_drop")
	action forward_drop()
	{
		mark_to_drop(standard);
	}

	@name(".forward")
	table forward {
		key = { destination : exact @name("destination"); }
		actions = { forward_to; forward_flood; forward_drop; }
		default_action = forward_drop;
		size = FORWARD_ENTRIES;
	}

	apply {
		is_forwarded = false;
		/* No port: a flooded packet leaves only through its group. */
		mark_to_drop(standard);
		forward.apply();
	}
}

#endif /* DART_V1MODEL_FORWARD_P4 */
