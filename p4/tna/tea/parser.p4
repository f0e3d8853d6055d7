// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ingress parses packets of UDP and TCP over IPv4, responses to the switch that contain
 * such a packet, and clones of responses.  Unread bytes follow the parsed headers,
 * including the ICRC of a response after its packet.
 */
#ifndef DART_TNA_TEA_PARSER_P4
#define DART_TNA_TEA_PARSER_P4

#include <dart/tea.h>

#include "headers.p4"
#include "tna/rdma/number.p4"

parser TeaIngressParser(packet_in packet, out headers_t headers,
			out ingress_t metadata,
			out ingress_intrinsic_metadata_t intrinsic)
{
	Checksum() ipv4_checksum;
	Checksum() l4_checksum;

	/* The switch's own address. */
	@name(".tea_self")
	value_set<bit<32>>(1) self;

	state start {
		packet.extract(intrinsic);
		packet.advance(PORT_METADATA_SIZE);
		transition select(intrinsic.ingress_port) {
			LOOP_PORT: loop;
			default: ethernet;
		}
	}

	state loop {
		packet.extract(headers.loop);
		transition select(headers.loop.kind) {
			LOOP_AGAIN: ethernet;
			default: accept;
		}
	}

	/* The Ethernet header of a response stays, as header of the packet in it. */
	state ethernet {
		packet.extract(headers.ethernet);
		transition select(headers.ethernet.ethertype,
				  packet.lookahead<bit<8>>()) {
			(ETHERTYPE_IPV4, 0x45): protocol;
			default: accept;
		}
	}

	/* Not a fragment, UDP. */
	state protocol {
		transition select(packet.lookahead<bit<80>>()[29:16],
				  packet.lookahead<bit<80>>()[7:0]) {
			(0, PROTOCOL_UDP): destination;
			default: ipv4;
		}
	}

	state destination {
		transition select(packet.lookahead<bit<160>>()[31:0]) {
			self: port;
			default: ipv4;
		}
	}

	state port {
		transition select(packet.lookahead<bit<192>>()[15:0]) {
			DART_TEA_UDP_PORT: response;
			default: ipv4;
		}
	}

	state response {
		packet.extract(headers.response);
		transition select(headers.response.opcode) {
			RDMA_READ_RESPONSE_ONLY: row;
			default: accept;
		}
	}

	state row {
		packet.extract(headers.row);
		packet.extract(headers.cell_0);
		packet.extract(headers.cell_1);
		packet.extract(headers.cell_2);
		packet.extract(headers.cell_3);
		packet.extract(headers.row_end);
		packet.extract(headers.tag);
		packet.advance(8 * 14);		/* Ethernet */
		transition ipv4;
	}

	state ipv4 {
		packet.extract(headers.ipv4);
		metadata.key.source = headers.ipv4.source;
		metadata.key.destination = headers.ipv4.destination;
		metadata.key.protocol = headers.ipv4.protocol;
		ipv4_checksum.add(headers.ipv4);
		metadata.is_damaged = ipv4_checksum.verify();
		l4_checksum.subtract({ headers.ipv4.source,
				       headers.ipv4.destination });
		transition select(headers.ipv4.version, headers.ipv4.ihl,
				  headers.ipv4.more_fragments,
				  headers.ipv4.offset,
				  headers.ipv4.protocol) {
			(4, 5, 0, 0, PROTOCOL_UDP): udp_length;
			(4, 5, 0, 0, PROTOCOL_TCP): tcp_length;
			default: accept;
		}
	}

	/* Headers of 8 or 20 bytes are valid only inside the IP datagram. */
	state udp_length {
		transition select(headers.ipv4.length) {
			0 &&& 0xfff0: accept;
			16 &&& 0xfff8: accept;
			24 &&& 0xfffc: accept;
			default: udp;
		}
	}

	state tcp_length {
		transition select(headers.ipv4.length) {
			0 &&& 0xffe0: accept;
			32 &&& 0xfff8: accept;
			default: tcp;
		}
	}

	state udp {
		packet.extract(headers.ports);
		metadata.key.source_port = headers.ports.source;
		metadata.key.destination_port = headers.ports.destination;
		packet.extract(headers.udp);
		l4_checksum.subtract({ headers.ports.source,
				       headers.ports.destination,
				       headers.udp.checksum });
		l4_checksum.subtract_all_and_deposit(metadata.l4_rest);
		transition accept;
	}

	state tcp {
		packet.extract(headers.ports);
		metadata.key.source_port = headers.ports.source;
		metadata.key.destination_port = headers.ports.destination;
		packet.extract(headers.tcp);
		l4_checksum.subtract({ headers.ports.source,
				       headers.ports.destination,
				       headers.tcp.checksum });
		l4_checksum.subtract_all_and_deposit(metadata.l4_rest);
		transition accept;
	}
}

