// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checksums of a report, a probe or an answer.  The ICRC is CRC-32 of IEEE 802.3 over the frame
 * from the IP header on, with ones in place of fields that routers change; least significant byte
 * first.
 */
#ifndef DART_V1MODEL_ICRC_P4
#define DART_V1MODEL_ICRC_P4

#include "headers.p4"

#define UP_TO_BTH(h)							\
	64w0xffffffffffffffff, h.ipv4.version, h.ipv4.ihl, 8w0xff,	\
	h.ipv4.length, h.ipv4.identification, h.ipv4.reserved,		\
	h.ipv4.dont_fragment, h.ipv4.more_fragments, h.ipv4.offset,	\
	8w0xff, h.ipv4.protocol, 16w0xffff, h.ipv4.source,		\
	h.ipv4.destination, h.udp.source, h.udp.destination,		\
	h.udp.length, 16w0xffff, h.bth.opcode, h.bth.solicited,		\
	h.bth.migration, h.bth.pad, h.bth.version, h.bth.partition,	\
	8w0xff, h.bth.queue_pair, h.bth.acknowledge, h.bth.psn

#define BEFORE_SLOT(h)							\
	UP_TO_BTH(h),							\
	h.reth.address, h.reth.rkey, h.reth.length

/* The CRC of any bytes followed by their CRC. */
#define ICRC_RESIDUE	0x2144df1c

#define ICRC_OF(field, ...)						\
	hash(field, HashAlgorithm.crc32, 64w0, { __VA_ARGS__ },		\
	     64w0x100000000)

/* Computes the checksum of the IPv4 header of a report; other packets need no new checksum. */
#define UPDATE_REPORT(h)						\
	update_checksum(h.icrc.isValid(),				\
		{ h.ipv4.version, h.ipv4.ihl, h.ipv4.type_of_service,	\
		  h.ipv4.length, h.ipv4.identification,			\
		  h.ipv4.reserved, h.ipv4.dont_fragment,		\
		  h.ipv4.more_fragments, h.ipv4.offset, h.ipv4.ttl,	\
		  h.ipv4.protocol, h.ipv4.source,			\
		  h.ipv4.destination },					\
		h.ipv4.checksum, HashAlgorithm.csum16);

#endif /* DART_V1MODEL_ICRC_P4 */
