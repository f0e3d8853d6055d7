// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ingress parses Ethernet, IP, UDP and the INT-MD that follows.  A truncated packet
 * keeps all its bytes: the unread ones follow the parsed headers.
 */
#ifndef DART_TNA_PARSER_P4
#define DART_TNA_PARSER_P4

#include "headers.p4"

/* States of frames that a program takes itself: its first state, and others by UDP port. */
#ifndef FIRST_STATE
#define FIRST_STATE	ethernet
#define STATES_OF_PROGRAM	/* and value sets, which precede states */
#define PORTS_OF_PROGRAM
#endif

parser DartIngressParser(packet_in packet, out headers_t headers,
			 out ingress_t metadata,
			 out ingress_intrinsic_metadata_t intrinsic)
{
	Checksum() ipv4_checksum;
	Checksum() udp_checksum;

	STATES_OF_PROGRAM

	state start {
		packet.extract(intrinsic);
		packet.advance(PORT_METADATA_SIZE);
		transition FIRST_STATE;
	}

	state ethernet {
		packet.extract(headers.ethernet);
		transition select(headers.ethernet.ethertype) {
			ETHERTYPE_IPV4: ipv4;
			ETHERTYPE_IPV6: ipv6;
			default: accept;
		}
	}

	state ipv4 {
		packet.extract(headers.ipv4);
		ipv4_checksum.add(headers.ipv4);
		transition select(headers.ipv4.version, headers.ipv4.ihl,
				  headers.ipv4.length) {
			(4, _, 0 &&& 0xfff0): accept; /* below 20 */
			(4, _, 16 &&& 0xfffc): accept;
			(4, 5, _): ipv4_checksum_known;
			(4, 6 &&& 14, _): ipv4_options;
			(4, 8 &&& 8, _): ipv4_options;
			default: accept;
		}
	}

	state ipv4_checksum_known {
		metadata.checksums.is_wrong = ipv4_checksum.verify();
		transition ipv4_payload;
	}

	state ipv4_options {
		packet.extract(headers.ipv4_options,
			       ((bit<32>)headers.ipv4.ihl << 5) - 160);
		metadata.checksums.is_wrong = true;
		transition ipv4_payload;
	}

	/* Only the first fragment has ports, and INT may continue in the next fragment. */
	state ipv4_payload {
		metadata.is_flow = true;
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
		transition select(headers.ipv6.version) {
			6: ipv6_payload;
			default: accept;
		}
	}

	state ipv6_payload {
		metadata.is_flow = true;
		transition select(headers.ipv6.next_header) {
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
		udp_checksum.subtract({ headers.udp.destination,
					headers.udp.length,
					headers.udp.checksum });
		transition select(headers.udp.destination) {
			INT_PORT: int_headers;
			PORTS_OF_PROGRAM
			default: accept;
		}
	}

	state int_headers {
		packet.extract(headers.int_shim);
		packet.extract(headers.int_md);
		udp_checksum.subtract(headers.int_shim);
		udp_checksum.subtract(headers.int_md);
		/* ReadShape checks later whether these words are node IDs. */
		transition select(headers.int_shim.words) {
			3: behind_int;
			4: hops_1;
			5: hops_2;
			6: hops_3;
			7: hops_4;
			8: hops_5;
			default: accept;
		}
	}

	state hops_1 {
		packet.extract(headers.hop[0]);
		udp_checksum.subtract({ headers.hop[0].node });
		transition behind_int;
	}

	state hops_2 {
		packet.extract(headers.hop[0]);
		packet.extract(headers.hop[1]);
		udp_checksum.subtract({ headers.hop[0].node,
					headers.hop[1].node });
		transition behind_int;
	}

	state hops_3 {
		packet.extract(headers.hop[0]);
		packet.extract(headers.hop[1]);
		packet.extract(headers.hop[2]);
		udp_checksum.subtract({ headers.hop[0].node,
					headers.hop[1].node,
					headers.hop[2].node });
		transition behind_int;
	}

	state hops_4 {
		packet.extract(headers.hop[0]);
		packet.extract(headers.hop[1]);
		packet.extract(headers.hop[2]);
		packet.extract(headers.hop[3]);
		udp_checksum.subtract({ headers.hop[0].node,
					headers.hop[1].node,
					headers.hop[2].node,
					headers.hop[3].node });
		transition behind_int;
	}

	state hops_5 {
		packet.extract(headers.hop[0]);
		packet.extract(headers.hop[1]);
		packet.extract(headers.hop[2]);
		packet.extract(headers.hop[3]);
		packet.extract(headers.hop[4]);
		udp_checksum.subtract({ headers.hop[0].node,
					headers.hop[1].node,
					headers.hop[2].node,
					headers.hop[3].node,
					headers.hop[4].node });
		transition behind_int;
	}

	state behind_int {
		udp_checksum.subtract_all_and_deposit(
			metadata.checksums.udp_rest);
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
}

#endif /* DART_TNA_PARSER_P4 */
