// SPDX-License-Identifier: GPL-2.0-only
/* Writes the fields that are the same in all reports, around the slot. */
#ifndef DART_FRAME_P4
#define DART_FRAME_P4

#include <dart/store.h>

#include "headers.p4"

#define BYTES_BEFORE_SLOT	16w36	/* UDP, BTH, RETH */
#define ICRC_BYTES		16w4
#define IPV4_BYTES		16w20

/* @slot_bytes: without the pad. */
control WriteFrame(inout headers_t headers, in bit<48> source_mac,
		   in bit<32> source, in bit<16> source_port,
		   in bit<16> slot_bytes, in bit<2> pad)
{
	apply {
		headers.ethernet.setValid();
		headers.ethernet.source = source_mac;
		headers.ethernet.ethertype = ETHERTYPE_IPV4;

		headers.udp.setValid();
		headers.udp.source = source_port;
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

		headers.bth.opcode = DART_STORE_BTH_OPCODE;
		headers.bth.solicited = 0;
		headers.bth.migration = 1;
		headers.bth.pad = pad;
		headers.bth.version = 0;
		headers.bth.partition = 0xffff;
		headers.bth.congestion = 0;
		headers.bth.acknowledge = 0;
		headers.reth.length = (bit<32>)slot_bytes;
		headers.icrc.setValid();
	}
}

#endif /* DART_FRAME_P4 */
