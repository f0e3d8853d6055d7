// SPDX-License-Identifier: GPL-2.0-only
/* Forwards packets by their destination MAC, as a bridge whose table the operator sets. */
#ifndef DART_TNA_FORWARD_P4
#define DART_TNA_FORWARD_P4

#include "headers.p4"
#include "shared/sizes.p4"

#define NO_PORT		9w511

/* @port: NO_PORT for packets that leave through several ports, or through none. */
control Forward(in headers_t headers, in bit<9> ingress_port,
		inout ingress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		inout ingress_intrinsic_metadata_for_tm_t manager_metadata,
		out bit<9> port, out bool is_forwarded)
{
	@name(".forward_to")
	action forward_to(bit<9> out_port)
	{
		manager_metadata.ucast_egress_port = out_port;
		port = out_port;
		is_forwarded = true;
	}

	/* To a group, except the ports that the port of arrival excludes. */
	@name(".forward_flood")
	action forward_flood(bit<16> group)
	{
		manager_metadata.mcast_grp_a = group;
		is_forwarded = true;
		manager_metadata.level2_exclusion_id = ingress_port;
	}

	@name(".forward_drop")
	action forward_drop()
	{
		deparser_metadata.drop_ctl = 1;
	}

	@name(".forward")
	table forward {
		key = { headers.ethernet.destination : exact; }
		actions = { forward_to; forward_flood; forward_drop; }
		default_action = forward_drop;
		size = FORWARD_ENTRIES;
	}

	apply {
		port = NO_PORT;
		is_forwarded = false;
		forward.apply();
	}
}

#endif /* DART_TNA_FORWARD_P4 */
