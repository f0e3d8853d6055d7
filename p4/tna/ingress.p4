// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ingress of programs that report paths: forwards packets, takes INT out of those that leave the
 * network, and mirrors packets with a report to egress.
 */
#ifndef DART_TNA_INGRESS_P4
#define DART_TNA_INGRESS_P4

#include "shared/outcome.p4"
#include "shared/report.p4"
#include "hash.p4"
#include "headers.p4"
#include "strip.p4"

#define SINK_NONE	8w0
#define SINK_ALL	8w1
#define SINK_CHANGES	8w2

#define MIRROR_REPORT	3w1

#define COUNT(outcome)	(outcome, _, _, _, _) : count(outcome);
#define COUNT_TAG(type)	(_, _, _, _, type) : count(OUTCOME_TAGGED);

struct ingress_t {
	bool is_flow;		/* the IP header is well-formed */
	checksums_t checksums;
	report_t report;
	bit<32> last;		/* of the addresses */
	bit<32> path;		/* CRC of the flow and its path */
	bit<10> session;
}

struct egress_t {
	key_t key;
	bit<16> egress_port;
	bit<32> latency;
	bit<32> queue;
	bit<64> time;
	bit<10> session;
	bool is_report;
}

#include "parser.p4"
#include "clone.p4"
#include "forward.p4"
#include "state.p4"
#include "shared/flow.p4"
#include "shared/path.p4"

