// SPDX-License-Identifier: GPL-2.0-only
/*
 * Headers of packets and of responses, for switches with lookup tables.  Tofino's parser
 * keeps only bytes that it puts into containers, so it reads only the needed parts of a
 * response, and all cells of a row: 4 cells of 24 bytes, for keys of 13 bytes.
 */
#ifndef DART_TNA_TEA_HEADERS_P4
#define DART_TNA_TEA_HEADERS_P4

#include "shared/rdma/headers.p4"
#include "shared/tea/sizes.p4"

#if TEA_CELLS != 2 || TEA_KEY_BYTES != 13 || TEA_CELL_BYTES != 24
#error "on Tofino, tables have 2 cells of 24 bytes in a bucket and keys of 13 bytes"
#endif

/* Data that a packet carries to its next pass, or the pass of its clone, through the switch. */
#define LOOP_NONE	8w0
#define LOOP_LOOKUP	8w1	/* ingress to egress: write a request */
#define LOOP_AGAIN	8w2	/* to ingress: look the packet up again */
#define LOOP_FREE	8w3	/* to ingress: everything up to this PSN is answered */
#define LOOP_REWIND	8w4	/* to ingress: the server expects this PSN */

header loop_h {
	bit<8> kind;
	bit<8> server;
	bit<16> sending;	/* as in the tag */
	bit<32> psn;		/* as in the registers of rdma/queue_pair.p4 */
	bit<32> word;		/* sum of both CRCs of the key; of a clone: tea_end */
}

/* UDP and TCP after their ports. */
header udp_rest_h {
	bit<16> length;
	bit<16> checksum;
}

header tcp_rest_h {
	bit<32> sequence;
	bit<32> acknowledgement;
	bit<16> flags;
	bit<16> window;
	bit<16> checksum;
	bit<16> urgent;
}

/* From the IP header of a response up to its row. */
header response_h {
	bit<96> before_addresses;
	bit<32> source;
	bit<32> destination;
	bit<64> udp;
	bit<8> opcode;
	bit<24> flags;		/* and the partition */
	bit<8> congestion;
	bit<24> queue_pair;
	bit<32> psn;		/* the first 8 bits are 0 */
	bit<8> syndrome;
	bit<24> msn;
}

/* The BTH: acknowledge and PSN, as 32 bits, of which the first 8 are 0. */
header lookup_bth_h {
	bit<8> opcode;
	bit<1> solicited;
	bit<1> migration;
	bit<2> pad;
	bit<4> version;
	bit<16> partition;
	bit<8> congestion;
	bit<24> queue_pair;
	bit<32> psn;
}

/* The RETH: lengths of lookups have 16 bits, as other lengths. */
header lookup_reth_h {
	bit<64> address;
	bit<32> rkey;
	bit<16> no_length;
	bit<16> length;
}

header tea_row_h {
	bit<32> sequence;
	bit<8> stashed;
	bit<24> epoch;
}

/* An entry of a flow: the value begins with an address and a port. */
header tea_cell_h {
	bit<32> check;
	bit<32> source;
	bit<32> destination;
	bit<16> source_port;
	bit<16> destination_port;
	bit<8> protocol;
	bit<32> address;
	bit<16> port;
	bit<8> last;		/* of the value, or a pad */
}

header tea_row_end_h {
	bit<32> sequence;
}

header tea_tag_h {
	bit<32> psn;
	bit<16> length;
	bit<16> sending;	/* earlier sendings (4 bits), port of arrival */
	bit<32> check;
}

struct headers_t {
	loop_h loop;
	ethernet_h rdma_ethernet;
	ipv4_h rdma_ipv4;
	udp_h rdma_udp;
	lookup_bth_h bth;
	lookup_reth_h reth;
	icrc_h icrc;		/* of a READ; the ICRC of a WRITE follows the packet */
	response_h response;
	tea_row_h row;
	tea_cell_h cell_0;
	tea_cell_h cell_1;
	tea_cell_h cell_2;
	tea_cell_h cell_3;
	tea_row_end_h row_end;
	tea_tag_h tag;
	ethernet_h ethernet;
	ipv4_h ipv4;
	ports_h ports;
	udp_rest_h udp;
	tcp_rest_h tcp;
}

#endif /* DART_TNA_TEA_HEADERS_P4 */
