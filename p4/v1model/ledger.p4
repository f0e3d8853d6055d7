// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that counts packets or bytes of flows in a ledger, in the memory of a collector, for
 * BMv2's simple_switch: see <dart/ledger.h> and Documentation/p4.md.
 *
 *   ingress  forwards a packet by its destination; adds to the row of its flow in the cache; takes
 *            answers of the collector.  After each of them: makes requests of a row, if one is
 *            due, and mirrors the packet towards the collector, if requests may be sent
 *   egress   turns mirrored packets into requests
 *
 * Packets drive all of this: time alone does nothing.
 */
#include <core.p4>
#include <v1model.p4>

#include <dart/ledger.h>
#include <dart/store.h>

#define LEDGER_STRING(text)	#text
#define RDMA_NAME(register)	LEDGER_STRING(.ledger_##register)

#include "shared/ledger/outcome.p4"
#include "shared/rdma/headers.p4"
#include "shared/report.p4"
#include "v1model/rdma/parser.p4"

#define HEADERS_IN_FRONT	RDMA_HEADERS_IN_FRONT
#define HEADERS_BEHIND		RDMA_HEADERS_BEHIND
#include "headers.p4"
#include "shared/ledger/state.p4"

#define EGRESS_CLONE	32w2	/* instance types of simple_switch */
#define INGRESS_CLONE	32w1
#define REPLICATION	32w5
#define MIRRORED	8w1	/* number of a field list */

#define UNIT_PACKETS	8w0

struct metadata_t {
	bit<32> residue;
	report_t report;	/* only the key of the flow */
	ledger_row_t row;
	@field_list(MIRRORED)
	ledger_requests_t requests;
	@field_list(MIRRORED)
	ledger_t ledger;
	@field_list(MIRRORED)
	rdma_peer_t peer;
	@field_list(MIRRORED)
	rdma_self_t self;
}

/* The switch sends no READs. */
#define FIRST_STATES							\
	bit<432> beginning;						\
	bit<32> room;							\
	RDMA_FIRST_STATES(_, ethernet, accept)
#include "parser.p4"
#include "damage.p4"
#include "forward.p4"
#include "flow_hash.p4"
#include "replace.p4"
#include "shared/flow.p4"
#include "v1model/rdma/icrc.p4"
#include "v1model/rdma/window.p4"
#include "ledger/cache.p4"
#include "ledger/requests.p4"

control LedgerVerifyChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		RDMA_CHECK_ICRC(headers, metadata.residue, headers.aeth,
				headers.atomic_ack);
	}
}

/* Takes a frame to the adder. */
control Judge(in headers_t headers, in standard_metadata_t standard,
	      in metadata_t metadata, inout window_t window,
	      out bit<8> outcome)
{
	TakeAnswer() take_answer;
	bit<8> verdict;

	apply {
		if ((bit<16>)standard.ingress_port + 1 !=
		    metadata.ledger.session ||
		    headers.rdma_ipv4.source != metadata.peer.ip ||
		    headers.bth.queue_pair != metadata.peer.qpn) {
			outcome = LEDGER_SOURCE;
		} else if (standard.checksum_error == 1) {
			outcome = LEDGER_ICRC;
		} else if (standard.parser_error != error.NoError ||
			   !headers.aeth.isValid()) {
			outcome = LEDGER_MALFORMED;
		} else {
			take_answer.apply(headers,
					  standard.ingress_global_timestamp,
					  window, verdict);
			if (verdict == VERDICT_ACKNOWLEDGED)
				outcome = LEDGER_ACKNOWLEDGED;
			else if (verdict == VERDICT_SEQUENCE)
				outcome = LEDGER_NAK;
			else if (verdict == VERDICT_FATAL)
				outcome = LEDGER_NAK_FATAL;
			else if (verdict == VERDICT_STALE)
				outcome = LEDGER_STALE;
			else
				outcome = LEDGER_MALFORMED;
		}
	}
}

