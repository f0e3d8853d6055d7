// SPDX-License-Identifier: GPL-2.0-only
/*
 * Egress: a copy of a packet becomes the WRITE or the READ of its lookup.  Tofino can neither
 * append bytes to the unparsed bytes of a packet nor compute a CRC of them.  So bytes that
 * followed the IP datagram serve as pad and ICRC of a WRITE, with wrong values, and the rest
 * of the packet follows the READ, after the end of its datagram.
 */
#ifndef DART_TNA_TEA_REQUEST_P4
#define DART_TNA_TEA_REQUEST_P4

#include <dart/tea.h>

#include "hash.p4"
#include "headers.p4"
#include "tna/constant.p4"

#define COPY_WRITE	16w1	/* replication ID; the other copy becomes the READ */

#define READ_UDP_BYTES	16w40	/* UDP, BTH, RETH, ICRC */
#define READ_IPV4_BYTES	16w60

/* Lengths of the IP datagram of a WRITE: the packet, and the bytes around it. */
#define ETHERNET_BYTES	16w14
#define WRITE_UDP_BYTES	(READ_UDP_BYTES + DART_TEA_TAG_LENGTH + ETHERNET_BYTES)

struct rdma_peer_t {
	bit<48> mac;
	bit<32> ip;
	bit<24> qpn;
	bit<32> rkey;
	bit<64> base;
	bit<32> mask;
	bit<8> row_log2;
	bit<24> epoch;
}

/* base + (row << row_log2), to which a row's offsets can be added as bits. */
control TeaRowAddress(in bit<64> base, in bit<32> row, in bit<8> row_log2,
		      out bit<64> address)
{
	bit<64> offset;

	action shift_9()
	{
		offset[63:32] = row >> 23;
		offset[31:0] = row << 9;
	}

	action shift_10()
	{
		offset[63:32] = row >> 22;
		offset[31:0] = row << 10;
	}

	action shift_11()
	{
		offset[63:32] = row >> 21;
		offset[31:0] = row << 11;
	}

	action shift_12()
	{
		offset[63:32] = row >> 20;
		offset[31:0] = row << 12;
	}

	table shifts {
		key = { row_log2 : exact; }
		actions = { shift_9; shift_10; shift_11; shift_12; }
		const entries = {
			9 : shift_9();
			10 : shift_10();
			11 : shift_11();
			12 : shift_12();
		}
		size = 4;
	}

	action add()
	{
		address = base + offset;
	}

	apply {
		offset = 0;
		shifts.apply();
		add();
	}
}

/* The ICRC of a READ. */
control TeaReadIcrc(inout headers_t headers)
{
	Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;
	bit<32> crc;

	action get()
	{
		crc = hash.get({
			/* before the IP header; version, length, TOS */
			64w0xffffffffffffffff, 8w0x45, 8w0xff,
			/* length; identification; DF; TTL */
			READ_IPV4_BYTES, 16w0, 16w0x4000, 8w0xff,
			PROTOCOL_UDP, 16w0xffff, headers.rdma_ipv4.source,
			headers.rdma_ipv4.destination,
			WIDE(16, DART_TEA_UDP_SOURCE),
			WIDE(16, DART_TEA_UDP_PORT), READ_UDP_BYTES, 16w0xffff,
			/* opcode; MigReq; partition; FECN, BECN */
			RDMA_READ_REQUEST, 8w0x40, 16w0xffff, 8w0xff,
			headers.bth.queue_pair, headers.bth.psn,
			headers.reth.address, headers.reth.rkey,
			16w0, headers.reth.length });
	}

	action put()
	{
		headers.icrc.setValid();
		headers.icrc.icrc[31:24] = crc[7:0];
		headers.icrc.icrc[23:16] = crc[15:8];
		headers.icrc.icrc[15:8] = crc[23:16];
		headers.icrc.icrc[7:0] = crc[31:24];
	}

	apply {
		get();
		put();
	}
}

