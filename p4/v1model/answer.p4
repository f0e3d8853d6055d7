// SPDX-License-Identifier: GPL-2.0-only
/* Answers of collectors with reliable connections, for v1model. */
#ifndef DART_V1MODEL_ANSWER_P4
#define DART_V1MODEL_ANSWER_P4

#include <dart/store.h>

#include "shared/outcome.p4"
#include "shared/report.p4"
#include "shared/sizes.p4"

/* An answer of a collector has a fixed length.  The ICRC is not parsed. */
#define ANSWER_BYTES	32w62
#define FIRST_STATES							\
	bit<344> beginning;						\
									\
	state start {							\
		metadata.residue = ICRC_RESIDUE;			\
		transition select(standard.packet_length) {		\
			ANSWER_BYTES: same_length;			\
			default: ethernet;				\
		}							\
	}								\
									\
	/*								\
	 * Selects by EtherType, version and length of the header, length, fragment, protocol,	\
	 * port, length and opcode.					\
	 */								\
	state same_length {						\
		beginning = packet.lookahead<bit<344>>();		\
		transition select(beginning[247:232],			\
				  beginning[231:224],			\
				  beginning[215:200],			\
				  beginning[181:168],			\
				  beginning[159:152],			\
				  beginning[55:40],			\
				  beginning[39:24],			\
				  beginning[7:0]) {			\
			(ETHERTYPE_IPV4, 0x45, 48, 0, PROTOCOL_UDP,	\
			 DART_STORE_UDP_PORT, 28,			\
			 DART_STORE_BTH_ACKNOWLEDGE): answer;		\
			default: ethernet;				\
		}							\
	}								\
									\
	state answer {							\
		packet.extract(headers.ethernet);			\
		packet.extract(headers.ipv4);				\
		packet.extract(headers.udp);				\
		packet.extract(headers.bth);				\
		packet.extract(headers.aeth);				\
		transition accept;					\
	}

#include "headers.p4"
#include "icrc.p4"

/* The ICRC of an answer.  simple_switch exits if the residue is a constant. */
#define VERIFY_ANSWER(h, residue)					\
	verify_checksum_with_payload(h.aeth.isValid(),			\
		{ UP_TO_BTH(h), h.aeth }, residue,			\
		HashAlgorithm.crc32);

/*
 * Sends an answer of a collector to egress of the port where it arrived, and drops a forged one.
 * @outcome: OUTCOME_ANSWER or OUTCOME_FORGED; not changed if the packet is no answer.
 */
control FindAnswer(in headers_t headers, inout standard_metadata_t standard,
		   inout report_t report, inout bit<8> outcome)
{
	@name(".dart_answer_of")
	action answer_of(bit<8> collector, bit<16> session)
	{
		report.collector = collector;
		report.session = session;
	}

	/* By the address and the queue pair of a collector with a reliable connection. */
	@name(".dart_answer")
	table answer {
		key = {
			headers.ipv4.source ++ headers.bth.queue_pair : exact
				@name("source");
		}
		actions = { answer_of; NoAction; }
		default_action = NoAction;
		size = COLLECTOR_ENTRIES;
	}

	apply {
		if (headers.aeth.isValid() && answer.apply().hit) {
			if ((bit<16>)standard.ingress_port + 1 == report.session &&
			    standard.checksum_error == 0) {
				standard.egress_spec = standard.ingress_port;
				outcome = OUTCOME_ANSWER;
			} else {
				mark_to_drop(standard);
				outcome = OUTCOME_FORGED;
			}
		}
	}
}

#endif /* DART_V1MODEL_ANSWER_P4 */
