// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ingress parses Ethernet, IP, UDP and the INT-MD that follows.  A truncated packet
 * keeps all its bytes: the unread ones follow the parsed headers.
 *
 * Egress parses the addresses of a clone.  The mirror session cuts clones to
 * CLONE_BYTES, the least length of an Ethernet frame, and the parser reads or skips all
 * of these bytes, so that none follow the report.
 */
#ifndef DART_TNA_PARSER_P4
#define DART_TNA_PARSER_P4

#include "headers.p4"

#define CLONE_BYTES		32w56
#define BITS_BEHIND_IPV4	((CLONE_BYTES - 14 - 20) << 3)
#define BITS_BEHIND_IPV6	((CLONE_BYTES - 14 - 40) << 3)

parser DartIngressParser(packet_in packet, out headers_t headers,
			 out ingress_t metadata,
			 out ingress_intrinsic_metadata_t intrinsic)
{
	Checksum() ipv4_checksum;
	Checksum() udp_checksum;

	state start {
		packet.extract(intrinsic);
		packet.advance(PORT_METADATA_SIZE);
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

control DartIngressDeparser(packet_out packet, inout headers_t headers,
			    in ingress_t metadata,
			    in ingress_intrinsic_metadata_for_deparser_t
				deparser_metadata)
{
	Mirror() mirror;
	Checksum() ipv4_checksum;
	Checksum() udp_checksum;

	apply {
		if (deparser_metadata.mirror_type == MIRROR_REPORT)
			mirror.emit<path_h>(metadata.session,
				{ metadata.report.key,
				  metadata.report.collector,
				  metadata.last, metadata.report.source_port,
				  metadata.report.destination_port,
				  metadata.report.protocol,
				  metadata.report.value });
		if (metadata.checksums.adjust_ipv4)
			headers.ipv4.checksum = ipv4_checksum.update({
				headers.ipv4.version, headers.ipv4.ihl,
				headers.ipv4.type_of_service,
				headers.ipv4.length,
				headers.ipv4.identification,
				headers.ipv4.reserved,
				headers.ipv4.dont_fragment,
				headers.ipv4.more_fragments,
				headers.ipv4.offset, headers.ipv4.ttl,
				headers.ipv4.protocol, headers.ipv4.source,
				headers.ipv4.destination });
		if (metadata.checksums.adjust_udp)
			headers.udp.checksum = udp_checksum.update({
				headers.udp.destination, headers.udp.length,
				metadata.checksums.minus_bytes,
				metadata.checksums.udp_rest }, true);
		packet.emit(headers.measured);
		packet.emit(headers.ethernet);
		packet.emit(headers.ipv4);
		packet.emit(headers.ipv4_options);
		packet.emit(headers.ipv6);
		packet.emit(headers.udp);
		packet.emit(headers.int_shim);
		packet.emit(headers.int_md);
		packet.emit(headers.hop);
		packet.emit(headers.ports);
	}
}

parser DartEgressParser(packet_in packet, out headers_t headers,
			out egress_t metadata,
			out egress_intrinsic_metadata_t intrinsic)
{
	state start {
		packet.extract(intrinsic);
		transition select(packet.lookahead<bit<8>>()) {
			KEY_NONE: measured;
			default: clone;
		}
	}

	state measured {
		packet.extract(headers.measured);
		transition accept;
	}

	state clone {
		packet.extract(headers.clone);
		packet.extract(headers.value);
		metadata.key.tail_0 = headers.clone.tail_0;
		metadata.key.tail_1 = headers.clone.tail_1;
		metadata.key.tail_2 = headers.clone.tail_2;
		packet.extract(headers.ethernet);
		transition select(headers.clone.key) {
			KEY_IPV4: ipv4_path;
			KEY_IPV6: ipv6_path;
			KEY_IPV4_HOP: ipv4_hop;
			default: ipv6_hop;
		}
	}

	/* The destination is in the tail. */
	state ipv4_path {
		packet.extract(headers.ipv4);
		metadata.key.w7 = headers.ipv4.source;
		packet.advance(BITS_BEHIND_IPV4);
		transition accept;
	}

	state ipv4_hop {
		packet.extract(headers.ipv4);
		metadata.key.w6 = headers.ipv4.source;
		metadata.key.w7 = headers.ipv4.destination;
		packet.advance(BITS_BEHIND_IPV4);
		transition accept;
	}

	/* The end of the destination is in the tail. */
	state ipv6_path {
		packet.extract(headers.ipv6_words);
		metadata.key.w1 = headers.ipv6_words.source_0;
		metadata.key.w2 = headers.ipv6_words.source_1;
		metadata.key.w3 = headers.ipv6_words.source_2;
		metadata.key.w4 = headers.ipv6_words.source_3;
		metadata.key.w5 = headers.ipv6_words.destination_0;
		metadata.key.w6 = headers.ipv6_words.destination_1;
		metadata.key.w7 = headers.ipv6_words.destination_2;
		packet.advance(BITS_BEHIND_IPV6);
		transition accept;
	}

	state ipv6_hop {
		packet.extract(headers.ipv6_words);
		metadata.key.w0 = headers.ipv6_words.source_0;
		metadata.key.w1 = headers.ipv6_words.source_1;
		metadata.key.w2 = headers.ipv6_words.source_2;
		metadata.key.w3 = headers.ipv6_words.source_3;
		metadata.key.w4 = headers.ipv6_words.destination_0;
		metadata.key.w5 = headers.ipv6_words.destination_1;
		metadata.key.w6 = headers.ipv6_words.destination_2;
		metadata.key.w7 = headers.ipv6_words.destination_3;
		packet.advance(BITS_BEHIND_IPV6);
		transition accept;
	}
}

/* Deparses reports; journal.p4 deparses appended entries. */
@noWarn("unused")
control DartEgressDeparser(packet_out packet, inout headers_t headers,
			   in egress_t metadata,
			   in egress_intrinsic_metadata_for_deparser_t
				deparser_metadata)
{
	Mirror(MIRROR_REPORT) mirror;
	Checksum() ipv4_checksum;

	apply {
		if (deparser_metadata.mirror_type == MIRROR_REPORT)
			mirror.emit<postcard_h>(metadata.session,
				{ headers.measured.key,
				  headers.measured.collector,
				  headers.measured.source_port,
				  headers.measured.destination_port,
				  headers.measured.protocol,
				  headers.measured.node,
				  headers.measured.ingress_port,
				  metadata.egress_port, metadata.latency,
				  metadata.queue, metadata.time });
		if (metadata.is_report)
			headers.ipv4.checksum = ipv4_checksum.update({
				headers.ipv4.version, headers.ipv4.ihl,
				headers.ipv4.type_of_service,
				headers.ipv4.length,
				headers.ipv4.identification,
				headers.ipv4.reserved,
				headers.ipv4.dont_fragment,
				headers.ipv4.more_fragments,
				headers.ipv4.offset, headers.ipv4.ttl,
				headers.ipv4.protocol, headers.ipv4.source,
				headers.ipv4.destination });
		packet.emit(headers.ethernet);
		packet.emit(headers.ipv4);
		packet.emit(headers.udp);
		packet.emit(headers.bth);
		packet.emit(headers.reth);
		packet.emit(headers.slot);
		packet.emit(headers.value);
		packet.emit(headers.icrc);
	}
}

#endif /* DART_TNA_PARSER_P4 */
