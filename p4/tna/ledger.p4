// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that counts packets or bytes of flows in a ledger, in the memory of a collector, for
 * Tofino: see <dart/ledger.h> and Documentation/p4.md.  Differences from the program for BMv2:
 *
 *   time      the packet generator is the clock: each of its packets looks at a row of the cache
 *             and at the time-out, and sends a request
 *   frames    of the switch to itself do what needs a register twice; their kinds are in
 *             ledger/headers.p4.  A sum that leaves the cache is mirrored to a group with a copy
 *             for each row and one for the total; each copy becomes a request in egress, then is
 *             added to the ring in ingress, then has a request sent
 *   lost      amounts for which the ring has no room are added to ledger_lost: no packet is missed
 *   answers   their ICRC is not checked
 *   IPv6      its packets are not counted
 */
#include <core.p4>
#include <tna.p4>

#include <dart/ledger.h>
#include <dart/store.h>

#include "ledger/headers.p4"
#include "shared/ledger/outcome.p4"
#include "shared/report.p4"
#include "ledger/parser.p4"
#include "hash.p4"

/* The key of a row of the cache, and the amount that leaves it: 0 if none. */
struct evicted_t {
	bit<32> amount;
	bit<32> source;
	bit<32> destination;
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
}

struct ingress_t {
	bool is_flow;		/* the IP header is well-formed */
	checksums_t checksums;
	report_t report;	/* only the key of the flow */
	bit<8> kind;		/* of the frame, LOOP_...; 0: a packet */
	evicted_t evicted;
	bit<32> number;		/* which an answer is about */
	bit<10> session;
}

struct egress_t {
	key_t key;
}

#include "parser.p4"
#include "forward.p4"
#include "shared/flow.p4"
#include "ledger/cache.p4"
#include "ledger/window.p4"
#include "ledger/deparser.p4"
#include "ledger/request.p4"

#define UNIT_PACKETS	8w0

