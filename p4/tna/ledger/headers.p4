// SPDX-License-Identifier: GPL-2.0-only
/* Frames that a switch with a ledger sends to itself, and headers of requests and answers. */
#ifndef DART_TNA_LEDGER_HEADERS_P4
#define DART_TNA_LEDGER_HEADERS_P4

#include "shared/rdma/headers.p4"

/*
 * The kind of a frame is its first byte.  Generated packets begin with 0 to LOOP_TICK - 1, the
 * pipe and the application of the packet generator.
 */
#define LOOP_TICK	8w0x20	/* not in a frame: a generated packet */
#define LOOP_SUM	8w0x22	/* ingress to egress: a sum that leaves the cache */
#define LOOP_ADD	8w0x23	/* to ingress: append a request to the ring */
#define LOOP_SEND	8w0x24	/* to ingress: send the next request */
#define LOOP_DONE	8w0x25	/* to ingress: all requests before the number were executed */
#define LOOP_REWIND	8w0x26	/* likewise, and the next request is the one with the number */
#define LOOP_FATAL	8w0x27	/* as LOOP_DONE, and the queue pair is in the error state */
#define LOOP_LATE	8w0x28	/* to ingress: send all requests without an answer again */
#define LOOP_REQUEST	8w0x29	/* ingress to egress: form this request */
#define LOOP_ANSWER	8w0x2a	/* not in a frame: an answer of the collector */

/* As mirror sessions cut clones, and without the header of a generated packet. */
#define LOOP_FILLER	32w56

header loop_h {
	bit<8> kind;
	bit<8> row;		/* of the ledger; the number of rows for the total */
	bit<32> number;		/* of a request, as in registers */
	bit<32> word;		/* its place in the ledger */
	bit<32> amount;
}

/* A sum that leaves the cache, as ingress mirrors it and as egress reads it for CRCs. */
header evicted_h {
	bit<8> kind;
	bit<32> amount;
	bit<32> source;
	bit<32> destination;
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
}

header sum_h {
	bit<8> kind;
	bit<32> amount;
	bit<32> source;
	bit<32> tail_0;		/* of the key, as in clone_h */
	bit<8> tail_1;
	bit<32> tail_2;
}

#define HEADERS_OF_PAYLOAD						\
	pktgen_timer_header_t tick;					\
	loop_h loop;							\
	sum_h sum;							\
	ethernet_h rdma_ethernet;					\
	ipv4_h rdma_ipv4;						\
	udp_h rdma_udp;							\
	atomic_eth_h atomic_eth;					\
	aeth_h aeth;							\
	atomic_ack_h atomic_ack;					\
	pad8_h pad8;							\
	pad16_h pad16;							\
	pad24_h pad24;

#endif /* DART_TNA_LEDGER_HEADERS_P4 */