control TeaIngressDeparser(packet_out packet, inout headers_t headers,
			   in ingress_t metadata,
			   in ingress_intrinsic_metadata_for_deparser_t
				deparser_metadata)
{
	Mirror() mirror;
	Digest<tea_key_t>() popular;
	Checksum() ipv4_checksum;
	Checksum() udp_checksum;
	Checksum() tcp_checksum;

	apply {
		if (deparser_metadata.mirror_type == MIRROR_RESPONSE)
			mirror.emit<loop_h>(metadata.session,
				{ metadata.loop, metadata.server, 0,
				  metadata.psn, metadata.end });
		if (deparser_metadata.digest_type == DIGEST_POPULAR)
			popular.pack({ headers.ipv4.source,
				       headers.ipv4.destination,
				       headers.ports.source,
				       headers.ports.destination,
				       headers.ipv4.protocol });
		if (metadata.is_changed)
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
		/* Without a change the checksum stays, right or wrong. */
		headers.tcp.checksum = tcp_checksum.update({
			headers.ipv4.source, headers.ipv4.destination,
			headers.ports.source, headers.ports.destination,
			metadata.l4_rest });
		if (metadata.has_udp_checksum)
			headers.udp.checksum = udp_checksum.update({
				headers.ipv4.source, headers.ipv4.destination,
				headers.ports.source,
				headers.ports.destination,
				metadata.l4_rest }, true);
		packet.emit(headers.loop);
		packet.emit(headers.ethernet);
		packet.emit(headers.ipv4);
		packet.emit(headers.ports);
		packet.emit(headers.udp);
		packet.emit(headers.tcp);
	}
}

parser TeaEgressParser(packet_in packet, out headers_t headers,
		       out egress_t metadata,
		       out egress_intrinsic_metadata_t intrinsic)
{
	state start {
		packet.extract(intrinsic);
		packet.extract(headers.loop);
		transition select(headers.loop.kind) {
			LOOP_LOOKUP: packet_headers;
			default: accept;
		}
	}

	state packet_headers {
		packet.extract(headers.ethernet);
		packet.extract(headers.ipv4);
		packet.extract(headers.ports);
		transition accept;
	}
}

control TeaEgressDeparser(packet_out packet, inout headers_t headers,
			  in egress_t metadata,
			  in egress_intrinsic_metadata_for_deparser_t
				deparser_metadata)
{
	Checksum() ipv4_checksum;

	apply {
		headers.rdma_ipv4.checksum = ipv4_checksum.update({
			headers.rdma_ipv4.version, headers.rdma_ipv4.ihl,
			headers.rdma_ipv4.type_of_service,
			headers.rdma_ipv4.length,
			headers.rdma_ipv4.identification,
			headers.rdma_ipv4.reserved,
			headers.rdma_ipv4.dont_fragment,
			headers.rdma_ipv4.more_fragments,
			headers.rdma_ipv4.offset, headers.rdma_ipv4.ttl,
			headers.rdma_ipv4.protocol, headers.rdma_ipv4.source,
			headers.rdma_ipv4.destination });
		packet.emit(headers.loop);
		packet.emit(headers.rdma_ethernet);
		packet.emit(headers.rdma_ipv4);
		packet.emit(headers.rdma_udp);
		packet.emit(headers.bth);
		packet.emit(headers.reth);
		packet.emit(headers.tag);
		packet.emit(headers.icrc);
		packet.emit(headers.ethernet);
		packet.emit(headers.ipv4);
		packet.emit(headers.ports);
	}
}

#endif /* DART_TNA_TEA_PARSER_P4 */
