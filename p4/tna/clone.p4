// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ingress mirrors packets, whose clones carry reports, and egress parses the addresses of a clone.
 * The mirror session cuts clones to CLONE_BYTES, the least length of an Ethernet frame, and the
 * parser reads or skips all of these bytes, so that none follow the report.
 */
#ifndef DART_TNA_CLONE_P4
#define DART_TNA_CLONE_P4

#include "headers.p4"

#define CLONE_BYTES		32w56
#define BITS_BEHIND_IPV4	((CLONE_BYTES - 14 - 20) << 3)
#define BITS_BEHIND_IPV6	((CLONE_BYTES - 14 - 40) << 3)

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

#endif /* DART_TNA_CLONE_P4 */
