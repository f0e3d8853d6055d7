// SPDX-License-Identifier: GPL-2.0-only
/* Ingress: packets, responses, and clones of responses. */
#ifndef DART_TNA_TEA_INGRESS_P4
#define DART_TNA_TEA_INGRESS_P4

#include "hash.p4"
#include "judge.p4"
#include "port.p4"
#include "search.p4"
#include "sketch.p4"
#include "tna/rdma/queue_pair.p4"

#define LESS_THAN_32	0 &&& 0xffffe000	/* PSNs */
#define SENT_ONCE	16w0x1000	/* in the tag */

control TeaIngress(inout headers_t headers, inout ingress_t metadata,
		   in ingress_intrinsic_metadata_t intrinsic,
		   in ingress_intrinsic_metadata_from_parser_t parser_metadata,
		   inout ingress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		   inout ingress_intrinsic_metadata_for_tm_t manager_metadata)
{
	TeaRowHash() row_hash;
	TeaShareHash() share_hash;
	TeaSketch() sketch;
	TeaPorts() ports;
	PsnsEnd() psns_end;
	NextPsn() next_psn;
	WaitingRead() waiting_read;
	TeaJudge() judge;
	TeaSearch() search;
	FunctionApply() function_apply;
	bit<8> outcome = TEA_OTHER;
	bit<8> held = TEA_OTHER;	/* the entry of the packet, and where */
	bit<8> is_mine = 0;		/* the packet is for the switch */
	bit<8> is_assigned = 0;
	bit<8> is_silent = 0;
	bool is_clone = false;
	tea_value_t value;
	bit<32> row_0;
	bit<32> row_1;
	bit<32> row;
	bit<32> share;
	bit<16> bytes;		/* of the packet */
	bit<16> excess;
	bit<16> packet_length = 0;
	bit<9> loop_port = 0;
	bit<16> tries_left = 0;
	bit<16> tries;
	bit<16> sending;
	bit<8> first = 0;
	bit<8> second = 0;
	bit<9> first_port = 0;
	bit<9> second_port = 0;
	bit<8> first_down;
	bit<8> second_down;
	bit<8> first_use;
	bit<8> second_use;
	bit<9> way = 0;
	bit<8> server_known = 0;
	bit<24> table_epoch = 0;
	bit<32> end;
	bit<32> next;
	bit<32> waiting;	/* PSN of the WRITE of a response */
	bit<32> ahead;
	bit<32> behind;
	bit<32> changing;
	bit<8> there;
	bit<8> found;
	bit<8> has_route = 0;
	bool popular;
	bool take;

	@name(".tea_packets")
	Counter<bit<32>, bit<8>>(TEA_OUTCOMES, CounterType_t.PACKETS) packets;

	@name(".tea_requests")
	Counter<bit<32>, bit<8>>(QUEUE_PAIRS, CounterType_t.PACKETS) requests;

	/*
	 * @port: from which packets are recirculated; @number: of the mirror session to
	 * it, which cuts clones to 64 bytes.
	 */
	@name(".tea_limits_are")
	action limits_are(bit<16> length, bit<16> sendings, bit<9> port,
			  bit<10> number)
	{
		packet_length = length;
		tries_left = sendings;
		loop_port = port;
		metadata.session = number;
	}

	@name(".tea_limits")
	table limits {
		actions = { limits_are; }
		default_action = limits_are(0, 0, 0, 0);
		size = 1;
	}

	@name(".forward_to")
	action forward_to(bit<9> port)
	{
		manager_metadata.ucast_egress_port = port;
		first_port = port;
		second_port = port;
	}

	/* To a group, except the ports that the port of arrival excludes. */
	@name(".forward_flood")
	action forward_flood(bit<16> group)
	{
		manager_metadata.mcast_grp_a = group;
		manager_metadata.level2_exclusion_id = intrinsic.ingress_port;
	}

	@name(".forward_drop")
	action forward_drop()
	{
		deparser_metadata.drop_ctl = 1;
	}

	/* For the switch's own MAC. */
	@name(".tea_look_up")
	action look_up()
	{
		is_mine = 1;
	}

	@name(".forward")
	table forward {
		key = { headers.ethernet.destination : exact
				@name("destination"); }
		actions = { forward_to; forward_flood; forward_drop; look_up; }
		default_action = forward_drop;
		size = TEA_HOSTS;
	}

	@name(".tea_response_of")
	action response_of(bit<8> server, bit<24> epoch)
	{
		metadata.server = server;
		table_epoch = epoch;
		server_known = 1;
	}

	/* The servers that may respond, and where their responses arrive. */
	@name(".tea_from")
	table from {
		key = {
			headers.response.source : exact @name("ip");
			intrinsic.ingress_port : exact @name("port");
		}
		actions = { response_of; NoAction; }
		default_action = NoAction;
		size = TEA_SERVERS;
	}

	@name(".tea_cached")
	action cached(bit<32> address, bit<16> port, bit<8> last)
	{
		value.address = address;
		value.port = port;
		value.last = last;
		held = TEA_CACHE;
	}

	@name(".tea_cache")
	table cache {
		key = {
			headers.ipv4.source : exact @name("source");
			headers.ipv4.destination : exact @name("destination");
			headers.ports.source : exact @name("source_port");
			headers.ports.destination : exact
				@name("destination_port");
			headers.ipv4.protocol : exact @name("protocol");
		}
		actions = { cached; @defaultonly NoAction; }
		default_action = NoAction;
		size = TEA_CACHE_ENTRIES;
	}

	@name(".tea_stashed")
	action stashed(bit<32> address, bit<16> port, bit<8> last)
	{
		value.address = address;
		value.port = port;
		value.last = last;
		held = TEA_STASH;
	}

	@name(".tea_stash")
	table stash {
		key = {
			headers.ipv4.source : exact @name("source");
			headers.ipv4.destination : exact @name("destination");
			headers.ports.source : exact @name("source_port");
			headers.ports.destination : exact
				@name("destination_port");
			headers.ipv4.protocol : exact @name("protocol");
		}
		actions = { stashed; @defaultonly NoAction; }
		default_action = NoAction;
		size = TEA_STASH_ENTRIES;
	}

	@name(".tea_assign")
	action assign(bit<8> server, bit<9> port, bit<8> replica,
		      bit<9> replica_port)
	{
		first = server;
		first_port = port;
		second = replica;
		second_port = replica_port;
		is_assigned = 1;
	}

	/* The servers of each range of shares. */
	@name(".tea_share")
	table shares {
		key = { share[DART_TEA_SHARE_BITS - 1 : 0] : exact
				@name("share"); }
		actions = { assign; NoAction; }
		default_action = NoAction;
		size = DART_TEA_SHARES;
	}

	action use_first()
	{
		metadata.server = first;
		way = first_port;
	}

	action use_second()
	{
		metadata.server = second;
		way = second_port;
	}

	action use_none()
	{
		is_silent = 1;
	}

	table ways {
		key = {
			first_down : ternary;
			first_use : ternary;
			second_down : ternary;
			second_use : ternary;
		}
		actions = { use_first; use_second; use_none; }
		const default_action = use_none;
		const entries = {
			(0, 0, _, _) : use_first();
			(_, _, 0, 0) : use_second();
			(0, _, _, _) : use_first();
			(_, _, 0, _) : use_second();
		}
		size = 4;
	}

	action classify(bit<8> result)
	{
		outcome = result;
	}

	action classify_sent()
	{
		outcome = TEA_SENT;
		take = true;
	}

	/* The outcome of a packet for the switch. */
	table classes {
		key = {
			headers.ports.isValid() : ternary;
			metadata.is_damaged : ternary;
			headers.ipv4.ttl : ternary;
			held : ternary;
			excess : ternary;
			is_assigned : ternary;
			is_silent : ternary;
		}
		actions = { classify; classify_sent; }
		const default_action = classify(TEA_LONG);
		const entries = {
			(false, _, _, _, _, _, _) : classify(TEA_KEYLESS);
			(_, true, _, _, _, _, _) : classify(TEA_INVALID);
			(_, _, 0 &&& 0xfe, _, _, _, _) : classify(TEA_INVALID);
			(_, _, _, TEA_CACHE, _, _, _) : classify(TEA_CACHE);
			(_, _, _, TEA_STASH, _, _, _) : classify(TEA_STASH);
			(_, _, _, _, 0, 0, _) : classify(TEA_UNASSIGNED);
			(_, _, _, _, 0, _, 1) : classify(TEA_SILENT);
			(_, _, _, _, 0, _, _) : classify_sent();
		}
		size = 8;
	}

	action settle(bit<8> result)
	{
		outcome = result;
	}

	/* The PSN of a NAK is outstanding if it is near to both ends. */
	table verdicts {
		key = {
			outcome : ternary;
			next : ternary;
			there : ternary;
			found : ternary;
			changing : ternary;
			headers.row.sequence[0:0] : ternary @name("is_odd");
			headers.row.stashed : ternary;
			tries_left : ternary;
			ahead : ternary;
			behind : ternary;
		}
		actions = { settle; NoAction; }
		const default_action = NoAction;
		const entries = {
			(TEA_SENT, 0, _, _, _, _, _, _, _, _) :
				settle(TEA_LIMIT);
			(TEA_FOUND, _, 0, _, _, _, _, _, _, _) :
				settle(TEA_STALE);
			(TEA_FOUND, _, _, 1, _, _, _, _, _, _) :
				settle(TEA_FOUND);
			(TEA_FOUND, _, _, _, 0, 0, 0, _, _, _) :
				settle(TEA_ABSENT);
			(TEA_FOUND, _, _, _, 0, 0, _, _, _, _) :
				settle(TEA_STASHED);
			(TEA_FOUND, _, _, _, _, _, _, 0, _, _) :
				settle(TEA_CHANGING);
			(TEA_FOUND, _, _, _, _, _, _, _, _, _) :
				settle(TEA_AGAIN);
			(TEA_NAK, _, _, _, _, _, _, _, LESS_THAN_32,
			 LESS_THAN_32) : settle(TEA_NAK);
			(TEA_NAK, _, _, _, _, _, _, _, LESS_THAN_32, PSN(32)) :
				settle(TEA_NAK);
			(TEA_NAK, _, _, _, _, _, _, _, PSN(32), PSN(32)) :
				settle(TEA_NAK);
			(TEA_NAK, _, _, _, _, _, _, _, _, _) :
				settle(TEA_NAK_STALE);
		}
		size = 11;
	}

	@name(".route_to")
	action route_to(bit<9> port, bit<48> mac)
	{
		manager_metadata.ucast_egress_port = port;
		headers.ethernet.source = headers.ethernet.destination;
		headers.ethernet.destination = mac;
		headers.ipv4.ttl = headers.ipv4.ttl - 1;
		has_route = 1;
	}

	@name(".route_drop")
	action route_drop()
	{
	}

	@name(".route")
	table routes {
		key = { headers.ipv4.destination : lpm @name("destination"); }
		actions = { route_to; route_drop; }
		default_action = route_drop;
		size = TEA_ROUTES;
	}

	@name(".tea_drop")
	action drop_packet()
	{
		deparser_metadata.drop_ctl = 1;
	}

	@name(".tea_to_port")
	action to_port(bit<9> port)
	{
		manager_metadata.ucast_egress_port = port;
	}

	/* The choice of the operator for packets without an entry. */
	@name(".tea_otherwise")
	table otherwise {
		key = { outcome : exact @name("outcome"); }
		actions = { drop_packet; to_port; }
		default_action = drop_packet;
		size = TEA_OTHERWISE_ENTRIES;
	}

	/* Both copies belong to the group of the port: see Documentation/p4.md. */
	action send()
	{
		headers.loop.setValid();
		headers.loop.kind = LOOP_LOOKUP;
		headers.loop.server = metadata.server;
		headers.loop.sending = sending;
		headers.loop.psn = next;
		headers.loop.word = row;
		manager_metadata.mcast_grp_a = (bit<16>)way + 1;
		manager_metadata.bypass_egress = 0;
	}

	action send_again()
	{
		headers.loop.setValid();
		headers.loop.kind = LOOP_AGAIN;
		headers.loop.sending = headers.tag.sending + SENT_ONCE;
		manager_metadata.ucast_egress_port = loop_port;
	}

	action read_response()
	{
		metadata.psn = headers.response.psn << 8;
		excess = bytes - headers.tag.length;
		changing = headers.row.sequence ^ headers.row_end.sequence;
		tries = headers.tag.sending >> 12;
	}

	action mark_psn()
	{
		metadata.psn = metadata.psn + 1;
	}

	action find_write()
	{
		waiting = metadata.psn - PSN(1);
	}

	action find_tries()
	{
		tries_left = tries_left |-| tries;
	}

	action add_rows()
	{
		row = row_0 + row_1;
	}

	action find_excess()
	{
		excess = bytes |-| packet_length;
	}

	action find_distances()
	{
		behind = end - metadata.psn;
		ahead = next - metadata.psn;
	}

	action read_clone()
	{
		metadata.server = headers.loop.server;
		metadata.loop = headers.loop.kind;
		metadata.psn = headers.loop.psn;
		metadata.end = headers.loop.word;
		headers.loop.setInvalid();
		deparser_metadata.drop_ctl = 1;
		is_clone = true;
	}

	action read_again()
	{
		sending = headers.loop.sending;
		headers.loop.setInvalid();
	}

	/* Everything outstanding up to this READ is free now. */
	action mirror_data()
	{
		metadata.loop = LOOP_FREE;
		metadata.end = metadata.psn + PSNS_AHEAD;
		deparser_metadata.mirror_type = MIRROR_RESPONSE;
	}

	/* The server expects this PSN. */
	action mirror_nak()
	{
		metadata.loop = LOOP_REWIND;
		metadata.end = metadata.psn + PSNS_AT_ONCE;
		deparser_metadata.mirror_type = MIRROR_RESPONSE;
	}

	apply {
		limits.apply();
		manager_metadata.bypass_egress = 1;
		take = false;
		there = 0;
		found = 0;
		sending = (bit<16>)intrinsic.ingress_port;
		bytes = headers.ipv4.length + 14;
		if (headers.loop.isValid() && headers.loop.kind != LOOP_AGAIN) {
			read_clone();
		} else if (headers.response.isValid()) {
			from.apply();
			read_response();
			mark_psn();
			find_tries();
			find_write();
			judge.apply(headers, metadata.is_damaged, excess,
				    server_known, table_epoch, outcome);
			search.apply(headers, metadata.key, value, found);
		} else {
			if (headers.loop.isValid())
				read_again();
			forward.apply();
			if (headers.ports.isValid()) {
				row_hash.apply(headers, row_0, row_1);
				share_hash.apply(headers, share);
				if (!cache.apply().hit)
					stash.apply();
			}
			if (is_mine == 1) {
				shares.apply();
				find_excess();
			}
			ports.apply(first_port, second_port, first_down,
				    second_down, first_use, second_use);
			ways.apply();
			if (is_mine == 1) {
				add_rows();
				classes.apply();
				if (held == TEA_OTHER) {
					sketch.apply(row_0, row_1, popular);
					if (popular)
						deparser_metadata.digest_type =
							DIGEST_POPULAR;
				}
			}
		}

		psns_end.apply(metadata.server, metadata.loop, metadata.end,
			       end);
		next_psn.apply(metadata.server, metadata.loop, take, end,
			       metadata.psn, next);
		find_distances();
		if (take && next != 0 || outcome == TEA_FOUND)
			waiting_read.apply(metadata.server, take, next,
					   waiting, there);
		if (found == 1 || outcome == TEA_CACHE ||
		    outcome == TEA_STASH) {
			function_apply.apply(headers, value);
			routes.apply();
			metadata.is_changed = true;
			if (headers.udp.isValid() && headers.udp.checksum != 0)
				metadata.has_udp_checksum = true;
		}
		verdicts.apply();
		if (outcome == TEA_CACHE || outcome == TEA_STASH ||
		    outcome == TEA_FOUND) {
			if (has_route == 0)
				deparser_metadata.drop_ctl = 1;
		} else if (outcome == TEA_SENT) {
			send();
			requests.count(metadata.server);
		} else if (outcome == TEA_AGAIN) {
			send_again();
		} else if (outcome != TEA_OTHER) {
			otherwise.apply();
		}
		if (outcome == TEA_NAK)
			mirror_nak();
		else if (there == 1)
			mirror_data();
		if (!is_clone)
			packets.count(outcome);
	}
}

#endif /* DART_TNA_TEA_INGRESS_P4 */
