// SPDX-License-Identifier: GPL-2.0-only
/* Writes the headers of a request of a queue pair that a switch drives. */
#ifndef DART_RDMA_REQUEST_P4
#define DART_RDMA_REQUEST_P4

#include <dart/tea.h>

#include "headers.p4"

/* The server's end of a queue pair. */
struct rdma_peer_t {
	bit<48> mac;
	bit<32> ip;
	bit<24> qpn;
	bit<32> rkey;
}

/* The switch's end. */
struct rdma_self_t {
	bit<48> mac;
	bit<32> ip;
}

/*
 * Writes a request without its ICRC and its payload. @address and @length: of the remote
 * memory, in bytes.  A WRITE carries @length bytes after its RETH, then the pad.  For an
 * atomic operation @length is not used, and the caller makes atomic_eth valid and sets
 * its operands. @frame_bytes: length of the frame, at which the caller cuts the packet.
 */
control RdmaRequest(inout headers_t headers, in rdma_self_t self,
		    in rdma_peer_t peer, in bit<16> source_port,
		    in bit<8> opcode, in bit<24> psn, in bit<8> acknowledge,
		    in bit<64> address, in bit<32> length,
		    out bit<32> frame_bytes)
{
	bit<16> bytes;	/* after the BTH, without the ICRC */
	bit<2> pad;

	apply {
		pad = 0;
		if (opcode == RDMA_FETCH_ADD || opcode == RDMA_COMPARE_SWAP) {
			bytes = RDMA_ATOMIC_ETH_BYTES;
			headers.reth.setInvalid();
			headers.atomic_eth.address = address;
			headers.atomic_eth.rkey = peer.rkey;
		} else {
			bytes = RDMA_RETH_BYTES;
			if (opcode != RDMA_READ_REQUEST) {
				pad = (bit<2>)(0 - length[1:0]);
				bytes = bytes + length[15:0] + (bit<16>)pad;
			}
			headers.atomic_eth.setInvalid();
			headers.reth.setValid();
			headers.reth.address = address;
			headers.reth.rkey = peer.rkey;
			headers.reth.length = length;
		}
		headers.aeth.setInvalid();
		headers.atomic_ack.setInvalid();

		headers.rdma_ethernet.setValid();
		headers.rdma_ethernet.destination = peer.mac;
		headers.rdma_ethernet.source = self.mac;
		headers.rdma_ethernet.ethertype = ETHERTYPE_IPV4;

		headers.rdma_udp.setValid();
		headers.rdma_udp.source = source_port;
		headers.rdma_udp.destination = DART_TEA_UDP_PORT;
		headers.rdma_udp.length = RDMA_UDP_BYTES + RDMA_BTH_BYTES +
					  bytes + RDMA_ICRC_BYTES;
		headers.rdma_udp.checksum = 0;

		headers.rdma_ipv4.setValid();
		headers.rdma_ipv4.version = 4;
		headers.rdma_ipv4.ihl = 5;
		headers.rdma_ipv4.type_of_service = 0;
		headers.rdma_ipv4.length = RDMA_IPV4_BYTES +
					   headers.rdma_udp.length;
		headers.rdma_ipv4.identification = 0;
		headers.rdma_ipv4.reserved = 0;
		headers.rdma_ipv4.dont_fragment = 1;
		headers.rdma_ipv4.more_fragments = 0;
		headers.rdma_ipv4.offset = 0;
		headers.rdma_ipv4.ttl = 64;
		headers.rdma_ipv4.protocol = PROTOCOL_UDP;
		headers.rdma_ipv4.source = self.ip;
		headers.rdma_ipv4.destination = peer.ip;

		headers.bth.setValid();
		headers.bth.opcode = opcode;
		headers.bth.solicited = 0;
		headers.bth.migration = 1;
		headers.bth.pad = pad;
		headers.bth.version = 0;
		headers.bth.partition = 0xffff;
		headers.bth.congestion = 0;
		headers.bth.queue_pair = peer.qpn;
		headers.bth.acknowledge = acknowledge;
		headers.bth.psn = psn;

		headers.pad8.setInvalid();
		headers.pad16.setInvalid();
		headers.pad24.setInvalid();
		if (pad == 1) {
			headers.pad8.setValid();
			headers.pad8.zero = 0;
		} else if (pad == 2) {
			headers.pad16.setValid();
			headers.pad16.zero = 0;
		} else if (pad == 3) {
			headers.pad24.setValid();
			headers.pad24.zero = 0;
		}
		headers.icrc.setValid();
		frame_bytes = RDMA_ETHERNET_BYTES +
			      (bit<32>)headers.rdma_ipv4.length;
	}
}

#endif /* DART_RDMA_REQUEST_P4 */
