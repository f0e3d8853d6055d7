// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that reports telemetry into the memory of collectors, for BMv2's
 * simple_switch: see Documentation/p4.md.
 *
 *   ingress  forwards a packet by its destination; finds what to report, and the
 *            collector; mirrors the packet towards that collector; sends answers of
 *            collectors to egress of the port where they arrived
 *   egress   measures the values of postcards; turns mirrored packets into reports; takes
 *            answers
 */
#include <core.p4>
#include <v1model.p4>

#include <dart/store.h>

#include "shared/report.p4"

/* The reason to report a packet. */
#define TRIGGER_NONE	8w0
#define TRIGGER_PATH	8w1	/* the path in its INT */
#define TRIGGER_HOP	8w2	/* the measurement of this switch */
#define TRIGGER_ANSWER	8w3	/* no report: egress takes the packet as an answer */

#define SINK_NONE	8w0
#define SINK_ALL	8w1
#define SINK_CHANGES	8w2

#define INGRESS_CLONE	32w1	/* instance types of simple_switch */
#define EGRESS_CLONE	32w2
#define REPLICATION	32w5
#define MIRRORED	8w1	/* number of a field list */

struct metadata_t {
	bit<8> trigger;
	bit<32> residue;
	@field_list(MIRRORED)
	report_t report;
}

#include "answer.p4"
#include "icrc.p4"
#include "parser.p4"
#include "forward.p4"
#include "hash.p4"
#include "state.p4"
#include "send.p4"
#include "shared/flow.p4"
#include "shared/path.p4"
#include "shared/sink.p4"

control DartIngress(inout headers_t headers, inout metadata_t metadata,
		    inout standard_metadata_t standard)
{
	FindAnswer() find_answer;
	Forward() forward;
	FlowKey() flow_key;
	Damage() damage;
	ReadPath() read_path;
	Strip() strip;
	ShareHash() share_hash;
	FindShare() find_share;
	Change() change;
	bit<8> sink_mode = SINK_NONE;
	bit<8> outcome = OUTCOME_OTHER;
	bit<32> share_crc;
	bool changed;
	bool is_forwarded;
	bool is_damaged;
	bool is_int;
	bool is_assigned;

	@name(".dart_packets")
	counter(OUTCOMES, CounterType.packets) packets;

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
		key = { standard.egress_spec : exact; }
		actions = { sink_all; sink_changes; sink_none; }
		default_action = sink_all;
		size = SINK_ENTRIES;
	}

	@name(".dart_report_hop")
	action report_hop(bit<32> switch_id)
	{
		metadata.report.node = switch_id;
		metadata.trigger = TRIGGER_HOP;
		/* The key becomes that of the flow and the switch. */
		metadata.report.key = metadata.report.key +
				      (KEY_IPV4_HOP - KEY_IPV4);
	}

	@name(".dart_postcard")
	table postcard {
		actions = { report_hop; NoAction; }
		default_action = NoAction;
	}

	apply {
		metadata.trigger = TRIGGER_NONE;
		if (!headers.ethernet.isValid()) {
			mark_to_drop(standard);
			return;
		}
		find_answer.apply(headers, standard, metadata.report, outcome);
		if (outcome != OUTCOME_OTHER) {
			if (outcome == OUTCOME_ANSWER)
				metadata.trigger = TRIGGER_ANSWER;
			packets.count((bit<32>)outcome);
			return;
		}
		forward.apply(headers.ethernet.destination, standard,
			      is_forwarded);
		if (!is_forwarded)
			return;
		flow_key.apply(headers, metadata.report);
		damage.apply(headers, standard.parser_error, is_damaged);
		is_int = headers.int_md.isValid() && !is_damaged &&
			 standard.parser_error == error.NoError;
		if (headers.inner_tag.isValid() &&
		    IS_TAG_TYPE(headers.inner_tag.ethertype)) {
			outcome = OUTCOME_TAGGED;
		} else if (standard.parser_error == error.StackOutOfBounds) {
			outcome = OUTCOME_EXTENSIONS;
		} else if (is_damaged) {
			outcome = OUTCOME_DAMAGED;
		} else if (headers.udp.isValid() &&
			   headers.udp.destination == INT_PORT) {
			if (standard.parser_error == error.IntMalformed)
				outcome = OUTCOME_MALFORMED;
			else if (standard.parser_error != error.NoError)
				outcome = OUTCOME_TRUNCATED;
		}
		if (is_int)
			sink.apply();
		if (sink_mode != SINK_NONE) {
			read_path.apply(headers, metadata.report, outcome);
			if (outcome == OUTCOME_REPORT)
				metadata.trigger = TRIGGER_PATH;
			/* A copy or a probe serves only to carry its path. */
			if (headers.int_md.discard == 1)
				mark_to_drop(standard);
			strip.apply(headers);
		} else if (metadata.report.key != KEY_NONE && !is_damaged &&
			   standard.parser_error == error.NoError &&
			   !(metadata.report.protocol == PROTOCOL_UDP &&
			     metadata.report.destination_port ==
			     DART_STORE_UDP_PORT)) {
			/*
			 * A malformed or damaged packet belongs to no flow, and reports
			 * on reports, with or without INT, would never end.
			 */
			postcard.apply();
		}
		if (metadata.trigger == TRIGGER_NONE) {
			packets.count((bit<32>)outcome);
			return;
		}

		share_hash.apply(metadata.report, share_crc);
		metadata.report.share =
			share_crc[DART_STORE_SHARE_BITS - 1 : 0];
		find_share.apply(metadata.report, is_assigned);
		if (!is_assigned) {
			metadata.trigger = TRIGGER_NONE;
			packets.count((bit<32>)OUTCOME_UNASSIGNED);
			return;
		}
		if (sink_mode == SINK_CHANGES) {
			change.apply(metadata.report, share_crc, changed);
			if (!changed) {
				packets.count((bit<32>)OUTCOME_UNCHANGED);
				return;
			}
		}
		packets.count((bit<32>)OUTCOME_REPORT);
		if (metadata.trigger == TRIGGER_HOP)
			return; /* egress measures and mirrors it */
		metadata.report.copy = 0;
		clone_preserving_field_list(CloneType.I2E,
			(bit<32>)metadata.report.session, MIRRORED);
	}
}

