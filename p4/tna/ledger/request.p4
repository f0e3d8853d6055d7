// SPDX-License-Identifier: GPL-2.0-only
/* Egress: a sum becomes the requests of its key, and a request becomes its frame. */
#ifndef DART_TNA_LEDGER_REQUEST_P4
#define DART_TNA_LEDGER_REQUEST_P4

#include "shared/rdma/request.p4"
#include "tna/hash.p4"
#include "tna/constant.p4"
#include "headers.p4"

/* IP datagram and UDP datagram: RoCEv2 with BTH, AtomicETH and ICRC. */
#define REQUEST_IPV4_BYTES	16w72
#define REQUEST_UDP_BYTES	16w52

/*
 * A copy of a sum becomes a request to row @row of the ledger, whose first word is @first and whose
 * words are @mask + 1; the total is a row of one word.
 */
control MakeRequest(inout headers_t headers, inout key_t key, in bit<8> row,
		    in bit<32> first, in bit<32> mask)
{
	SlotHash() slot_hash;
	bit<32> slot;

	/* For CRCs of keys: see hash.p4. */
	action invert_first()
	{
		key.w7 = ~headers.sum.source;
	}

	action limit_slot()
	{
		slot = slot & mask;
	}

	action put()
	{
		headers.loop.setValid();
		headers.loop.kind = LOOP_ADD;
		headers.loop.row = row;
		headers.loop.number = 0;
		headers.loop.word = first + slot;
		headers.loop.amount = headers.sum.amount;
		headers.sum.setInvalid();
	}

	apply {
		invert_first();
		slot_hash.apply(key, row, slot);
		limit_slot();
		put();
	}
}

/* base + 8 word */
control WordAddress(in bit<64> base, in bit<32> word, out bit<64> address)
{
	bit<64> offset = 0;

	action multiply()
	{
		offset[63:32] = word >> 29;
		offset[31:0] = word << 3;
	}

	action add()
	{
		address = base + offset;
	}

	apply {
		multiply();
		add();
	}
}

/* As control Icrc, over an AtomicETH: 32 bytes that are not constant. */
control RequestIcrc(inout headers_t headers)
{
	Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;
	bit<32> crc;

	action get()
	{
		crc = hash.get({
			/* before the IP header; version, length, TOS */
			64w0xffffffffffffffff, 8w0x45, 8w0xff,
			/* length; identification; DF; TTL */
			REQUEST_IPV4_BYTES, 16w0, 16w0x4000, 8w0xff,
			PROTOCOL_UDP, 16w0xffff, headers.rdma_ipv4.source,
			headers.rdma_ipv4.destination, headers.rdma_udp.source,
			WIDE(16, DART_STORE_UDP_PORT), REQUEST_UDP_BYTES,
			16w0xffff,
			/* opcode; MigReq; partition; FECN, BECN */
			WIDE(8, DART_LEDGER_BTH_OPCODE), 8w0x40, 16w0xffff,
			8w0xff, headers.bth.queue_pair, RDMA_ACK_REQUEST,
			headers.bth.psn, headers.atomic_eth.address,
			headers.atomic_eth.rkey, 32w0, headers.loop.amount,
			64w0 });
	}

	action put()
	{
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

/* @shift: from the number of a request to its PSN, as in registers. */
control SendRequest(inout headers_t headers, in rdma_self_t self,
		    in rdma_peer_t peer, in bit<16> source_port,
		    in bit<64> base, in bit<32> shift)
{
	WordAddress() word_address;
	RdmaRequest() request;
	RequestIcrc() icrc;
	bit<64> address;
	bit<32> psn;
	bit<32> frame_bytes;

	action add_shift()
	{
		psn = headers.loop.number + shift;
	}

	action put_amount()
	{
		headers.atomic_eth.setValid();
		headers.atomic_eth.swap_or_add[63:32] = 0;
		headers.atomic_eth.swap_or_add[31:0] = headers.loop.amount;
		headers.atomic_eth.compare = 0;
	}

	apply {
		add_shift();
		word_address.apply(base, headers.loop.word, address);
		put_amount();
		request.apply(headers, self, peer, source_port, RDMA_FETCH_ADD,
			      psn[31:8], RDMA_ACK_REQUEST, address, 0,
			      frame_bytes);
		icrc.apply(headers);
		headers.loop.setInvalid();
	}
}

#endif /* DART_TNA_LEDGER_REQUEST_P4 */
