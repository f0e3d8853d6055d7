// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mirrored packet becomes the WRITE of its report, as <dart/store.h> describes.
 * SlotHash, ChecksumHash, Psn and Icrc are the architecture's.
 */
#ifndef DART_WRITE_P4
#define DART_WRITE_P4

#include <dart/store.h>

#include "headers.p4"
#include "report.p4"

#define BYTES_BEFORE_SLOT	16w36	/* UDP, BTH, RETH */
#define ICRC_BYTES		16w4
#define IPV4_BYTES		16w20
#define ETHERNET_BYTES		32w14
#define VALUE_BYTES		16w20

/* The slot itself; its length without the pad, and the pad's. */
control WriteSlot(inout headers_t headers, in bit<160> value,
		  in bit<64> checksum, in bit<8> checksum_bytes,
		  out bit<16> length, out bit<2> pad)
{
	apply {
		length = VALUE_BYTES + (bit<16>)checksum_bytes;
		pad = 0;
		if (checksum_bytes == 1) {
			headers.slot8.setValid();
			headers.slot8.checksum = checksum[7:0];
			headers.slot8.value = value;
			headers.slot8.pad = 0;
			pad = 3;
		} else if (checksum_bytes == 2) {
			headers.slot16.setValid();
			headers.slot16.checksum = checksum[15:0];
			headers.slot16.value = value;
			headers.slot16.pad = 0;
			pad = 2;
		} else if (checksum_bytes == 4) {
			headers.slot32.setValid();
			headers.slot32.checksum = checksum[31:0];
			headers.slot32.value = value;
		} else {
			headers.slot64.setValid();
			headers.slot64.checksum = checksum;
			headers.slot64.value = value;
		}
	}
}

/* @frame_bytes: of the frame; what the packet had behind that is to be cut. */
control WriteReport(inout headers_t headers, in report_t report,
		    in bit<8> all_copies, in bit<48> source_mac,
		    in bit<32> source, in bit<8> checksum_bytes,
		    out bit<8> redundancy, out bit<32> frame_bytes,
		    out bool written)
{
	RandomCopy() random_copy;
	SlotHash() slot_hash;
	ChecksumHash() checksum_hash;
	Psn() next_psn;
	Icrc() icrc;
	WriteSlot() write_slot;
	bit<64> base = 0;
	bit<32> mask = 0;
	bit<8> copy;
	bit<32> slot;
	bit<64> checksum;
	bit<16> slot_bytes;
	bit<2> pad;

	@name(".dart_send_to")
	action send_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey,
		       bit<64> store_base, bit<32> store_mask,
		       bit<8> copies)
	{
		headers.ethernet.setValid();
		headers.ethernet.destination = mac;
		headers.ethernet.ethertype = ETHERTYPE_IPV4;
		headers.ipv4.setValid();
		headers.ipv4.destination = ip;
		headers.bth.setValid();
		headers.bth.queue_pair = qpn;
		headers.reth.setValid();
		headers.reth.rkey = rkey;
		base = store_base;
		mask = store_mask;
		redundancy = copies;
		written = true;
	}

	@name(".dart_collector")
	table collector {
		key = { report.collector : exact; }
		actions = { send_to; NoAction; }
		default_action = NoAction;
		size = COLLECTOR_ENTRIES;
	}

	apply {
		written = false;
		redundancy = 0;
		frame_bytes = 0;
		collector.apply();
		if (!written)
			return;

		copy = report.copy;
		if (all_copies == 0)
			random_copy.apply(redundancy, copy);
		slot_hash.apply(report, copy, slot);
		slot = slot & mask;
		checksum_hash.apply(report, checksum_bytes, checksum);
		write_slot.apply(headers, report.value, checksum,
				 checksum_bytes, slot_bytes, pad);

		headers.ethernet.source = source_mac;
		headers.udp.setValid();
		headers.udp.source = DART_STORE_UDP_SOURCE_BASE +
				     (bit<16>)report.share;
		headers.udp.destination = DART_STORE_UDP_PORT;
		headers.udp.length = BYTES_BEFORE_SLOT + slot_bytes +
				     (bit<16>)pad + ICRC_BYTES;
		headers.udp.checksum = 0;
		headers.ipv4.version = 4;
		headers.ipv4.ihl = 5;
		headers.ipv4.type_of_service = 0;
		headers.ipv4.length = IPV4_BYTES + headers.udp.length;
		headers.ipv4.identification = 0;
		headers.ipv4.reserved = 0;
		headers.ipv4.dont_fragment = 1;
		headers.ipv4.more_fragments = 0;
		headers.ipv4.offset = 0;
		headers.ipv4.ttl = 64;
		headers.ipv4.protocol = PROTOCOL_UDP;
		headers.ipv4.source = source;
		frame_bytes = ETHERNET_BYTES + (bit<32>)headers.ipv4.length;

		headers.bth.opcode = DART_STORE_BTH_OPCODE;
		headers.bth.solicited = 0;
		headers.bth.migration = 1;
		headers.bth.pad = pad;
		headers.bth.version = 0;
		headers.bth.partition = 0xffff;
		headers.bth.congestion = 0;
		headers.bth.acknowledge = 0;
		next_psn.apply(report.collector, headers.bth.psn);
		headers.reth.address = base +
			((bit<64>)slot << 4) + ((bit<64>)slot << 2);
		if (checksum_bytes == 1)
			headers.reth.address = headers.reth.address +
					       (bit<64>)slot;
		else if (checksum_bytes == 2)
			headers.reth.address = headers.reth.address +
					       ((bit<64>)slot << 1);
		else if (checksum_bytes == 4)
			headers.reth.address = headers.reth.address +
					       ((bit<64>)slot << 2);
		else
			headers.reth.address = headers.reth.address +
					       ((bit<64>)slot << 3);
		headers.reth.length = (bit<32>)slot_bytes;

		headers.ipv6.setInvalid();
		headers.int_shim.setInvalid();
		headers.int_md.setInvalid();
		headers.ports.setInvalid();
		headers.icrc.setValid();
		icrc.apply(headers);
	}
}

#endif /* DART_WRITE_P4 */