control LedgerIngress(inout headers_t headers, inout ingress_t metadata,
		      in ingress_intrinsic_metadata_t intrinsic,
		      in ingress_intrinsic_metadata_from_parser_t
			parser_metadata,
		      inout ingress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		      inout ingress_intrinsic_metadata_for_tm_t
			manager_metadata)
{
	Forward() forward;
	FlowKey() flow_key;
	ChooseRow() choose_row;
	CountInCache() count_in_cache;
	OldestRequest() oldest_request;
	EndOfRequests() end_of_requests;
	TimeOut() time_out;
	NextRequest() next_request;
	FreshRequest() fresh_request;
	RingOfRequests() ring;
	bit<LEDGER_CACHE_BITS> row = 0;
	bit<8> outcome = LEDGER_OTHER;
	bit<8> unit = UNIT_PACKETS;
	bit<8> may_count = 0;
	bit<8> may_send = 0;
	bit<8> is_known = 0;	/* the source of an answer */
	bit<8> is_late = 0;
	bit<9> collector_port = 0;
	bit<9> loop_port = 0;
	bit<10> group_session = 0;
	bit<10> loop_session = 0;
	bit<32> shift = 0;
	bit<32> now;
	bit<32> amount = 1;
	bit<32> oldest;
	bit<32> end;
	bit<32> full;
	bit<32> queued;
	bit<32> limit;
	bit<32> number;
	bit<32> fresh;
	bit<32> ahead = 0;
	bit<32> behind = 0;
	bit<32> place;
	bit<9> port;
	bool is_forwarded;
	bool is_look = false;
	bool is_sending = false;

	@name(".ledger_packets")
	Counter<bit<32>, bit<8>>(LEDGER_OUTCOMES,
				 CounterType_t.PACKETS_AND_BYTES) packets;

	/*
	 * @counting: 0: packets are not counted.  @sending: 0 stops requests, while the queue pair
	 * is replaced.  @to: the port towards the collector; @back: the port that leads to ingress.
	 * @sums: the mirror session to the group with a copy of a sum for each row; @answers: the
	 * session to @back.
	 */
	@name(".ledger_ways_are")
	action ways_are(bit<8> counting, bit<8> sending, bit<9> to, bit<9> back,
			bit<10> sums, bit<10> answers, bit<8> unit_of_amounts)
	{
		may_count = counting;
		may_send = sending;
		collector_port = to;
		loop_port = back;
		group_session = sums;
		loop_session = answers;
		unit = unit_of_amounts;
	}

	@name(".ledger_ways")
	table ways {
		actions = { ways_are; }
		default_action = ways_are(0, 0, 0, 0, 0, 0, UNIT_PACKETS);
		size = 1;
	}

	@name(".ledger_take_answer")
	action take_answer()
	{
		metadata.kind = LOOP_ANSWER;
	}

	/* The switch's own address. */
	@name(".ledger_self")
	table self {
		key = { headers.ipv4.destination : exact @name("ip"); }
		actions = { take_answer; NoAction; }
		default_action = NoAction;
		size = 1;
	}

	@name(".ledger_answer_of")
	action answer_of(bit<32> from_number)
	{
		shift = from_number;
		is_known = 1;
	}

	/* The collector, its queue pair, and where its answers arrive. */
	@name(".ledger_from")
	table from {
		key = {
			intrinsic.ingress_port : exact @name("port");
			headers.ipv4.source : exact @name("ip");
			headers.bth.queue_pair : exact @name("qpn");
		}
		actions = { answer_of; NoAction; }
		default_action = NoAction;
		size = 1;
	}

	/* Amounts that left the cache, modulo 2^32, to find frames that the switch itself lost. */
	@name(".ledger_evicted")
	Register<bit<32>, bit<1>>(1, 0) evictions;
	RegisterAction<bit<32>, bit<1>, bit<32>>(evictions) evict = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
			value = value + metadata.evicted.amount;
		}
	};

	/* The amounts that became requests, by row. */
	@name(".ledger_added")
	Register<bit<32>, bit<4>>(16, 0) additions;
	RegisterAction<bit<32>, bit<4>, bit<32>>(additions) add = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
			value = value + headers.loop.amount;
		}
	};

	/* Likewise, those for which the ring had no room, by row. */
	@name(".ledger_lost")
	Register<bit<32>, bit<4>>(16, 0) losses;
	RegisterAction<bit<32>, bit<4>, bit<32>>(losses) lose = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
			value = value + headers.loop.amount;
		}
	};

	/* 1: a NAK says that the queue pair is in error; the control plane replaces it. */
	@name(".ledger_broken")
	Register<bit<8>, bit<1>>(1, 0) broken;
	RegisterAction<bit<8>, bit<1>, bit<8>>(broken) note = {
		void apply(inout bit<8> value, out bit<8> found)
		{
			found = value;
			value = 1;
		}
	};

	action judge(bit<8> result, bit<8> kind)
	{
		outcome = result;
		metadata.kind = kind;
	}

	/* Answers: only a request that is outstanding may be answered. */
	table verdicts {
		key = {
			is_known : ternary;
			headers.aeth.isValid() : ternary;
			headers.aeth.syndrome : ternary;
			ahead : ternary;
			behind : ternary;
		}
		actions = { judge; }
		const default_action = judge(LEDGER_STALE, LOOP_ANSWER);
		const entries = {
			(0, _, _, _, _) : judge(LEDGER_SOURCE, LOOP_ANSWER);
			(_, false, _, _, _) :
				judge(LEDGER_MALFORMED, LOOP_ANSWER);
			(_, _, 0 &&& 0xe0, LESS_THAN_16, LESS_THAN_16) :
				judge(LEDGER_ACKNOWLEDGED, LOOP_DONE);
			(_, _, SYNDROME_SEQUENCE, LESS_THAN_16, LESS_THAN_16) :
				judge(LEDGER_NAK, LOOP_REWIND);
			(_, _, 0x60 &&& 0xe0, LESS_THAN_16, LESS_THAN_16) :
				judge(LEDGER_NAK_FATAL, LOOP_FATAL);
		}
		size = 5;
	}

	action read_answer()
	{
		metadata.number[31:8] = headers.bth.psn;
		metadata.number[7:0] = 1;
	}

	action subtract_shift()
	{
		metadata.number = metadata.number - shift;
	}

	action find_distances()
	{
		ahead = metadata.number - oldest;
		behind = fresh - metadata.number;
	}

	/* Of the last outstanding request, 1. */
	action count_behind()
	{
		behind = behind - PSN(1);
	}

	/* All requests up to that of an acknowledgement were executed. */
	action pass_acknowledged()
	{
		metadata.number = metadata.number + PSN(1);
	}

	action find_full()
	{
		full = oldest + RING_USED_MAX;
	}

	action find_queued()
	{
		queued = end - oldest;
	}

	action limit_to_end()
	{
		limit = end;
	}

	action limit_to_window()
	{
		limit = oldest + OUTSTANDING;
	}

	/* To ingress again, as another kind of frame. */
	action turn(bit<8> kind)
	{
		headers.loop.setValid();
		headers.loop.kind = kind;
		manager_metadata.ucast_egress_port = loop_port;
		deparser_metadata.drop_ctl = 0;
	}

	action send()
	{
		headers.loop.setValid();
		headers.loop.kind = LOOP_REQUEST;
		headers.loop.number = number;
		manager_metadata.ucast_egress_port = collector_port;
		manager_metadata.bypass_egress = 0;
		deparser_metadata.drop_ctl = 0;
	}

	action mirror_sum()
	{
		metadata.session = group_session;
		deparser_metadata.mirror_type = MIRROR_SUM;
	}

	action mirror_answer()
	{
		metadata.session = loop_session;
		deparser_metadata.mirror_type = MIRROR_ANSWER;
	}

	apply {
		manager_metadata.bypass_egress = 1;
		now = parser_metadata.global_tstamp[47:16];
		metadata.evicted.amount = 0;
		number = 0;
		ways.apply();
		if (headers.bth.isValid() && headers.ipv4.isValid())
			self.apply();
		if (metadata.kind == 0) {
			flow_key.apply(headers, metadata.report);
			forward.apply(headers, intrinsic.ingress_port,
				      deparser_metadata, manager_metadata,
				      port, is_forwarded);
			/* Requests of switches that count requests would never end. */
			if (is_forwarded && metadata.is_flow &&
			    metadata.report.key == KEY_IPV4 &&
			    !metadata.checksums.is_wrong &&
			    parser_metadata.parser_err == 0 &&
			    !(metadata.report.protocol == PROTOCOL_UDP &&
			      metadata.report.destination_port ==
			      DART_STORE_UDP_PORT)) {
				outcome = LEDGER_ADDED;
				if (unit != UNIT_PACKETS)
					amount = (bit<32>)headers.ipv4.length +
						 14;
			}
		} else {
			deparser_metadata.drop_ctl = 1;
			if (metadata.kind == LOOP_TICK)
				is_look = true;
			else if (metadata.kind == LOOP_ANSWER)
				read_answer();
			else
				metadata.number = headers.loop.number;
		}
		if (outcome == LEDGER_ADDED && may_count == 0)
			outcome = LEDGER_UNASSIGNED;

		if (outcome == LEDGER_ADDED || is_look) {
			choose_row.apply(headers, metadata.report, is_look,
					 row);
			count_in_cache.apply(headers, metadata.report, row,
					     amount, is_look, now,
					     metadata.evicted);
			if (metadata.evicted.amount != 0) {
				evict.execute(0);
				mirror_sum();
			}
		}

		if (metadata.kind != 0) {
			if (metadata.kind == LOOP_ANSWER) {
				from.apply();
				subtract_shift();
			}
			oldest_request.apply(metadata.kind, metadata.number,
					     oldest);
			find_full();
			end_of_requests.apply(metadata.kind, full, end);
			find_queued();
			if (queued[31:12] != 0)
				limit_to_window();
			else
				limit_to_end();
			time_out.apply(metadata.kind, queued == 0, now,
				       is_late);
			if (may_send != 0 && is_late == 0 &&
			    (metadata.kind == LOOP_TICK ||
			     metadata.kind == LOOP_SEND ||
			     metadata.kind == LOOP_DONE))
				is_sending = true;
			next_request.apply(metadata.kind, is_sending, limit,
					   oldest, number);
			fresh_request.apply(number, fresh);

			place = number;
			if (metadata.kind == LOOP_ADD)
				place = end;
			if (place != 0 && (metadata.kind == LOOP_ADD ||
					   is_sending))
				ring.apply(headers, RING_PLACE(place),
					   metadata.kind == LOOP_ADD);

			if (metadata.kind == LOOP_ADD && end == 0) {
				lose.execute(headers.loop.row[3:0]);
			} else if (metadata.kind == LOOP_ADD) {
				add.execute(headers.loop.row[3:0]);
				turn(LOOP_SEND);
			} else if (is_late != 0) {
				turn(LOOP_LATE);
			} else if (metadata.kind == LOOP_REWIND ||
				   metadata.kind == LOOP_LATE) {
				turn(LOOP_SEND);
			} else if (number != 0) {
				send();
			} else if (metadata.kind == LOOP_FATAL) {
				note.execute(0);
			} else if (metadata.kind == LOOP_ANSWER) {
				find_distances();
				count_behind();
				verdicts.apply();
				if (metadata.kind == LOOP_DONE)
					pass_acknowledged();
				if (metadata.kind != LOOP_ANSWER)
					mirror_answer();
			}
		}
		if (!headers.loop.isValid() && !is_look)
			packets.count(outcome);
	}
}

