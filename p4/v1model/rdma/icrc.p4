// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ICRC of requests and responses: CRC-32 of IEEE 802.3 over the frame from the IP
 * header on, with ones in place of fields that routers change; least significant byte
 * first.
 */
#ifndef DART_V1MODEL_RDMA_ICRC_P4
#define DART_V1MODEL_RDMA_ICRC_P4

/* The CRC of any bytes followed by their CRC. */
#define RDMA_RESIDUE	0x2144df1c

#define RDMA_UP_TO_BTH(h)						\
	64w0xffffffffffffffff, h.rdma_ipv4.version, h.rdma_ipv4.ihl,	\
	8w0xff, h.rdma_ipv4.length, h.rdma_ipv4.identification,		\
	h.rdma_ipv4.reserved, h.rdma_ipv4.dont_fragment,		\
	h.rdma_ipv4.more_fragments, h.rdma_ipv4.offset, 8w0xff,		\
	h.rdma_ipv4.protocol, 16w0xffff, h.rdma_ipv4.source,		\
	h.rdma_ipv4.destination, h.rdma_udp.source,			\
	h.rdma_udp.destination, h.rdma_udp.length, 16w0xffff,		\
	h.bth.opcode, h.bth.solicited, h.bth.migration, h.bth.pad,	\
	h.bth.version, h.bth.partition, 8w0xff, h.bth.queue_pair,	\
	h.bth.acknowledge, h.bth.psn

/*
 * Fills headers.icrc.  The other arguments: all headers that can follow the BTH in a
 * request; invalid headers add nothing.
 */
#define RDMA_SET_ICRC(headers, crc, ...)				\
	hash(crc, HashAlgorithm.crc32, 64w0,				\
	     { RDMA_UP_TO_BTH(headers), __VA_ARGS__, headers.pad8,	\
	       headers.pad16, headers.pad24 }, 64w0x100000000);		\
	headers.icrc.icrc = crc[7:0] ++ crc[15:8] ++ crc[23:16] ++	\
			    crc[31:24]

/*
 * Checks the ICRC of a response over all unparsed bytes. @residue: a variable with
 * RDMA_RESIDUE; simple_switch exits if it is a constant.
 */
#define RDMA_CHECK_ICRC(headers, residue, ...)				\
	verify_checksum_with_payload(headers.bth.isValid(),		\
		{ RDMA_UP_TO_BTH(headers), __VA_ARGS__ }, residue,	\
		HashAlgorithm.crc32)

/* Computes the checksum of the IPv4 header of a request; responses need no new checksum. */
#define RDMA_UPDATE_IPV4(headers)					\
	update_checksum(headers.icrc.isValid(),			\
		{ headers.rdma_ipv4.version, headers.rdma_ipv4.ihl,	\
		  headers.rdma_ipv4.type_of_service,			\
		  headers.rdma_ipv4.length,				\
		  headers.rdma_ipv4.identification,			\
		  headers.rdma_ipv4.reserved,				\
		  headers.rdma_ipv4.dont_fragment,			\
		  headers.rdma_ipv4.more_fragments,			\
		  headers.rdma_ipv4.offset, headers.rdma_ipv4.ttl,	\
		  headers.rdma_ipv4.protocol, headers.rdma_ipv4.source,	\
		  headers.rdma_ipv4.destination },			\
		headers.rdma_ipv4.checksum, HashAlgorithm.csum16)

#endif /* DART_V1MODEL_RDMA_ICRC_P4 */
