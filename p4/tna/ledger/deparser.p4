// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mirrors of ingress, and how egress reads and writes frames.
 *
 * After the loop_h of a frame are always LOOP_FILLER bytes, which no parser reads.  Egress skips them
 * in a frame that becomes a request, so that none follow the request.
 */
#ifndef DART_TNA_LEDGER_DEPARSER_P4
#define DART_TNA_LEDGER_DEPARSER_P4

#include "headers.p4"

#define MIRROR_SUM	3w1
#define MIRROR_ANSWER	3w2

control LedgerIngressDeparser(packet_out packet, inout headers_t headers,
			      in ingress_t metadata,
			      in ingress_intrinsic_metadata_for_deparser_t
				deparser_metadata)
{
	Mirror() mirror;

	apply {
		if (deparser_metadata.mirror_type == MIRROR_SUM)
			mirror.emit<evicted_h>(metadata.session,
				{ LOOP_SUM, metadata.evicted.amount,
				  metadata.evicted.source,
				  metadata.evicted.destination,
				  metadata.evicted.source_port,
				  metadata.evicted.destination_port,
				  metadata.evicted.protocol });
		if (deparser_metadata.mirror_type == MIRROR_ANSWER)
			mirror.emit<loop_h>(metadata.session,
				{ metadata.kind, 0, metadata.number, 0, 0 });
		packet.emit(headers.loop);
		packet.emit(headers.ethernet);
		packet.emit(headers.ipv4);
		packet.emit(headers.ipv4_options);
		packet.emit(headers.ipv6);
		packet.emit(headers.udp);
		packet.emit(headers.int_shim);
		packet.emit(headers.int_md);
		packet.emit(headers.hop);
		packet.emit(headers.ports);
		packet.emit(headers.bth);
		packet.emit(headers.aeth);
	}
}

parser LedgerEgressParser(packet_in packet, out headers_t headers,
			  out egress_t metadata,
			  out egress_intrinsic_metadata_t intrinsic)
{
	state start {
		packet.extract(intrinsic);
		transition select(packet.lookahead<bit<8>>()) {
			LOOP_SUM: sum;
			LOOP_REQUEST: request;
			default: loop;
		}
	}

	state sum {
		packet.extract(headers.sum);
		metadata.key.tail_0 = headers.sum.tail_0;
		metadata.key.tail_1 = headers.sum.tail_1;
		metadata.key.tail_2 = headers.sum.tail_2;
		transition accept;
	}

	state request {
		packet.extract(headers.loop);
		packet.advance(LOOP_FILLER << 3);
		transition accept;
	}

	state loop {
		packet.extract(headers.loop);
		transition accept;
	}
}

control LedgerEgressDeparser(packet_out packet, inout headers_t headers,
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
		packet.emit(headers.atomic_eth);
		packet.emit(headers.icrc);
	}
}

#endif /* DART_TNA_LEDGER_DEPARSER_P4 */
