// SPDX-License-Identifier: GPL-2.0-only
/* Egress: only requests and clones of responses pass it. */
#ifndef DART_TNA_TEA_EGRESS_P4
#define DART_TNA_TEA_EGRESS_P4

#include "request.p4"

control TeaEgress(inout headers_t headers, inout egress_t metadata,
		  in egress_intrinsic_metadata_t intrinsic,
		  in egress_intrinsic_metadata_from_parser_t parser_metadata,
		  inout egress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		  inout egress_intrinsic_metadata_for_output_port_t
			port_metadata)
{
	TeaRequest() request;
	rdma_peer_t peer;
	bit<48> self_mac = 0;
	bit<32> self_ip = 0;
	bool read;

	@name(".tea_switch_is")
	action switch_is(bit<48> mac, bit<32> ip)
	{
		self_mac = mac;
		self_ip = ip;
	}

	@name(".tea_switch")
	table switches {
		actions = { switch_is; }
		default_action = switch_is(0, 0);
		size = 1;
	}

	@name(".tea_send_to")
	action send_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey,
		       bit<64> base, bit<32> mask, bit<8> row_log2,
		       bit<24> epoch)
	{
		peer.mac = mac;
		peer.ip = ip;
		peer.qpn = qpn;
		peer.rkey = rkey;
		peer.base = base;
		peer.mask = mask;
		peer.row_log2 = row_log2;
		peer.epoch = epoch;
	}

	@name(".tea_drop_request")
	action drop_request()
	{
		deparser_metadata.drop_ctl = 1;
	}

	@name(".tea_server")
	table servers {
		key = { headers.loop.server : exact @name("server"); }
		actions = { send_to; drop_request; }
		default_action = drop_request;
		size = TEA_SERVERS;
	}

	apply {
		if (headers.loop.kind == LOOP_LOOKUP) {
			switches.apply();
			if (servers.apply().hit) {
				read = intrinsic.egress_rid != COPY_WRITE;
				request.apply(headers, self_mac, self_ip, peer,
					      read);
			}
		}
	}
}

#endif /* DART_TNA_TEA_EGRESS_P4 */