/* @self_mac, @self_ip: the switch's.  @read: this copy becomes the READ. */
control TeaRequest(inout headers_t headers, in bit<48> self_mac,
		   in bit<32> self_ip, in rdma_peer_t peer, in bool read)
{
	TeaTagHash() tag_hash;
	TeaRowAddress() row_address;
	TeaReadIcrc() read_icrc;
	bit<32> row;
	bit<16> bytes;		/* of the IP datagram in the packet */
	bit<32> check;		/* hash of the tag */

	action frame()
	{
		headers.rdma_ethernet.setValid();
		headers.rdma_ethernet.destination = peer.mac;
		headers.rdma_ethernet.source = self_mac;
		headers.rdma_ethernet.ethertype = ETHERTYPE_IPV4;

		headers.rdma_ipv4.setValid();
		headers.rdma_ipv4.version = 4;
		headers.rdma_ipv4.ihl = 5;
		headers.rdma_ipv4.type_of_service = 0;
		headers.rdma_ipv4.identification = 0;
		headers.rdma_ipv4.reserved = 0;
		headers.rdma_ipv4.dont_fragment = 1;
		headers.rdma_ipv4.more_fragments = 0;
		headers.rdma_ipv4.offset = 0;
		headers.rdma_ipv4.ttl = 64;
		headers.rdma_ipv4.protocol = PROTOCOL_UDP;
		headers.rdma_ipv4.source = self_ip;
		headers.rdma_ipv4.destination = peer.ip;

		headers.rdma_udp.setValid();
		headers.rdma_udp.source = DART_TEA_UDP_SOURCE;
		headers.rdma_udp.destination = DART_TEA_UDP_PORT;
		headers.rdma_udp.checksum = 0;

		headers.bth.setValid();
		headers.bth.solicited = 0;
		headers.bth.migration = 1;
		headers.bth.version = 0;
		headers.bth.partition = 0xffff;
		headers.bth.congestion = 0;
		headers.bth.queue_pair = peer.qpn;

		headers.reth.setValid();
		headers.reth.rkey = peer.rkey;
		headers.reth.no_length = 0;
	}

	/* Lengths of a WRITE, with its pad. */
	action write(bit<2> pad, bit<16> pad_bytes)
	{
		headers.bth.opcode = RDMA_WRITE_ONLY;
		headers.bth.pad = pad;
		headers.rdma_udp.length = bytes + pad_bytes;
		headers.reth.length = bytes + (DART_TEA_TAG_LENGTH + 14);
	}

	/* By the lowest bits of the length; the Ethernet header has 14 bytes. */
	table writes {
		key = { bytes : ternary; }
		actions = { write; }
		const entries = {
			0 &&& 3 : write(2, WRITE_UDP_BYTES + 2);
			1 &&& 3 : write(1, WRITE_UDP_BYTES + 1);
			2 &&& 3 : write(0, WRITE_UDP_BYTES);
			3 &&& 3 : write(3, WRITE_UDP_BYTES + 3);
		}
		size = 4;
	}

	action write_rest()
	{
		headers.rdma_ipv4.length = headers.rdma_udp.length + 20;
		headers.reth.address[11:0] = headers.reth.address[11:0] |
					     TEA_ROW_BYTES;
	}

	action next_psn()
	{
		headers.loop.psn = headers.loop.psn + PSN(1);
	}

	action put_psn()
	{
		headers.bth.psn = headers.loop.psn >> 8;
	}

	action put_tag()
	{
		headers.tag.setValid();
		headers.tag.psn = headers.loop.psn >> 8;
		headers.tag.length = bytes + ETHERNET_BYTES;
		headers.tag.sending = headers.loop.sending;
	}

	action read_row()
	{
		headers.bth.opcode = RDMA_READ_REQUEST;
		headers.bth.pad = 0;
		headers.rdma_udp.length = READ_UDP_BYTES;
		headers.rdma_ipv4.length = READ_IPV4_BYTES;
		headers.reth.length = bytes + (TEA_ROW_BYTES +
			DART_TEA_TAG_LENGTH + 14);
		headers.ethernet.setInvalid();
		headers.ipv4.setInvalid();
		headers.ports.setInvalid();
	}

	apply {
		bytes = headers.ipv4.length;
		frame();
		if (read)
			next_psn();
		put_psn();
		row = headers.loop.word & peer.mask;
		row_address.apply(peer.base, row, peer.row_log2,
				  headers.reth.address);
		if (read) {
			read_row();
			read_icrc.apply(headers);
		} else {
			put_tag();
			/*
			 * Not written into the header itself, because the hash reads a copy of it.
			 */
			tag_hash.apply(headers, peer.epoch, check);
			headers.tag.check = check;
			writes.apply();
			write_rest();
		}
		headers.loop.setInvalid();
	}
}

#endif /* DART_TNA_TEA_REQUEST_P4 */
