// SPDX-License-Identifier: GPL-2.0-only
/* States of ingress for generated packets, frames of the switch to itself, and answers. */
#ifndef DART_TNA_LEDGER_PARSER_P4
#define DART_TNA_LEDGER_PARSER_P4

#include "tna/rdma/number.p4"
#include "headers.p4"

#define FIRST_STATE	first_of_ledger
#define PORTS_OF_PROGRAM						\
	RDMA_UDP_PORT: transport;

/* Not all packets to RDMA_UDP_PORT are answers to the switch: see LedgerIngress. */
#define STATES_OF_PROGRAM						\
	state first_of_ledger {						\
		transition select(intrinsic.ingress_port) {		\
			LOOP_PORT: own;					\
			default: ethernet;				\
		}							\
	}								\
									\
	state own {							\
		transition select(packet.lookahead<bit<8>>()) {		\
			0 &&& 0xe0: tick;				\
			default: loop;					\
		}							\
	}								\
									\
	state tick {							\
		packet.extract(headers.tick);				\
		metadata.kind = LOOP_TICK;				\
		transition accept;					\
	}								\
									\
	state loop {							\
		packet.extract(headers.loop);				\
		metadata.kind = headers.loop.kind;			\
		transition accept;					\
	}								\
									\
	state transport {						\
		packet.extract(headers.bth);				\
		transition select(headers.bth.opcode) {			\
			RDMA_ACKNOWLEDGE: syndrome;			\
			RDMA_ATOMIC_ACKNOWLEDGE: syndrome;		\
			default: accept;				\
		}							\
	}								\
									\
	state syndrome {						\
		packet.extract(headers.aeth);				\
		transition accept;					\
	}

#endif /* DART_TNA_LEDGER_PARSER_P4 */