control LedgerEgress(inout headers_t headers, inout egress_t metadata,
		     in egress_intrinsic_metadata_t intrinsic,
		     in egress_intrinsic_metadata_from_parser_t
			parser_metadata,
		     inout egress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		     inout egress_intrinsic_metadata_for_output_port_t
			port_metadata)
{
	MakeRequest() make_request;
	SendRequest() send_request;
	rdma_self_t self;
	rdma_peer_t peer;
	bit<16> source_port = 0;
	bit<64> base = 0;
	bit<32> shift = 0;
	bit<32> first = 0;
	bit<32> mask = 0;

	@name(".ledger_requests")
	Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) requests;

	@name(".ledger_row_at")
	action row_at(bit<32> first_word, bit<32> words_mask)
	{
		first = first_word;
		mask = words_mask;
	}

	@name(".ledger_drop_copy")
	action drop_copy()
	{
		deparser_metadata.drop_ctl = 1;
	}

	/* By the copy of a sum: a row, or after the last one the total, a row of one word. */
	@name(".ledger_rows")
	table rows {
		key = { intrinsic.egress_rid : exact @name("row"); }
		actions = { row_at; drop_copy; }
		default_action = drop_copy;
		size = DART_LEDGER_ROWS_MAX + 1;
	}

	@name(".ledger_add_to")
	action add_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey,
		      bit<64> base_of_words, bit<16> port, bit<32> from_number)
	{
		peer.mac = mac;
		peer.ip = ip;
		peer.qpn = qpn;
		peer.rkey = rkey;
		base = base_of_words;
		source_port = port;
		shift = from_number;
	}

	@name(".ledger_collector")
	table collector {
		actions = { add_to; drop_copy; }
		default_action = drop_copy;
		size = 1;
	}

	@name(".ledger_adder_is")
	action adder_is(bit<48> mac, bit<32> ip)
	{
		self.mac = mac;
		self.ip = ip;
	}

	@name(".ledger_adder")
	table adder {
		actions = { adder_is; }
		default_action = adder_is(0, 0);
		size = 1;
	}

	apply {
		peer = { 0, 0, 0, 0 };
		if (headers.sum.isValid()) {
			if (rows.apply().hit)
				make_request.apply(headers, metadata.key,
						   intrinsic.egress_rid[7:0],
						   first, mask);
		} else if (headers.loop.kind == LOOP_REQUEST) {
			collector.apply();
			adder.apply();
			send_request.apply(headers, self, peer, source_port,
					   base, shift);
			requests.count(0);
		}
	}
}

Pipeline(DartIngressParser(), LedgerIngress(), LedgerIngressDeparser(),
	 LedgerEgressParser(), LedgerEgress(), LedgerEgressDeparser()) pipeline;

Switch(pipeline) main;
