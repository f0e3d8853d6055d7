// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ICRC of a report: CRC-32 of IEEE 802.3 over the frame from the IP header
 * on, with ones in place of what changes on the way; its least significant byte
 * is the first on the wire.  What is the same in each report is a constant
 * here: 52 bytes go through the hash engine, which takes 128 in a stage.
 */
#ifndef DART_TNA_ICRC_P4
#define DART_TNA_ICRC_P4

#include "headers.p4"

#define REPORT_BYTES	16w84	/* from the IP header to the end */

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
			REPORT_BYTES, 16w0, 16w0x4000, 8w0xff,
			PROTOCOL_UDP, 16w0xffff, headers.ipv4.source,
			headers.ipv4.destination, headers.udp.source,
			16w4791, /* DART_STORE_UDP_PORT */
			REPORT_BYTES - IPV4_BYTES, 16w0xffff,
			/* opcode; MigReq; partition; FECN, BECN */
			8w0x2a, 8w0x40, 16w0xffff, 8w0xff,
			headers.bth.queue_pair, 8w0, headers.bth.psn,
			headers.reth.address, headers.reth.rkey, 32w24,
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
