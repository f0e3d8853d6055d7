// SPDX-License-Identifier: GPL-2.0-only
/* Finds responses of RDMA among the packets of a switch, for v1model. */
#ifndef DART_V1MODEL_RDMA_PARSER_P4
#define DART_V1MODEL_RDMA_PARSER_P4

#include "icrc.p4"
#include "shared/rdma/headers.p4"

error {
	RdmaHeaders	/* of IP or UDP around a response */
}

/*
 * The first states of a parser.  Responses to the queue pair @qpn, or to any if it is _, are parsed
 * up to their AETH and, after atomic operations, the value before; the state @read_response parses
 * the rest of responses to READs, and the state @other all other packets.  The parser has the
 * variables bit<432> beginning, and bit<32> room, which is then the length of the packet.
 */
#define RDMA_FIRST_STATES(qpn, other, read_response)			\
	state start {							\
		metadata.residue = RDMA_RESIDUE;			\
		room = standard.packet_length;				\
		transition select(standard.packet_length >= 54) {	\
			true: any;					\
			default: other;					\
		}							\
	}								\
									\
	/* Selects by EtherType, version and length of the header, fragment, protocol, port, qpn. */ \
	state any {							\
		beginning = packet.lookahead<bit<432>>();		\
		transition select(beginning[335:320],			\
				  beginning[319:312],			\
				  beginning[269:256],			\
				  beginning[247:240],			\
				  beginning[143:128],			\
				  beginning[55:32]) {			\
			(ETHERTYPE_IPV4, 0x45, 0, PROTOCOL_UDP,		\
			 RDMA_UDP_PORT, qpn): response;			\
			default: other;					\
		}							\
	}								\
									\
	state response {						\
		packet.extract(headers.rdma_ethernet);			\
		packet.extract(headers.rdma_ipv4);			\
		packet.extract(headers.rdma_udp);			\
		packet.extract(headers.bth);				\
		verify((bit<32>)headers.rdma_ipv4.length + 14 == room && \
		       headers.rdma_udp.length + 20 ==			\
		       headers.rdma_ipv4.length, error.RdmaHeaders);	\
		transition select(headers.bth.opcode) {			\
			RDMA_READ_RESPONSE_ONLY: read_response;		\
			RDMA_ACKNOWLEDGE: acknowledge;			\
			RDMA_ATOMIC_ACKNOWLEDGE: atomic;		\
			default: accept;				\
		}							\
	}								\
									\
	state acknowledge {						\
		packet.extract(headers.aeth);				\
		transition accept;					\
	}								\
									\
	state atomic {							\
		packet.extract(headers.aeth);				\
		packet.extract(headers.atomic_ack);			\
		transition accept;					\
	}

#endif /* DART_V1MODEL_RDMA_PARSER_P4 */
