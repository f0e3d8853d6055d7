// SPDX-License-Identifier: GPL-2.0-only
/*
 * All headers of a switch with lookup tables, in the order of the wire: a request or
 * response, with a row, around a packet.  Before the packet leaves, either part becomes
 * invalid.
 */
#ifndef DART_V1MODEL_TEA_HEADERS_P4
#define DART_V1MODEL_TEA_HEADERS_P4

#include "shared/tea/headers.p4"
#include "shared/tea/use.p4"

#define TEA_FRAME_MAX	4096	/* bytes of a packet that can be looked up */

header ipv4_options_h {
	varbit<320> options;
}

header rest_h {
	varbit<(8 * TEA_FRAME_MAX)> bytes;
}

struct headers_t {
	RDMA_HEADERS_IN_FRONT
	TEA_ROW_HEADERS
	ethernet_h ethernet;
	tag_h outer_tag;	/* of a VLAN */
	tag_h inner_tag;
	TEA_USE_HEADERS
	ipv4_h ipv4;
	ipv4_options_h ipv4_options;
#ifdef TEA_IPV6
	ipv6_h ipv6;
#endif
	udp_h udp;
	tcp_h tcp;
#ifdef TEA_PACKET_HEADERS
	TEA_PACKET_HEADERS	/* of the network function */
#endif
	rest_h rest;		/* only in packets that may be looked up */
	RDMA_HEADERS_BEHIND
}

#ifdef TEA_IPV6
#define TEA_IP(headers) headers.ipv4, headers.ipv4_options, headers.ipv6
#else
#define TEA_IP(headers) headers.ipv4, headers.ipv4_options
#endif

/* For lists of fields: all headers of the packet. */
#ifdef TEA_PACKET_HEADERS
#define TEA_PACKET(headers) headers.ethernet, headers.outer_tag,	\
	headers.inner_tag, TEA_IP(headers),				\
	headers.udp, headers.tcp, TEA_PACKET_MEMBERS(headers),		\
	headers.rest
#else
#define TEA_PACKET(headers) headers.ethernet, headers.outer_tag,	\
	headers.inner_tag, TEA_IP(headers),				\
	headers.udp, headers.tcp, headers.rest
#endif

#if TEA_CELLS == 8
#define TEA_ALL_CELLS(headers)						\
	headers.tea_cells[0], headers.tea_cells[1],			\
	headers.tea_cells[2], headers.tea_cells[3],			\
	headers.tea_cells[4], headers.tea_cells[5],			\
	headers.tea_cells[6], headers.tea_cells[7],			\
	headers.tea_cells[8], headers.tea_cells[9],			\
	headers.tea_cells[10], headers.tea_cells[11],			\
	headers.tea_cells[12], headers.tea_cells[13],			\
	headers.tea_cells[14], headers.tea_cells[15]
#else
#define TEA_ALL_CELLS(headers)						\
	headers.tea_cells[0], headers.tea_cells[1],			\
	headers.tea_cells[2], headers.tea_cells[3],			\
	headers.tea_cells[4], headers.tea_cells[5],			\
	headers.tea_cells[6], headers.tea_cells[7]
#endif

control TeaRemoveCells(inout headers_t headers)
{
	apply {
		headers.tea_cells[0].setInvalid();
		headers.tea_cells[1].setInvalid();
		headers.tea_cells[2].setInvalid();
		headers.tea_cells[3].setInvalid();
		headers.tea_cells[4].setInvalid();
		headers.tea_cells[5].setInvalid();
		headers.tea_cells[6].setInvalid();
		headers.tea_cells[7].setInvalid();
#if TEA_CELLS == 8
		headers.tea_cells[8].setInvalid();
		headers.tea_cells[9].setInvalid();
		headers.tea_cells[10].setInvalid();
		headers.tea_cells[11].setInvalid();
		headers.tea_cells[12].setInvalid();
		headers.tea_cells[13].setInvalid();
		headers.tea_cells[14].setInvalid();
		headers.tea_cells[15].setInvalid();
#endif
	}
}

/* For the READ and for probes, which do not carry the packet. */
control TeaRemovePacket(inout headers_t headers)
{
	apply {
		headers.ethernet.setInvalid();
		headers.outer_tag.setInvalid();
		headers.inner_tag.setInvalid();
		headers.ipv4.setInvalid();
		headers.ipv4_options.setInvalid();
#ifdef TEA_IPV6
		headers.ipv6.setInvalid();
#endif
		headers.udp.setInvalid();
		headers.tcp.setInvalid();
#ifdef TEA_PACKET_HEADERS
		TEA_REMOVE_PACKET(headers)
#endif
		headers.rest.setInvalid();
	}
}

#endif /* DART_V1MODEL_TEA_HEADERS_P4 */