control DartIngress(inout headers_t headers, inout ingress_t metadata,
		    in ingress_intrinsic_metadata_t intrinsic,
		    in ingress_intrinsic_metadata_from_parser_t
			parser_metadata,
		    inout ingress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		    inout ingress_intrinsic_metadata_for_tm_t manager_metadata)
{
	Forward() forward;
	FlowKey() flow_key;
	ReadPath() read_path;
	UdpOverhang() udp_overhang;
	ReadShape() read_shape;
	Strip() strip;
	ShareHash() share_hash;
	Change() change;
	bit<8> sink_mode = SINK_NONE;
	bit<8> outcome = OUTCOME_OTHER;
	bit<32> share_crc;
	bit<9> port;
	bool is_forwarded;
	bool is_readable;
	bool is_hop = false;
	bit<8> changed = 1;
	bit<16> overhang;

	@name(".dart_packets")
	Counter<bit<32>, bit<8>>(OUTCOMES, CounterType_t.PACKETS) packets;

	@name(".dart_sink_all")
	action sink_all()
	{
		sink_mode = SINK_ALL;
	}

	@name(".dart_sink_changes")
	action sink_changes()
	{
		sink_mode = SINK_CHANGES;
	}

	@name(".dart_sink_none")
	action sink_none()
	{
		sink_mode = SINK_NONE;
	}

	/*
	 * Treatment of INT in packets that leave through a port.  Flooded packets
	 * leave through several ports and get the default action.
	 */
	@name(".dart_sink")
	table sink {
		key = { port : exact; }
		actions = { sink_all; sink_changes; sink_none; }
		default_action = sink_all;
		size = SINK_ENTRIES;
	}

	@name(".dart_report_hop")
	action report_hop(bit<32> switch_id)
	{
		metadata.report.node = switch_id;
		is_hop = true;
		outcome = OUTCOME_REPORT;
		/* The key becomes that of the flow and the switch. */
		metadata.report.key = metadata.report.key +
				      (KEY_IPV4_HOP - KEY_IPV4);
	}

	@name(".dart_postcard")
	table postcard {
		actions = { report_hop; NoAction; }
		default_action = NoAction;
		size = 1;
	}

	@name(".dart_assign")
	action assign(bit<8> collector, bit<16> session)
	{
		metadata.report.collector = collector;
		metadata.session = session[9:0];
	}

	action unassigned()
	{
		outcome = OUTCOME_UNASSIGNED;
	}

	@name(".dart_share")
	table share {
		key = { share_crc[DART_STORE_SHARE_BITS - 1 : 0] : exact
				@name("share"); }
		actions = { assign; unassigned; }
		default_action = unassigned;
		size = DART_STORE_SHARES;
	}

	action count(bit<8> index)
	{
		packets.count(index);
	}

	/* Keyed by all fields: writing @changed into the outcome would take one more stage. */
	table tally {
		key = {
			outcome : ternary;
			changed : ternary;
			metadata.checksums.is_wrong : ternary;
			headers.ipv4_options.isValid() : ternary;
			headers.ethernet.ethertype : ternary;
		}
		actions = { count; }
		const entries = {
			COUNT_TAG(ETHERTYPE_8021Q)
			COUNT_TAG(ETHERTYPE_8021AD)
			COUNT_TAG(ETHERTYPE_QINQ1)
			COUNT_TAG(ETHERTYPE_QINQ2)
			COUNT_TAG(ETHERTYPE_QINQ3)
			(_, _, true, false, _) : count(OUTCOME_DAMAGED);
			(_, 0, _, _, _) : count(OUTCOME_UNCHANGED);
			COUNT(OUTCOME_REPORT)
			COUNT(OUTCOME_OTHER)
			COUNT(OUTCOME_TRUNCATED)
			COUNT(OUTCOME_MALFORMED)
			COUNT(OUTCOME_INCOMPLETE)
			COUNT(OUTCOME_ANONYMOUS)
			COUNT(OUTCOME_UNASSIGNED)
		}
		size = TALLY_ENTRIES;
	}

	action mirror_ipv4()
	{
		metadata.last = headers.ipv4.destination;
		deparser_metadata.mirror_type = MIRROR_REPORT;
	}

	action mirror_ipv6()
	{
		metadata.last = headers.ipv6.destination[31:0];
		deparser_metadata.mirror_type = MIRROR_REPORT;
	}

	action measure()
	{
		headers.measured.setValid();
		headers.measured.no_key = KEY_NONE;
		headers.measured.key = metadata.report.key;
		headers.measured.collector = metadata.report.collector;
		headers.measured.source_port = metadata.report.source_port;
		headers.measured.destination_port =
			metadata.report.destination_port;
		headers.measured.protocol = metadata.report.protocol;
		headers.measured.node = metadata.report.node;
		headers.measured.session = (bit<16>)metadata.session;
		headers.measured.ingress_port =
			(bit<16>)intrinsic.ingress_port;
		manager_metadata.bypass_egress = 0;
	}

	apply {
		manager_metadata.bypass_egress = 1;
		/* Controls without dependencies go first: there are only 12 stages. */
		flow_key.apply(headers, metadata.report);
		udp_overhang.apply(headers, overhang);
		is_readable = false;
		if (parser_metadata.parser_err == 0)
			is_readable = true;
		forward.apply(headers, intrinsic.ingress_port, deparser_metadata,
			      manager_metadata, port, is_forwarded);
		if (is_forwarded) {
			if (headers.udp.isValid() &&
			    headers.udp.destination == INT_PORT) {
				if (!is_readable)
					outcome = OUTCOME_TRUNCATED;
				else
					read_shape.apply(headers, overhang,
						metadata.checksums, outcome,
						is_readable);
				if (is_readable && !metadata.checksums.is_wrong)
					sink.apply();
			}
			if (sink_mode != SINK_NONE) {
				read_path.apply(headers, metadata.report,
						outcome);
				/* A copy or a probe serves only to carry its path. */
				if (headers.int_md.discard == 1)
					deparser_metadata.drop_ctl = 1;
				strip.apply(headers, metadata.checksums);
			} else if (metadata.is_flow && is_readable &&
				   !metadata.checksums.is_wrong &&
				   !(metadata.report.protocol == PROTOCOL_UDP &&
				     metadata.report.destination_port ==
				     DART_STORE_UDP_PORT)) {
				/*
				 * A packet with a report is not reported: reports on reports would
				 * never end.
				 */
				postcard.apply();
			}

			share_hash.apply(headers, metadata.report, share_crc);
			if (outcome == OUTCOME_REPORT) {
				share.apply();
				if (outcome == OUTCOME_REPORT &&
				    sink_mode == SINK_CHANGES)
					change.apply(metadata.report.value,
						     share_crc, metadata.path,
						     changed);
			}
			tally.apply();
			if (outcome == OUTCOME_REPORT && changed != 0) {
				if (is_hop)
					measure();
				else if (headers.ipv4.isValid())
					mirror_ipv4();
				else
					mirror_ipv6();
			}
		}
	}
}

#endif /* DART_TNA_INGRESS_P4 */