control LedgerIngress(inout headers_t headers, inout metadata_t metadata,
		      inout standard_metadata_t standard)
{
	Forward() forward;
	FlowKey() flow_key;
	Damage() damage;
	Judge() judge;
	AddToCache() add_to_cache;
	LookAtCache() look_at_cache;
	SendRow() send_row;
	SendTotal() send_total;
	LoseRequest() lose_request;
	ReadWindow() read_window;
	SendRequests() send_requests;
	WriteWindow() write_window;
	window_t window;
	bit<8> outcome = LEDGER_OTHER;
	bit<8> unit = UNIT_PACKETS;
	bit<8> state;
	bit<64> amount;
	bit<48> now;
	bit<48> destination;
	bool is_set_up;
	bool is_forwarded;
	bool is_damaged;
	bool is_added;
	bool has_room;

	@name(".ledger_packets")
	counter(LEDGER_OUTCOMES, CounterType.packets_and_bytes) packets;

	@name(".ledger_add_to")
	action add_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey,
		      bit<64> base, bit<32> mask, bit<8> rows,
		      bit<16> session)
	{
		metadata.peer.mac = mac;
		metadata.peer.ip = ip;
		metadata.peer.qpn = qpn;
		metadata.peer.rkey = rkey;
		metadata.ledger.base = base;
		metadata.ledger.mask = mask;
		metadata.ledger.rows = rows;
		metadata.ledger.session = session;
	}

	@name(".ledger_collector")
	table collector {
		actions = { add_to; NoAction; }
		default_action = NoAction;
	}

	/* @epoch: of the queue pair, for the control plane. */
	@noWarn("unused")
	@name(".ledger_adder_is")
	action adder_is(bit<48> mac, bit<32> ip, bit<8> unit_of_amounts,
			bit<64> epoch)
	{
		metadata.self.mac = mac;
		metadata.self.ip = ip;
		unit = unit_of_amounts;
	}

	@name(".ledger_adder")
	table adder {
		actions = { adder_is; NoAction; }
		default_action = NoAction;
	}

	apply {
		now = standard.ingress_global_timestamp;
		metadata.row.sum = 0;
		metadata.requests.count = 0;
		metadata.ledger.base = 0;
		metadata.ledger.rows = 0;
		metadata.self.ip = 0;
		collector.apply();
		adder.apply();
		/* Other addresses would put the queue pair into the error state. */
		is_set_up = metadata.ledger.rows != 0 &&
			    metadata.ledger.base[2:0] == 0 &&
			    metadata.self.ip != 0;
		read_window.apply(window);
		state = window.state;
		has_room = window.end - window.oldest +
			   (bit<32>)metadata.ledger.rows < WINDOW_REQUESTS;

		destination = headers.ethernet.destination;
		if (headers.bth.isValid())
			destination = headers.rdma_ethernet.destination;
		if (is_set_up && headers.bth.isValid() &&
		    headers.rdma_ipv4.destination == metadata.self.ip) {
			mark_to_drop(standard);
			judge.apply(headers, standard, metadata, window,
				    outcome);
		} else {
			forward.apply(destination, standard, is_forwarded);
			flow_key.apply(headers, metadata.report);
			damage.apply(headers, standard.parser_error,
				     is_damaged);
			/* Requests of switches that count requests would never end. */
			if (is_forwarded && metadata.report.key != KEY_NONE &&
			    !is_damaged &&
			    standard.parser_error == error.NoError &&
			    !(metadata.report.protocol == PROTOCOL_UDP &&
			      metadata.report.destination_port == DART_STORE_UDP_PORT))
				outcome = LEDGER_ADDED;
		}
		if (outcome == LEDGER_ADDED && !is_set_up)
			outcome = LEDGER_UNASSIGNED;
		if (outcome == LEDGER_ADDED) {
			amount = 1;
			if (unit != UNIT_PACKETS)
				amount = (bit<64>)standard.packet_length;
			add_to_cache.apply(metadata.report, amount, now,
					   has_room, metadata.row, is_added);
			if (!is_added)
				outcome = LEDGER_MISSED;
		}
		packets.count((bit<32>)outcome);
		if (!is_set_up)
			return;

		lose_request.apply(window);
		if (has_room && metadata.row.sum == 0)
			look_at_cache.apply(now, metadata.row);
		if (metadata.row.sum != 0)
			send_row.apply(metadata.row, metadata.ledger, window);
		send_total.apply(metadata.ledger, now, window);
		send_requests.apply(now, window, metadata.requests.first,
				    metadata.requests.count);
		metadata.requests.psn = metadata.requests.first[23:0] +
					window.shift;
		write_window.apply(window, state);
		if (metadata.requests.count != 0)
			clone_preserving_field_list(CloneType.I2E,
				(bit<32>)metadata.ledger.session, MIRRORED);
	}
}

control LedgerEgress(inout headers_t headers, inout metadata_t metadata,
		     inout standard_metadata_t standard)
{
	RemovePacket() remove_packet;
	RdmaRequest() request;
	bit<64> offset;
	bit<64> amount;
	bit<32> frame_bytes;
	bit<32> crc;

	@name(".ledger_requests")
	counter(1, CounterType.packets) sent;

	apply {
		if (standard.instance_type != INGRESS_CLONE &&
		    standard.instance_type != EGRESS_CLONE) {
			if (standard.instance_type == REPLICATION &&
			    standard.egress_port == standard.ingress_port)
				mark_to_drop(standard);
			return;
		}

		ledger_offset.read(offset,
				   LEDGER_AT(metadata.requests.first));
		ledger_amount.read(amount,
				   LEDGER_AT(metadata.requests.first));
		remove_packet.apply(headers);
		headers.atomic_eth.setValid();
		headers.atomic_eth.swap_or_add = amount;
		headers.atomic_eth.compare = 0;
		request.apply(headers, metadata.self, metadata.peer,
			      DART_STORE_UDP_SOURCE_BASE +
			      (bit<16>)metadata.peer.qpn[9:0], RDMA_FETCH_ADD,
			      metadata.requests.psn, RDMA_ACK_REQUEST,
			      metadata.ledger.base + offset, 0, frame_bytes);
		RDMA_SET_ICRC(headers, crc, headers.reth, headers.atomic_eth);
		truncate(frame_bytes);
		sent.count(0);
		metadata.requests.first = metadata.requests.first + 1;
		metadata.requests.psn = metadata.requests.psn + 1;
		metadata.requests.count = metadata.requests.count - 1;
		if (metadata.requests.count != 0)
			clone_preserving_field_list(CloneType.E2E,
				(bit<32>)metadata.ledger.session, MIRRORED);
	}
}

/* For requests only: switches do not change the IP header of forwarded packets. */
control LedgerComputeChecksum(inout headers_t headers,
			      inout metadata_t metadata)
{
	apply {
		RDMA_UPDATE_IPV4(headers);
	}
}

V1Switch(DartParser(), LedgerVerifyChecksum(), LedgerIngress(),
	 LedgerEgress(), LedgerComputeChecksum(), DartDeparser()) main;
