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

/* An answer of a collector has a fixed length.  The ICRC is not parsed. */
#define ANSWER_BYTES	32w62
#define FIRST_STATES							\
	bit<344> beginning;						\
									\
	state start {							\
		metadata.residue = ICRC_RESIDUE;			\
		transition select(standard.packet_length) {		\
			ANSWER_BYTES: same_length;			\
			default: ethernet;				\
		}							\
	}								\
									\
	/*								\
	 * Selects by EtherType, version and length of the header, length, fragment, protocol,	\
	 * port, length and opcode.					\
	 */								\
	state same_length {						\
		beginning = packet.lookahead<bit<344>>();		\
		transition select(beginning[247:232],			\
				  beginning[231:224],			\
				  beginning[215:200],			\
				  beginning[181:168],			\
				  beginning[159:152],			\
				  beginning[55:40],			\
				  beginning[39:24],			\
				  beginning[7:0]) {			\
			(ETHERTYPE_IPV4, 0x45, 48, 0, PROTOCOL_UDP,	\
			 DART_STORE_UDP_PORT, 28,			\
			 DART_STORE_BTH_ACKNOWLEDGE): answer;		\
			default: ethernet;				\
		}							\
	}								\
									\
	state answer {							\
		packet.extract(headers.ethernet);			\
		packet.extract(headers.ipv4);				\
		packet.extract(headers.udp);				\
		packet.extract(headers.bth);				\
		packet.extract(headers.aeth);				\
		transition accept;					\
	}

#include "icrc.p4"
#include "parser.p4"
#include "forward.p4"
#include "hash.p4"
#include "sequence.p4"
#include "state.p4"
#include "shared/flow.p4"
#include "shared/path.p4"
#include "shared/sink.p4"
#include "shared/write.p4"

control DartIngress(inout headers_t headers, inout metadata_t metadata,
		    inout standard_metadata_t standard)
{
	Forward() forward;
	FlowKey() flow_key;
	Damage() damage;
	ReadPath() read_path;
	Strip() strip;
	ShareHash() share_hash;
	Change() change;
	bit<8> sink_mode = SINK_NONE;
	bit<8> outcome = OUTCOME_OTHER;
	bit<32> share_crc;
	bool changed;
	bool is_forwarded;
	bool is_damaged;
	bool is_int;

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

	@name(".dart_assign")
	action assign(bit<8> collector, bit<16> session)
	{
		metadata.report.collector = collector;
		metadata.report.session = session;
	}

	@name(".dart_share")
	table share {
		key = { metadata.report.share : exact; }
		actions = { assign; NoAction; }
		default_action = NoAction;
		size = DART_STORE_SHARES;
	}

	@name(".dart_answer_of")
	action answer_of(bit<8> collector, bit<16> session)
	{
		metadata.report.collector = collector;
		metadata.report.session = session;
	}

	/* By the address and the queue pair of a collector with a reliable connection. */
	@name(".dart_answer")
	table answer {
		key = {
			headers.ipv4.source ++ headers.bth.queue_pair : exact
				@name("source");
		}
		actions = { answer_of; NoAction; }
		default_action = NoAction;
		size = COLLECTOR_ENTRIES;
	}

	apply {
		metadata.trigger = TRIGGER_NONE;
		if (!headers.ethernet.isValid()) {
			mark_to_drop(standard);
			return;
		}
		if (headers.aeth.isValid() && answer.apply().hit) {
			if ((bit<16>)standard.ingress_port + 1 ==
			    metadata.report.session &&
			    standard.checksum_error == 0) {
				standard.egress_spec = standard.ingress_port;
				metadata.trigger = TRIGGER_ANSWER;
				packets.count((bit<32>)OUTCOME_ANSWER);
			} else {
				mark_to_drop(standard);
				packets.count((bit<32>)OUTCOME_FORGED);
			}
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
		if (!share.apply().hit) {
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
	WriteReport() write_report;
	TakeAnswer() take_answer;
	RemoveStack() remove_stack;
	RemoveExtras() remove_extras;
	bit<48> source_mac = 0;
	bit<32> source = 0;
	bit<8> checksum_bytes = 0;
	bit<8> all_copies = 0;
	bit<8> redundancy;
	bit<32> frame_bytes;
	bool is_reliable;
	bool is_probe;
	bool written;

	@name(".dart_reports")
	counter(COLLECTOR_ENTRIES, CounterType.packets) reports;

	@name(".dart_report_from")
	action report_from(bit<48> mac, bit<32> ip, bit<8> bytes, bit<8> all)
	{
		source_mac = mac;
		source = ip;
		checksum_bytes = bytes;
		all_copies = all;
	}

	@name(".dart_reporter")
	table reporter {
		actions = { report_from; NoAction; }
		default_action = NoAction;
	}

	/* @first_psn: for the control plane, which tells queue pairs apart by it. */
	@noWarn("unused")
	@name(".dart_reliable")
	action reliable(bit<24> first_psn)
	{
		is_reliable = true;
	}

	/* Collectors with reliable connections. */
	@name(".dart_connection")
	table connection {
		key = { metadata.report.collector : exact @name("collector"); }
		actions = { reliable; NoAction; }
		default_action = NoAction;
		size = COLLECTOR_ENTRIES;
	}

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

		reporter.apply();
		if (checksum_bytes == 0) {
			mark_to_drop(standard);
			return;
		}
		is_reliable = false;
		connection.apply();
		write_report.apply(headers, metadata.report, all_copies,
				   source_mac, source, checksum_bytes,
				   is_reliable,
				   standard.egress_global_timestamp,
				   redundancy, frame_bytes, is_probe, written);
		if (!written) {
			mark_to_drop(standard);
			return;
		}
		remove_extras.apply(headers);
		remove_stack.apply(headers);
		truncate(frame_bytes);
		if (!is_probe) {
			reports.count((bit<32>)metadata.report.collector);
			metadata.report.copy = metadata.report.copy + 1;
		}
		if (is_probe || (all_copies == 1 &&
				 metadata.report.copy < redundancy))
			clone_preserving_field_list(CloneType.E2E,
				(bit<32>)metadata.report.session, MIRRORED);
	}
}

/* Of answers: the ICRC.  simple_switch exits if the residue is a constant. */
control DartVerifyChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		verify_checksum_with_payload(headers.aeth.isValid(),
			{ UP_TO_BTH(headers), headers.aeth },
			metadata.residue, HashAlgorithm.crc32);
	}
}

/* For reports only: ingress adjusts the checksums of forwarded packets. */
control DartComputeChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		update_checksum(headers.icrc.isValid(),
			{ headers.ipv4.version, headers.ipv4.ihl,
			  headers.ipv4.type_of_service, headers.ipv4.length,
			  headers.ipv4.identification, headers.ipv4.reserved,
			  headers.ipv4.dont_fragment,
			  headers.ipv4.more_fragments, headers.ipv4.offset,
			  headers.ipv4.ttl, headers.ipv4.protocol,
			  headers.ipv4.source, headers.ipv4.destination },
			headers.ipv4.checksum, HashAlgorithm.csum16);
	}
}

V1Switch(DartParser(), DartVerifyChecksum(), DartIngress(), DartEgress(),
	 DartComputeChecksum(), DartDeparser()) main;
