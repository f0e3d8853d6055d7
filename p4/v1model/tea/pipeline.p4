// SPDX-License-Identifier: GPL-2.0-only
/*
 * A network function with lookup tables, for BMv2's simple_switch: see Documentation/p4.md.
 * The file of the function, in p4/functions, is included before this one.
 *
 *   ingress  a packet: its entry from the cache or the stash; otherwise takes the PSNs of a
 *            WRITE and a READ.  A response: entry and packet from it.  Then the network
 *            function and the route
 *   egress   turns the two copies of a packet into a WRITE and a READ
 */
#ifndef DART_V1MODEL_TEA_PIPELINE_P4
#define DART_V1MODEL_TEA_PIPELINE_P4

#define TEA_STRING(text)	#text
#define RDMA_NAME(register)	TEA_STRING(.tea_##register)

#include "shared/tea/state.p4"

#define CLONED		8w1	/* number of a field list */
#define INGRESS_CLONE	32w1	/* instance types of simple_switch */
#define REPLICATION	32w5

#define COPY_WRITE	16w1	/* replication ID; the other copy becomes the READ */

/* Unless the function knows a better one, and the control plane does not set one: any length. */
#ifndef TEA_MTU
#define TEA_MTU		16w0xffff
#endif

#define LOST_REFUSED	32w0	/* by the network function */
#define LOST_NO_ROUTE	32w1

#define USE_ANSWERED	32w0
#define USE_REFUSED	32w1

/* Bytes of a WRITE around the packet, and of a READ. */
#define TEA_AROUND_BYTES (14 + 20 + 8 + 12 + 16 + 12 + 4 +		\
			  14 + 20 + 8 + 12 + 16 + 4)

struct metadata_t {
	bit<32> residue;
	@field_list(CLONED)
	bit<6> probe_server;
	@field_list(CLONED)
	bit<24> probe_psn;
	@field_list(CLONED)
	bit<48> self_mac;
	@field_list(CLONED)
	bit<32> self_ip;
	tea_request_t request;
	tea_t tea;
	bit<24> geometry;
	bool cut;	/* the rest of a response follows the packet */
}

#include "v1model/rdma/icrc.p4"
#include "v1model/rdma/queue_pair.p4"
#include "parser.p4"
#include "v1model/damage.p4"
#include "v1model/forward.p4"
#include "hash.p4"
#include "port.p4"
#include "sketch.p4"
#include "use.p4"
#include "shared/tea/sketch.p4"
#include "shared/tea/resolve.p4"
#include "shared/tea/respond.p4"
#include "shared/tea/route.p4"

struct tea_popular_t {
	bit<TEA_KEY_BITS> key;
}

control TeaVerifyChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		RDMA_CHECK_ICRC(headers, metadata.residue, headers.aeth,
				headers.atomic_ack, headers.tea_row,
				TEA_ALL_CELLS(headers), headers.tea_row_end,
				headers.tea_tag, TEA_PACKET(headers));
	}
}

