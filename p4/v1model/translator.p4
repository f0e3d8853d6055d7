// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that gathers the postcards of hops, and reports paths into the memory of collectors, for
 * BMv2's simple_switch: see <dart/postcard.h> and Documentation/p4.md.
 *
 *   ingress  takes a postcard and adds it to the row of its key; forwards other packets by their
 *            destination.  After each of them: takes a path that is complete, or leaves its row, or has
 *            waited, finds its collector, and mirrors the packet towards it
 *   egress   turns mirrored packets into reports; takes answers of collectors
 *
 * Packets drive all of this: time alone does nothing.
 */
#include <core.p4>
#include <v1model.p4>

#include <dart/postcard.h>
#include <dart/store.h>

#include "postcards/headers.p4"

#define REPORT_MORE							\
	postcard_crcs_t crcs;						\
	bit<1> is_complete;						\
	bit<16> turn;		/* of an incomplete path */
#include "shared/report.p4"

#include "shared/rdma/headers.p4"

#define HEADERS_IN_FRONT
#define HEADERS_BEHIND							\
	POSTCARD_HEADERS						\
	bth_h bth;							\
	reth_h reth;							\
	aeth_h aeth;							\
	slot8_h slot8;							\
	slot16_h slot16;						\
	slot32_h slot32;						\
	slot64_h slot64;						\
	icrc_h icrc;
#include "headers.p4"

#define INGRESS_CLONE	32w1	/* instance types of simple_switch */
#define EGRESS_CLONE	32w2
#define REPLICATION	32w5
#define MIRRORED	8w1	/* number of a field list */

struct metadata_t {
	bit<32> residue;
	bit<1> is_answer;
	@field_list(MIRRORED)
	report_t report;
}

#define UDP_PAYLOADS	default: postcard;
#define LAST_STATES	POSTCARD_STATES

#include "answer.p4"
#include "parser.p4"
#include "damage.p4"
#include "forward.p4"
#include "postcards/hash.p4"
#include "postcards/rows.p4"
#include "send.p4"

/* Judges a packet to the port of postcards. */
control JudgePostcard(in headers_t headers, in error parser_error, in bool is_damaged,
		      out bit<8> outcome)
{
	apply {
		if (is_damaged)
			outcome = OUTCOME_DAMAGED;
		else if (parser_error == error.PostcardMalformed)
			outcome = OUTCOME_MALFORMED;
		else if (parser_error != error.NoError)
			outcome = OUTCOME_TRUNCATED;
		else if (headers.postcard.hops > HOPS)
			outcome = OUTCOME_ROOMLESS;
		else
			outcome = OUTCOME_GATHERED;
	}
}

