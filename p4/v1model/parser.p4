// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parses Ethernet, two VLAN tags, IP, extension headers of IPv6, UDP and the INT-MD that
 * follows.  A truncated or malformed packet keeps all its bytes: unread bytes follow the
 * parsed headers.
 */
#ifndef DART_V1MODEL_PARSER_P4
#define DART_V1MODEL_PARSER_P4

#include "headers.p4"

error {
	IpMalformed,
	IntMalformed,
	PostcardMalformed
}

/* What comes before the state ethernet, unless the program defines it. */
#ifndef FIRST_STATES
#define FIRST_STATES							\
	state start {							\
		transition ethernet;					\
	}
#endif

/* What follows UDP, and the states that parse it, unless the program defines both. */
#ifndef UDP_PAYLOADS
#define UDP_PAYLOADS							\
	INT_PORT: int_headers;						\
	default: accept;
#define LAST_STATES
#endif

parser DartParser(packet_in packet, out headers_t headers,
		  inout metadata_t metadata,
		  inout standard_metadata_t standard)
{
	bit<16> room_in_ip;	/* bytes after the IP headers, according to them */
	bit<16> bytes;		/* of an extension header */
	bit<8> words;	/* unread words of the stack */
	bit<8> hop_words;
	bit<8> hop_room;	/* hops that still fit into a value */

	FIRST_STATES

	state ethernet {
		packet.extract(headers.ethernet);
		transition select(headers.ethernet.ethertype) {
			TAG_TYPES(outer_tag)
			ETHERTYPE_IPV4: ipv4;
			ETHERTYPE_IPV6: ipv6;
			default: accept;
		}
	}

	state outer_tag {
		packet.extract(headers.outer_tag);
		transition select(headers.outer_tag.ethertype) {
			TAG_TYPES(inner_tag)
			ETHERTYPE_IPV4: ipv4;
			ETHERTYPE_IPV6: ipv6;
			default: accept;
		}
	}

	state inner_tag {
		packet.extract(headers.inner_tag);
		transition select(headers.inner_tag.ethertype) {
			ETHERTYPE_IPV4: ipv4;
			ETHERTYPE_IPV6: ipv6;
			default: accept;
		}
	}

	state ipv4 {
		packet.extract(headers.ipv4);
		verify(headers.ipv4.version == 4 && headers.ipv4.ihl >= 5 &&
		       headers.ipv4.length >=
		       (bit<16>)headers.ipv4.ihl << 2, error.IpMalformed);
		room_in_ip = headers.ipv4.length -
			     ((bit<16>)headers.ipv4.ihl << 2);
		transition select(headers.ipv4.ihl) {
			5: ipv4_payload;
			default: ipv4_options;
		}
	}

	state ipv4_options {
		packet.extract(headers.ipv4_options,
			       ((bit<32>)headers.ipv4.ihl - 5) << 5);
		transition ipv4_payload;
	}

	/* Only the first fragment has ports, and INT may continue in the next fragment. */
	state ipv4_payload {
		transition select(headers.ipv4.more_fragments,
				  headers.ipv4.offset,
				  headers.ipv4.protocol) {
			(0, 0, PROTOCOL_UDP): udp;
			(0, 0, PROTOCOL_TCP): ports;
			(0, 0, PROTOCOL_DCCP): ports;
			(0, 0, PROTOCOL_SCTP): ports;
			(0, 0, PROTOCOL_UDPLITE): ports;
			default: accept;
		}
	}

	state ipv6 {
		packet.extract(headers.ipv6);
		verify(headers.ipv6.version == 6, error.IpMalformed);
		room_in_ip = headers.ipv6.length;
		transition select(headers.ipv6.next_header) {
			PROTOCOL_HOP_BY_HOP: extension;
			PROTOCOL_ROUTING: extension;
			PROTOCOL_DESTINATION: extension;
			PROTOCOL_UDP: udp;
			PROTOCOL_TCP: ports;
			PROTOCOL_DCCP: ports;
			PROTOCOL_SCTP: ports;
			PROTOCOL_UDPLITE: ports;
			default: accept;
		}
	}

	/* One more than EXTENSIONS is error.StackOutOfBounds. */
	state extension {
		bytes = ((bit<16>)packet.lookahead<bit<16>>()[7:0] << 3) + 8;
		verify(bytes <= room_in_ip, error.IpMalformed);
		packet.extract(headers.extensions.next,
			       (bit<32>)(bytes - 2) << 3);
		room_in_ip = room_in_ip - bytes;
		transition select(headers.extensions.last.next_header) {
			PROTOCOL_HOP_BY_HOP: extension;
			PROTOCOL_ROUTING: extension;
			PROTOCOL_DESTINATION: extension;
			PROTOCOL_UDP: udp;
			PROTOCOL_TCP: ports;
			PROTOCOL_DCCP: ports;
			PROTOCOL_SCTP: ports;
			PROTOCOL_UDPLITE: ports;
			default: accept;
		}
	}

	state udp {
		packet.extract(headers.udp);
		transition select(headers.udp.destination) {
			UDP_PAYLOADS
		}
	}

	state int_headers {
		packet.extract(headers.int_shim);
		packet.extract(headers.int_md);
		verify(headers.int_shim.type == INT_SHIM_MD &&
		       (headers.int_shim.npt == INT_BEHIND_UDP ||
			headers.int_shim.npt == INT_BEFORE_L4) &&
		       headers.int_md.version == INT_VERSION &&
		       headers.int_shim.words >= INT_MD_WORDS &&
		       UDP_BYTES + INT_SHIM_BYTES +
		       ((bit<16>)headers.int_shim.words << 2) <=
		       headers.udp.length &&
		       headers.udp.length <= room_in_ip, error.IntMalformed);
		words = headers.int_shim.words - INT_MD_WORDS;
		hop_words = (bit<8>)headers.int_md.hop_words;
		transition select(headers.int_md.has_node, words) {
			(1, 0): behind_int;
			(1, _): hops;
			default: tail;
		}
	}

	state hops {
		verify(hop_words != 0, error.IntMalformed);
		hop_room = HOPS;
		transition next_hop;
	}

	state next_hop {
		verify(words >= hop_words, error.IntMalformed);
		packet.extract(headers.hop.next,
			       ((bit<32>)hop_words - 1) << 5);
		words = words - hop_words;
		hop_room = hop_room - 1;
		transition select(words, hop_room) {
			(0, _): behind_int;
			(_, 0): more_hops;
			default: next_hop;
		}
	}

	/* Further hops do not fit into a value, but must be complete, too. */
	state more_hops {
		packet.extract(headers.int_tail, (bit<32>)words << 5);
		transition count_hops;
	}

	state count_hops {
		verify(words >= hop_words, error.IntMalformed);
		words = words - hop_words;
		transition select(words) {
			0: behind_int;
			default: count_hops;
		}
	}

	state tail {
		packet.extract(headers.int_tail, (bit<32>)words << 5);
		transition behind_int;
	}

	state behind_int {
		transition select(headers.int_shim.npt,
				  headers.int_shim.original[7:0]) {
			(INT_BEFORE_L4, PROTOCOL_UDP): ports;
			(INT_BEFORE_L4, PROTOCOL_TCP): ports;
			(INT_BEFORE_L4, PROTOCOL_DCCP): ports;
			(INT_BEFORE_L4, PROTOCOL_SCTP): ports;
			(INT_BEFORE_L4, PROTOCOL_UDPLITE): ports;
			default: accept;
		}
	}

	state ports {
		packet.extract(headers.ports);
		transition accept;
	}

	LAST_STATES
}

control DartDeparser(packet_out packet, in headers_t headers)
{
	apply {
		packet.emit(headers);
	}
}

#endif /* DART_V1MODEL_PARSER_P4 */
