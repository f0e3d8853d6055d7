// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ICRC of a report: CRC-32 of IEEE 802.3 over the frame from the IP header
 * on, with ones in place of fields that routers change; least significant byte
 * first.  Fields that are the same in all reports are constants, so 52 bytes go
 * through the hash engine, which takes 128 in a stage.
 */
#ifndef DART_TNA_ICRC_P4
#define DART_TNA_ICRC_P4

#include <dart/store.h>

#include "shared/frame.p4"
#include "constant.p4"
#include "headers.p4"

#define CHECKSUM_BYTES	8w4
#define SLOT_BYTES	16w24
/* From the UDP header to the end. */
#define DATAGRAM_BYTES	(BYTES_BEFORE_SLOT + SLOT_BYTES + ICRC_BYTES)

/* Of a report; journals have longer frames. */
@noWarn("unused")
control Icrc(inout headers_t headers)
{
	Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;
	bit<32> crc;

	action get()
	{
		crc = hash.get({
			/* before the IP header; version, length, TOS */
			64w0xffffffffffffffff, 8w0x45, 8w0xff,
			/* length; identification; DF; TTL */
			IPV4_BYTES + DATAGRAM_BYTES, 16w0, 16w0x4000, 8w0xff,
			PROTOCOL_UDP, 16w0xffff, headers.ipv4.source,
			headers.ipv4.destination, headers.udp.source,
			WIDE(16, DART_STORE_UDP_PORT), DATAGRAM_BYTES, 16w0xffff,
			/* opcode; MigReq; partition; FECN, BECN */
			WIDE(8, DART_STORE_BTH_OPCODE), 8w0x40, 16w0xffff,
			8w0xff, headers.bth.queue_pair, 8w0,
			headers.bth.psn, headers.reth.address,
			headers.reth.rkey, (bit<32>)SLOT_BYTES,
			headers.slot.checksum, headers.value.value });
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

#endif /* DART_TNA_ICRC_P4 */