control TeaIngress(inout headers_t headers, inout metadata_t metadata,
		   inout standard_metadata_t standard)
{
	FunctionKey() function_key;
	FunctionApply() function_apply;
	Forward() forward;
	TeaRowHash() row_hash;
	TeaSketch() sketch;
	TeaResolve() resolve;
	TeaRespond() respond;
	Route() route;
	TeaUsePort() use_port;
	TeaStampUse() stamp_use;
	TeaAnswerUse() answer_use;
	Damage() damage;
	tea_limits_t limits = { 0, 0, 0, 0 };
	bit<48> destination;
	bit<8> flaw;
	bit<48> now;
	bit<32> row_0;
	bit<32> row_1;
	bool is_damaged;
	bool is_ip = false;
	bit<8> hops = 0;
	bit<32> ip_length = 0;
	bool is_forwarded;
	bool has_key;
	bool popular;
	bool probe;
	bool drop;
	bool defer;
	bool has_route;
	bool is_question = false;
	bool answered;
	bit<9> probe_port;
	bit<32> bytes;
	bit<9> out_port;
	bit<16> mtu = 0;

	@name(".tea_packets")
	counter(TEA_OUTCOMES, CounterType.packets) packets;

	@name(".tea_requests")
	counter(TEA_SERVERS, CounterType.packets) requests;

	@name(".tea_probes")
	counter(TEA_SERVERS, CounterType.packets) probes;

	/* Packets that have an entry but do not leave. */
	@name(".tea_lost")
	counter(2, CounterType.packets) lost;

	/* Questions about the use of entries. */
	@name(".tea_questions")
	counter(2, CounterType.packets) questions;

	@name(".tea_cached_packets")
	direct_counter(CounterType.packets) cached_packets;

	@name(".tea_geometry_is")
	action geometry_is(bit<8> key_length, bit<8> value_length,
			   bit<8> cells)
	{
		metadata.geometry = key_length ++ value_length ++ cells;
	}

	/* For the control plane to read. */
	@name(".tea_geometry")
	table geometry {
		actions = { geometry_is; }
		const default_action = geometry_is(TEA_KEY_BYTES,
						   TEA_VALUE_BYTES, TEA_CELLS);
	}

	@name(".tea_switch_is")
	action switch_is(bit<48> mac, bit<32> ip, bit<16> packet_length,
			 bit<8> outstanding, bit<32> timeout, bit<4> tries)
	{
		metadata.self_mac = mac;
		metadata.self_ip = ip;
		limits.packet_length = packet_length;
		limits.outstanding = outstanding;
		limits.timeout = timeout;
		limits.tries = tries;
	}

	@name(".tea_switch")
	table switches {
		actions = { switch_is; NoAction; }
		default_action = NoAction;
	}

	@name(".tea_cached")
	action cached(bit<TEA_VALUE_BITS> value)
	{
		metadata.tea.value = value;
		cached_packets.count();
	}

	@name(".tea_cache")
	table cache {
		key = { metadata.tea.key : exact @name("key"); }
		actions = { cached; @defaultonly NoAction; }
		default_action = NoAction;
		counters = cached_packets;
		size = TEA_CACHE_ENTRIES;
	}

	@name(".tea_stashed")
	action stashed(bit<TEA_VALUE_BITS> value)
	{
		metadata.tea.value = value;
	}

	@name(".tea_stash")
	table stash {
		key = { metadata.tea.key : exact @name("key"); }
		actions = { stashed; NoAction; }
		default_action = NoAction;
		size = TEA_STASH_ENTRIES;
	}

	@name(".tea_mtu_is")
	action mtu_is(bit<16> longest)
	{
		mtu = longest;
	}

	/* Longer packets go to the control plane as they are: it tells their senders. */
	@name(".tea_mtu")
	table mtus {
		actions = { mtu_is; }
		default_action = mtu_is(TEA_MTU);
	}

	@name(".tea_drop")
	action drop_packet()
	{
	}

	@name(".tea_to_port")
	action to_port(bit<9> port)
	{
		standard.egress_spec = port;
	}

	/* The choice of the operator for packets without an entry. */
	@name(".tea_otherwise")
	table otherwise {
		key = { metadata.tea.outcome : exact @name("outcome"); }
		actions = { drop_packet; to_port; }
		default_action = drop_packet;
		size = TEA_OTHERWISE_ENTRIES;
	}

	apply {
		now = standard.ingress_global_timestamp;
		/* The default, until a later step decides otherwise. */
		mark_to_drop(standard);
		metadata.request.kind = REQUEST_NONE;
		metadata.request.tries = 0;
		metadata.cut = false;
		geometry.apply();
		switches.apply();
		destination = headers.ethernet.destination;
		if (headers.bth.isValid())
			destination = headers.rdma_ethernet.destination;
		damage.apply(headers, standard.parser_error, is_damaged);
		if (headers.ipv4.isValid()) {
			is_ip = true;
			hops = headers.ipv4.ttl;
			ip_length = (bit<32>)headers.ipv4.length;
		}
#ifdef TEA_IPV6
		if (headers.ipv6.isValid()) {
			is_ip = true;
			hops = headers.ipv6.hop_limit;
			ip_length = (bit<32>)headers.ipv6.length + 40;
		}
#endif

		if (headers.ethernet.isValid() &&
		    headers.ethernet.ethertype == DART_TEA_USE_ETHERTYPE) {
			is_question = true;
			metadata.tea.outcome = TEA_KEYLESS;
		} else if (headers.bth.isValid() &&
		    headers.rdma_ipv4.destination == metadata.self_ip) {
			flaw = TEA_FOUND;
			if (standard.parser_error == error.TeaLength)
				flaw = TEA_LENGTH;
			else if (standard.parser_error != error.NoError)
				flaw = TEA_MALFORMED;
			respond.apply(headers, metadata.tea, metadata.request,
				      limits, standard.ingress_port, flaw,
				      standard.checksum_error == 0, now);
			metadata.cut = true;
		} else if (!headers.rdma_ethernet.isValid() &&
			   !headers.ethernet.isValid()) {
			metadata.tea.outcome = TEA_INVALID;
		} else if (destination != metadata.self_mac) {
			metadata.tea.outcome = TEA_OTHER;
			forward.apply(destination, standard, is_forwarded);
		} else if (!is_ip || headers.bth.isValid() ||
			   (headers.ipv4.destination == metadata.self_ip &&
			    headers.udp.isValid() &&
			    headers.udp.destination == DART_TEA_UDP_PORT)) {
			metadata.tea.outcome = TEA_KEYLESS;
		} else if (standard.parser_error != error.NoError ||
			   is_damaged || hops <= 1) {
			metadata.tea.outcome = TEA_INVALID;
		} else {
			metadata.tea.length = (bit<16>)standard.packet_length;
			metadata.tea.arrival = (bit<12>)standard.ingress_port;
			function_key.apply(headers, metadata.tea.key, has_key);
			if (!has_key) {
				metadata.tea.outcome = TEA_KEYLESS;
			} else if (cache.apply().hit) {
				metadata.tea.outcome = TEA_CACHE;
			} else if (stash.apply().hit) {
				metadata.tea.outcome = TEA_STASH;
			} else {
				row_hash.apply(metadata.tea.key, row_0, row_1);
				sketch.apply(row_0, row_1, popular);
				if (popular)
					digest<tea_popular_t>(
						TEA_POPULAR_RECEIVER,
						{ metadata.tea.key });
				resolve.apply(metadata.tea, metadata.request,
					      limits, now, probe,
					      metadata.probe_server,
					      probe_port,
					      metadata.probe_psn);
				if (probe) {
					probes.count((bit<32>)
						metadata.probe_server);
					clone_preserving_field_list(
						CloneType.I2E,
						(bit<32>)probe_port + 1,
						CLONED);
				}
			}
		}
		if (!is_question)
			packets.count((bit<32>)metadata.tea.outcome);

		if (metadata.request.kind == REQUEST_LOOKUP) {
			requests.count((bit<32>)metadata.request.server);
			standard.mcast_grp =
				(bit<16>)metadata.request.port + 1;
		} else if (metadata.request.kind == REQUEST_PROBE) {
			probes.count((bit<32>)metadata.request.server);
			standard.egress_spec = metadata.request.port;
		} else if (metadata.tea.outcome == TEA_CACHE ||
			   metadata.tea.outcome == TEA_STASH ||
			   metadata.tea.outcome == TEA_FOUND) {
			drop = false;
			mtus.apply();
			defer = ip_length > (bit<32>)mtu;
			if (!defer)
				function_apply.apply(headers,
						     metadata.tea.value, drop,
						     defer);
			if (defer) {
				/* It goes where packets without a key go. */
				metadata.tea.outcome = TEA_KEYLESS;
				otherwise.apply();
			} else if (!drop) {
				stamp_use.apply(metadata.tea.key, now);
				route.apply(headers, metadata.self_mac,
					    standard.egress_spec, has_route);
				if (!has_route)
					lost.count(LOST_NO_ROUTE);
			} else {
				lost.count(LOST_REFUSED);
			}
		} else if (metadata.tea.outcome != TEA_OTHER &&
			   metadata.tea.outcome < TEA_MALFORMED) {
			otherwise.apply();
		}

		if (is_question) {
			/* Only the control plane asks, from its port. */
			answered = false;
			if (standard.egress_spec == standard.ingress_port)
				answer_use.apply(headers, metadata.self_mac,
						 now, answered);
			if (answered) {
				questions.count(USE_ANSWERED);
			} else {
				questions.count(USE_REFUSED);
				mark_to_drop(standard);
			}
		}

		/* The load of all packets on the port, except flooded packets. */
		out_port = standard.egress_spec;
		bytes = metadata.cut ? (bit<32>)metadata.tea.length :
				       standard.packet_length;
		if (metadata.request.kind == REQUEST_LOOKUP) {
			out_port = metadata.request.port;
			bytes = (bit<32>)metadata.tea.length +
				TEA_AROUND_BYTES;
		}
		use_port.apply(out_port, bytes, now);
	}
}

