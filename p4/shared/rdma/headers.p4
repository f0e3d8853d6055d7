// SPDX-License-Identifier: GPL-2.0-only
/*
 * Headers of RDMA responses, and opcodes: IBTA volume 1, sections 9.2.1 (table 38),
 * 9.3.3, 9.3.5 and 9.7.5.2.
 */
#ifndef DART_RDMA_HEADERS_P4
#define DART_RDMA_HEADERS_P4

#include "shared/headers.p4"

/* Requests on reliable connections, and the WRITE on an unreliable connection. */
#define RDMA_WRITE_ONLY		8w0x0a
#define RDMA_READ_REQUEST	8w0x0c
#define RDMA_COMPARE_SWAP	8w0x13
#define RDMA_FETCH_ADD		8w0x14
#define RDMA_UC_WRITE_ONLY	8w0x2a

/* Responses. */
#define RDMA_READ_RESPONSE_ONLY	8w0x10
#define RDMA_ACKNOWLEDGE	8w0x11
#define RDMA_ATOMIC_ACKNOWLEDGE	8w0x12

/* The highest 3 bits of the syndrome, and the syndrome of a NAK that asks for a PSN again. */
#define SYNDROME_ACK		3w0
#define SYNDROME_NAK		3w3
#define SYNDROME_SEQUENCE	8w0x60

#define RDMA_UDP_PORT		16w4791
#define RDMA_ACK_REQUEST	8w0x80	/* in bth.acknowledge */

#define RDMA_ETHERNET_BYTES	32w14
#define RDMA_IPV4_BYTES		16w20
#define RDMA_UDP_BYTES		16w8
#define RDMA_BTH_BYTES		16w12
#define RDMA_RETH_BYTES		16w16
#define RDMA_ATOMIC_ETH_BYTES	16w28
#define RDMA_ICRC_BYTES		16w4

header aeth_h {
	bit<8> syndrome;
	bit<24> msn;
}

header atomic_ack_h {
	bit<64> original;	/* the 8 bytes before the operation */
}

header pad8_h {
	bit<8> zero;
}

header pad16_h {
	bit<16> zero;
}

header pad24_h {
	bit<24> zero;
}

/*
 * The complete headers of a request or response around its data, for a program's
 * headers_t.  Packets that a switch forwards use separate headers of IP and UDP, so that
 * a WRITE can contain both sets.
 */
#define RDMA_HEADERS_IN_FRONT						\
	ethernet_h rdma_ethernet;					\
	ipv4_h rdma_ipv4;						\
	udp_h rdma_udp;							\
	bth_h bth;							\
	reth_h reth;							\
	atomic_eth_h atomic_eth;					\
	aeth_h aeth;							\
	atomic_ack_h atomic_ack;

#define RDMA_HEADERS_BEHIND						\
	pad8_h pad8;							\
	pad16_h pad16;							\
	pad24_h pad24;							\
	icrc_h icrc;

#endif /* DART_RDMA_HEADERS_P4 */
