// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turns a mirrored packet into the WRITE of its report, as <dart/store.h> describes.
 * The architecture defines ChooseCopy, SlotHash, ChecksumHash, NextPsn and Icrc.
 */
#ifndef DART_WRITE_P4
#define DART_WRITE_P4

#include "collector.p4"
#include "frame.p4"
#include "headers.p4"
#include "rdma/headers.p4"
#include "report.p4"

#define ETHERNET_BYTES		32w14
#define VALUE_BYTES		16w20

/* Writes the slot; @length is without the pad. */
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

/* Removes the slot of the last copy from a packet that becomes a probe. */
control RemoveSlot(inout headers_t headers)
{
	apply {
		headers.slot8.setInvalid();
		headers.slot16.setInvalid();
		headers.slot32.setInvalid();
		headers.slot64.setInvalid();
	}
}

/*
 * @all_copies: 1 if the report goes to all slots of its key, 0 if to one of them. @is_reliable: the
 * connection of the collector is. @frame_bytes: length of the frame, at which the
 * caller cuts the packet. @is_probe: it is a probe, and the report still has to be written.
 */
control WriteReport(inout headers_t headers, in report_t report,
		    inout bit<8> all_copies, in bit<48> source_mac,
		    in bit<32> source, in bit<8> checksum_bytes,
		    in bool is_reliable, in bit<48> now,
		    out bit<8> redundancy, out bit<32> frame_bytes,
		    out bool is_probe, out bool written)
{
	ChooseCopy() choose_copy;
	SlotHash() slot_hash;
	ChecksumHash() checksum_hash;
	NextPsn() next_psn;
	Icrc() icrc;
	FindCollector() find_collector;
	WriteSlot() write_slot;
	RemoveSlot() remove_slot;
	WriteFrame() write_frame;
	collector_t collector;
	bit<8> copy;
	bit<32> slot;
	bit<64> checksum;
	bit<16> slot_bytes;
	bit<16> source_port;
	bit<24> psn;
	bit<2> pad;
	bool is_lost;

	apply {
		written = false;
		is_probe = false;
		frame_bytes = 0;
		find_collector.apply(headers, report.collector, collector);
		redundancy = collector.redundancy;
		if (redundancy == 0)
			return;
		next_psn.apply(report.collector, is_reliable, now, psn,
			       is_probe, is_lost);
		if (is_lost)
			return;

		choose_copy.apply(report, redundancy, all_copies, copy);
		slot_hash.apply(report, copy, slot);
		slot = slot & collector.mask;
		checksum_hash.apply(report, checksum_bytes, checksum);
		if (is_probe) {
			remove_slot.apply(headers);
			slot = 0;
			slot_bytes = 0;
			pad = 0;
		} else {
			write_slot.apply(headers, report.value, checksum,
					 checksum_bytes, slot_bytes, pad);
		}

		source_port = (bit<16>)report.share;
		if (is_reliable)
			source_port = (bit<16>)headers.bth.queue_pair[9:0];
		write_frame.apply(headers, source_mac, source,
				  DART_STORE_UDP_SOURCE_BASE + source_port,
				  slot_bytes, pad);
		if (is_reliable)
			headers.bth.opcode = DART_STORE_BTH_RELIABLE;
		if (is_probe)
			headers.bth.acknowledge = RDMA_ACK_REQUEST;
		frame_bytes = ETHERNET_BYTES + (bit<32>)headers.ipv4.length;
		headers.bth.psn = psn;
		headers.reth.address = collector.base +
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

		headers.ipv6.setInvalid();
		headers.int_shim.setInvalid();
		headers.int_md.setInvalid();
		headers.ports.setInvalid();
		icrc.apply(headers);
		written = true;
	}
}

#endif /* DART_WRITE_P4 */
