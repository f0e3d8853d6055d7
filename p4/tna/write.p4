// SPDX-License-Identifier: GPL-2.0-only
/* Turns a clone into the WRITE of its report, as <dart/store.h> describes. */
#ifndef DART_TNA_WRITE_P4
#define DART_TNA_WRITE_P4

#include "shared/collector.p4"
#include "shared/frame.p4"
#include "hash.p4"
#include "headers.p4"
#include "icrc.p4"
#include "state.p4"

/* For slots of 24 bytes.  A stage adds once, so three terms take two stages. */
control SlotAddress(in bit<64> base, in bit<32> slot, out bit<64> address)
{
	bit<64> times_16 = 0;
	bit<64> times_8 = 0;

	action multiply()
	{
		times_16[63:32] = slot >> 28;
		times_16[31:0] = slot << 4;
		times_8[63:32] = slot >> 29;
		times_8[31:0] = slot << 3;
	}

	action add_16()
	{
		address = base + times_16;
	}

	action add_8()
	{
		address = address + times_8;
	}

	apply {
		multiply();
		add_16();
		add_8();
	}
}

/* @replica: the number of the copy, if the mirror session makes all copies. */
control WriteReport(inout headers_t headers, inout key_t key,
		    in reporter_t reporter, in bit<8> replica,
		    out bool written)
{
	FindCollector() find_collector;
	InvertFirst() invert_first;
	ChooseCopy() choose_copy;
	SourcePort() source_port_of;
	SlotHash() slot_hash;
	ChecksumHash() checksum_hash;
	SlotAddress() slot_address;
	WriteFrame() write_frame;
	Psn() next_psn;
	Icrc() icrc;
	collector_t collector;
	bit<16> source_port;
	bit<8> copy;
	bit<32> slot;

	apply {
		written = false;
		find_collector.apply(headers, headers.clone.collector,
				     collector);
		invert_first.apply(headers.clone.key, key);
		if (collector.redundancy != 0 &&
		    reporter.checksum_bytes == CHECKSUM_BYTES) {
			choose_copy.apply(reporter.all_copies,
					  collector.redundancy, replica, copy);
			source_port_of.apply(key, source_port);
			write_frame.apply(headers, reporter.mac, reporter.ip,
					  source_port, SLOT_BYTES, 0);
			headers.slot.setValid();
			checksum_hash.apply(key, headers.slot.checksum);
			if (copy != NO_COPY) {
				next_psn.apply(headers.clone.collector,
					       headers.bth.psn);
				written = true;
			}
			slot_hash.apply(key, copy, slot);
			slot = slot & collector.mask;
			slot_address.apply(collector.base, slot,
					   headers.reth.address);
			icrc.apply(headers);
		}
	}
}

#endif /* DART_TNA_WRITE_P4 */