control DartEgress(inout headers_t headers, inout metadata_t metadata,
		   inout standard_metadata_t standard)
{
	RemoveStack() remove_stack;
	SendReport() send_report;
	TakeAnswer() take_answer;

	/* See schemas/postcard.yaml; BMv2 counts microseconds. */
	action measure()
	{
		metadata.report.value = (bit<16>)standard.ingress_port ++
			(bit<16>)standard.egress_port ++
			standard.deq_timedelta * 1000 ++
			8w0 ++ (bit<24>)standard.deq_qdepth ++
			(bit<64>)standard.egress_global_timestamp * 1000;
		metadata.report.copy = 0;
	}

	apply {
		if (standard.instance_type != INGRESS_CLONE &&
		    standard.instance_type != EGRESS_CLONE) {
			if (standard.instance_type == REPLICATION &&
			    standard.egress_port == standard.ingress_port) {
				mark_to_drop(standard);
			} else if (metadata.trigger == TRIGGER_ANSWER) {
				take_answer.apply(headers,
					metadata.report.collector,
					standard.egress_global_timestamp);
				mark_to_drop(standard);
			} else if (metadata.trigger == TRIGGER_HOP) {
				measure();
				clone_preserving_field_list(CloneType.E2E,
					(bit<32>)metadata.report.session,
					MIRRORED);
			}
			return;
		}

		remove_stack.apply(headers);
		send_report.apply(headers, metadata, standard);
	}
}

control DartVerifyChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		VERIFY_ANSWER(headers, metadata.residue)
	}
}

/* For reports only: ingress adjusts the checksums of forwarded packets. */
control DartComputeChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		UPDATE_REPORT(headers)
	}
}

V1Switch(DartParser(), DartVerifyChecksum(), DartIngress(), DartEgress(),
	 DartComputeChecksum(), DartDeparser()) main;
