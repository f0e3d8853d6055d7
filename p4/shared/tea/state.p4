// SPDX-License-Identifier: GPL-2.0-only
/* The state of a packet and its lookup. */
#ifndef DART_TEA_STATE_P4
#define DART_TEA_STATE_P4

#include "shared/rdma/request.p4"
#include "sizes.p4"

#define REQUEST_NONE	8w0
#define REQUEST_LOOKUP	8w1	/* a WRITE and a READ */
#define REQUEST_PROBE	8w2

/* A request to be sent: egress writes it. */
struct tea_request_t {
	bit<8> kind;
	bit<6> server;
	bit<9> port;
	bit<24> psn;	/* of the WRITE; the READ gets the next PSN */
	bit<4> tries;
}

/* Settings of the control plane for all lookups. */
struct tea_limits_t {
	bit<16> packet_length;
	bit<8> outstanding;	/* READs */
	bit<32> timeout;	/* microseconds */
	bit<4> tries;
}

struct tea_t {
	bit<8> outcome;
	bit<TEA_KEY_BITS> key;
	bit<TEA_VALUE_BITS> value;
	bit<16> length;		/* of the packet */
	bit<12> arrival;	/* port of its arrival */
}

#endif /* DART_TEA_STATE_P4 */
