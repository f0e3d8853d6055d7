// SPDX-License-Identifier: GPL-2.0-only
/* The two CRCs of the WRITE of a batch, and the end of its frame. */
#ifndef DART_TNA_JOURNAL_WRITE_P4
#define DART_TNA_JOURNAL_WRITE_P4

#include "shared/frame.p4"
#include "tna/headers.p4"
#include "tna/icrc.p4"

#define BATCH_DATAGRAM_BYTES	(BYTES_BEFORE_SLOT + JOURNAL_BATCH + ICRC_BYTES)

#define WHOLE_BATCH(h)							\
	h.batch.sequence, h.batch.start, h.batch.count, JOURNAL_ENTRY,	\
	WHOLE_ENTRY(h.former), WHOLE_ENTRY(h.latter), 240w0

control BatchCrc(inout headers_t headers)
{
	Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;

	action get()
	{
		headers.batch_crc.crc = hash.get({ WHOLE_BATCH(headers) });
	}

	apply {
		get();
	}
}

/*
 * As control Icrc, over another payload: 125 bytes that are not constant, of the 128 that the hash
 * engine takes in a stage.
 */
control BatchIcrc(inout headers_t headers)
{
	Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;
	bit<32> crc;

	action get()
	{
		crc = hash.get({
			/* before the IP header; version, length, TOS */
			64w0xffffffffffffffff, 8w0x45, 8w0xff,
			/* length; identification; DF; TTL */
			IPV4_BYTES + BATCH_DATAGRAM_BYTES, 16w0, 16w0x4000,
			8w0xff, PROTOCOL_UDP, 16w0xffff, headers.ipv4.source,
			headers.ipv4.destination, headers.udp.source,
			WIDE(16, DART_STORE_UDP_PORT), BATCH_DATAGRAM_BYTES,
			16w0xffff,
			/* opcode; MigReq; partition; FECN, BECN */
			WIDE(8, DART_STORE_BTH_OPCODE), 8w0x40, 16w0xffff,
			8w0xff, headers.bth.queue_pair, 8w0,
			headers.bth.psn, headers.reth.address,
			headers.reth.rkey, (bit<32>)JOURNAL_BATCH,
			WHOLE_BATCH(headers), headers.batch_crc.crc });
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

control JournalEgressDeparser(packet_out packet, inout headers_t headers,
			      in egress_t metadata,
			      in egress_intrinsic_metadata_for_deparser_t
				deparser_metadata)
{
	Checksum() ipv4_checksum;

	apply {
		if (metadata.is_report)
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
		packet.emit(headers.ethernet);
		packet.emit(headers.ipv4);
		packet.emit(headers.udp);
		packet.emit(headers.bth);
		packet.emit(headers.reth);
		packet.emit(headers.batch);
		packet.emit(headers.former);
		packet.emit(headers.latter);
		packet.emit(headers.zeros);
		packet.emit(headers.batch_crc);
		packet.emit(headers.icrc);
	}
}

#endif /* DART_TNA_JOURNAL_WRITE_P4 */