control TeaEgress(inout headers_t headers, inout metadata_t metadata,
		  inout standard_metadata_t standard)
{
	RdmaRequest() request;
	TeaRowHash() row_hash;
	TeaTagHash() tag_hash;
	TeaRemovePacket() remove_packet;
	rdma_self_t self;
	rdma_peer_t peer = { 0, 0, 0, 0 };
	bit<64> first_row = 0;
	bit<32> rows_mask = 0;
	bit<8> log2 = 0;
	bit<24> table_epoch = 0;
	bit<32> row_0;
	bit<32> row_1;
	bit<64> row;
	bit<8> opcode;
	bit<8> acknowledge;
	bit<24> psn;
	bit<32> length;
	bit<32> frame_bytes;
	bit<32> crc;

	@name(".tea_send_to")
	action send_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey,
		       bit<64> base, bit<32> mask, bit<8> row_log2,
		       bit<24> epoch)
	{
		peer.mac = mac;
		peer.ip = ip;
		peer.qpn = qpn;
		peer.rkey = rkey;
		first_row = base;
		rows_mask = mask;
		log2 = row_log2;
		table_epoch = epoch;
	}

	@name(".tea_server")
	table servers {
		key = { metadata.request.server : exact @name("server"); }
		actions = { send_to; NoAction; }
		default_action = NoAction;
		size = TEA_SERVERS;
	}

	apply {
		if (standard.instance_type == INGRESS_CLONE) {
			metadata.request.kind = REQUEST_PROBE;
			metadata.request.server = metadata.probe_server;
			metadata.request.psn = metadata.probe_psn;
		}
		if (metadata.request.kind == REQUEST_NONE) {
			if (standard.instance_type == REPLICATION &&
			    standard.egress_port == standard.ingress_port)
				mark_to_drop(standard);
			else if (metadata.cut)
				truncate((bit<32>)metadata.tea.length);
			return;
		}
		if (!servers.apply().hit) {
			mark_to_drop(standard);
			return;
		}

		row_hash.apply(metadata.tea.key, row_0, row_1);
		row = first_row +
		      ((bit<64>)((row_0 + row_1) & rows_mask) << log2);
		psn = metadata.request.psn;
		acknowledge = 0;
		if (metadata.request.kind == REQUEST_PROBE) {
			remove_packet.apply(headers);
			opcode = RDMA_WRITE_ONLY;
			acknowledge = RDMA_ACK_REQUEST;
			row = 0;
			length = 0;
		} else if (standard.egress_rid == COPY_WRITE) {
			opcode = RDMA_WRITE_ONLY;
			row = row + TEA_ROW_BYTES;
			length = DART_TEA_TAG_LENGTH +
				 (bit<32>)metadata.tea.length;
			headers.tea_tag.setValid();
			headers.tea_tag.psn = (bit<32>)psn;
			headers.tea_tag.length = metadata.tea.length;
			headers.tea_tag.tries = metadata.request.tries;
			headers.tea_tag.port = metadata.tea.arrival;
			tag_hash.apply(headers.tea_tag, table_epoch,
				       metadata.tea.key,
				       headers.tea_tag.check);
		} else {
			remove_packet.apply(headers);
			opcode = RDMA_READ_REQUEST;
			psn = psn + 1;
			length = TEA_ROW_BYTES + DART_TEA_TAG_LENGTH +
				 (bit<32>)metadata.tea.length;
		}
		self.mac = metadata.self_mac;
		self.ip = metadata.self_ip;
		request.apply(headers, self, peer, DART_TEA_UDP_SOURCE, opcode,
			      psn, acknowledge, row, length, frame_bytes);
		RDMA_SET_ICRC(headers, crc, headers.reth, headers.tea_tag,
			      TEA_PACKET(headers));
		truncate(frame_bytes);
	}
}

control TeaComputeChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		RDMA_UPDATE_IPV4(headers);
	}
}

V1Switch(TeaParser(), TeaVerifyChecksum(), TeaIngress(), TeaEgress(),
	 TeaComputeChecksum(), TeaDeparser()) main;

#endif /* DART_V1MODEL_TEA_PIPELINE_P4 */