control TranslatorIngress(inout headers_t headers, inout metadata_t metadata,
			  inout standard_metadata_t standard)
{
	FindAnswer() find_answer;
	Forward() forward;
	Damage() damage;
	JudgePostcard() judge_postcard;
	PostcardHash() postcard_hash;
	AddPostcard() add_postcard;
	LookAtRow() look_at_row;
	FindShare() find_share;
	TakeTurn() take_turn;
	translation_t translation = { 0, 0, 0 };
	bit<8> outcome = OUTCOME_OTHER;
	bit<512> key;
	bit<48> now;
	bool is_forwarded;
	bool is_damaged;
	bool is_assigned;
	bool is_due = false;

	@name(".dart_packets")
	counter(TRANSLATOR_OUTCOMES, CounterType.packets) packets;

	@name(".postcards_gather")
	action gather(bit<16> port, bit<32> mask, bit<48> age)
	{
		translation.port = port;
		translation.mask = mask & (POSTCARD_ROWS - 1);
		translation.age = age;
	}

	@name(".postcards_translation")
	table translation_of {
		actions = { gather; NoAction; }
		default_action = NoAction;
	}

	apply {
		now = standard.ingress_global_timestamp;
		metadata.is_answer = 0;
		if (!headers.ethernet.isValid()) {
			mark_to_drop(standard);
			return;
		}
		find_answer.apply(headers, standard, metadata.report, outcome);
		if (outcome != OUTCOME_OTHER) {
			if (outcome == OUTCOME_ANSWER)
				metadata.is_answer = 1;
			packets.count((bit<32>)outcome);
			return;
		}
		translation_of.apply();
		damage.apply(headers, standard.parser_error, is_damaged);
		if (headers.inner_tag.isValid() && IS_TAG_TYPE(headers.inner_tag.ethertype))
			outcome = OUTCOME_TAGGED;
		else if (standard.parser_error == error.StackOutOfBounds)
			outcome = OUTCOME_EXTENSIONS;
		else if (headers.udp.isValid() && translation.port != 0 &&
			 headers.udp.destination == translation.port)
			judge_postcard.apply(headers, standard.parser_error, is_damaged, outcome);
		if (outcome == OUTCOME_GATHERED) {
			mark_to_drop(standard);
			postcard_hash.apply(headers, metadata.report.crcs);
			POSTCARD_KEY_NUMBER(headers, key)
			add_postcard.apply(headers.postcard, key, metadata.report.crcs, translation,
					   now, metadata.report, is_due);
			if (is_due)
				outcome = OUTCOME_REPORT;
		} else {
			forward.apply(headers.ethernet.destination, standard, is_forwarded);
		}
		if (translation.port != 0) {
			look_at_row.apply(translation, now, metadata.report, is_due);
			look_at_row.apply(translation, now, metadata.report, is_due);
			look_at_row.apply(translation, now, metadata.report, is_due);
			look_at_row.apply(translation, now, metadata.report, is_due);
		}
		if (is_due) {
			metadata.report.share =
				metadata.report.crcs.share[DART_STORE_SHARE_BITS - 1 : 0];
			find_share.apply(metadata.report, is_assigned);
			if (!is_assigned) {
				outcome = OUTCOME_UNASSIGNED;
				is_due = false;
			}
		}
		packets.count((bit<32>)outcome);
		if (is_due) {
			take_turn.apply(metadata.report);
			metadata.report.copy = 0;
			clone_preserving_field_list(CloneType.I2E,
				(bit<32>)metadata.report.session, MIRRORED);
		}
	}
}

/* For a report, which takes the place of the packet. */
control RemovePostcard(inout headers_t headers)
{
	apply {
		headers.postcard.setInvalid();
		headers.key64.setInvalid();
		headers.key32.setInvalid();
		headers.key16.setInvalid();
		headers.key8.setInvalid();
		headers.key4.setInvalid();
		headers.key2.setInvalid();
		headers.key1.setInvalid();
	}
}

control TranslatorEgress(inout headers_t headers, inout metadata_t metadata,
			 inout standard_metadata_t standard)
{
	RemovePostcard() remove_postcard;
	SendReport() send_report;
	TakeAnswer() take_answer;

	apply {
		if (standard.instance_type == INGRESS_CLONE ||
		    standard.instance_type == EGRESS_CLONE) {
			remove_postcard.apply(headers);
			send_report.apply(headers, metadata, standard);
		} else if (standard.instance_type == REPLICATION &&
			   standard.egress_port == standard.ingress_port) {
			mark_to_drop(standard);
		} else if (metadata.is_answer == 1) {
			take_answer.apply(headers, metadata.report.collector,
					  standard.egress_global_timestamp);
			mark_to_drop(standard);
		}
	}
}

control TranslatorVerifyChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		VERIFY_ANSWER(headers, metadata.residue)
	}
}

/* For reports only: switches do not change the IP header of forwarded packets. */
control TranslatorComputeChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		UPDATE_REPORT(headers)
	}
}

V1Switch(DartParser(), TranslatorVerifyChecksum(), TranslatorIngress(),
	 TranslatorEgress(), TranslatorComputeChecksum(), DartDeparser()) main;
