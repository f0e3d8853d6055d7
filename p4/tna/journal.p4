// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that appends the paths of packets to a journal, for Tofino: see <dart/journal.h> and
 * Documentation/p4.md.  Ingress is that of reports to stores.  Differences from the program for
 * BMv2:
 *
 *   batches     of 128 bytes, with two entries: the first of them waits in registers
 *   lists       are 64; egress appends a clone to its list, with replication ID 0; a second clone
 *               of the same packet, with ID 1, looks at one list more, which may have an entry that
 *               has waited.  So the mirror session leads to a multicast group with both.
 *   addresses   a table has the first batch of each list, because a switch does not multiply
 *   IPv6        its entries are dropped in egress, and counted
 */
#include <core.p4>
#include <tna.p4>

#include <dart/journal.h>
#include <dart/store.h>

#include "journal/headers.p4"
#include "ingress.p4"
#include "shared/collector.p4"
#include "journal/state.p4"
#include "journal/write.p4"

/* Outcomes of clones. */
#define CLONE_GATHERED		8w0
#define CLONE_WRITTEN		8w1
#define CLONE_REFUSED		8w2	/* no journal, or of IPv6 */
#define CLONE_OUTCOMES		3

struct appender_t {
	bit<48> mac;
	bit<32> ip;		/* 0: the switch appends to no journal */
	bit<16> start;		/* its highest bits; registers have the others */
	bit<64> clock;		/* when the switch started, ns since 1970 */
}

control JournalEgress(inout headers_t headers, inout egress_t metadata,
		      in egress_intrinsic_metadata_t intrinsic,
		      in egress_intrinsic_metadata_from_parser_t
			parser_metadata,
		      inout egress_intrinsic_metadata_for_deparser_t
			deparser_metadata,
		      inout egress_intrinsic_metadata_for_output_port_t
			port_metadata)
{
	FindCollector() find_collector;
	InvertFirst() invert_first;
	ChooseList() choose_list;
	TurnList() turn_list;
	NextBatch() next_batch;
	KeepEntry() keep_entry;
	WriteFrame() write_frame;
	Psn() next_psn;
	BatchCrc() batch_crc;
	BatchIcrc() batch_icrc;
	collector_t collector;
	appender_t appender;
	bit<8> outcome;
	bit<8> batch;
	bit<6> list_id;
	bit<64> time;
	bit<64> address;
	bit<64> offset = 0;
	bit<32> number;
	bit<32> start;
	bit<32> place;
	bool is_look;

	@name(".journal_clones")
	Counter<bit<32>, bit<8>>(CLONE_OUTCOMES, CounterType_t.PACKETS) clones;

	@name(".journal_appender_is")
	action appender_is(bit<48> mac, bit<32> ip, bit<16> start_high,
			   bit<64> clock)
	{
		appender.mac = mac;
		appender.ip = ip;
		appender.start = start_high;
		appender.clock = clock;
	}

	@name(".journal_appender")
	table appenders {
		actions = { appender_is; NoAction; }
		default_action = NoAction;
		size = 1;
	}

	@name(".journal_list_at")
	action list_at(bit<64> base)
	{
		address = base;
	}

	@name(".journal_list")
	table lists {
		key = { list_id : exact @name("list"); }
		actions = { list_at; NoAction; }
		default_action = NoAction;
		size = JOURNAL_LISTS;
	}

	action add_time()
	{
		time = appender.clock + (bit<64>)parser_metadata.global_tstamp;
	}

	action take_entry()
	{
		headers.latter.time_high = time[63:32];
		headers.latter.time_low = time[31:0];
		headers.latter.tail_0 = metadata.key.tail_0;
		headers.latter.tail_1 = metadata.key.tail_1;
		headers.latter.tail_2 = metadata.key.tail_2;
		headers.latter.hop_0 = headers.value.value[159:128];
		headers.latter.hop_1 = headers.value.value[127:96];
		headers.latter.hop_2 = headers.value.value[95:64];
		headers.latter.hop_3 = headers.value.value[63:32];
		headers.latter.hop_4 = headers.value.value[31:0];
	}

	action take_nothing()
	{
		headers.latter.time_high = 0;
		headers.latter.time_low = 0;
		headers.latter.source = 0;
		headers.latter.tail_0 = 0;
		headers.latter.tail_1 = 0;
		headers.latter.tail_2 = 0;
		headers.latter.hop_0 = 0;
		headers.latter.hop_1 = 0;
		headers.latter.hop_2 = 0;
		headers.latter.hop_3 = 0;
		headers.latter.hop_4 = 0;
	}

	action begin_entries()
	{
		headers.former.setValid();
		headers.latter.setValid();
		/* The first word of the key, which is inverted for its CRC afterwards. */
		headers.latter.source = metadata.key.w7;
	}

	action begin_batch()
	{
		headers.batch.setValid();
		headers.zeros.setValid();
		headers.zeros.zeros = 0;
		headers.batch_crc.setValid();
		headers.batch.entry_length = JOURNAL_ENTRY;
		headers.batch.sequence = number + 1;
		headers.batch.start = appender.start ++ start;
		place = number & collector.mask;
		headers.value.setInvalid();
	}

	action multiply_place()
	{
		offset[63:32] = place >> (32 - JOURNAL_BATCH_LOG2);
		offset[31:0] = place << JOURNAL_BATCH_LOG2;
	}

	action add_place()
	{
		headers.reth.address = address + offset;
	}

	apply {
		metadata.is_report = false;
		appender = { 0, 0, 0, 0 };
		address = 0;
		outcome = CLONE_REFUSED;
		/* The packet to be measured leaves; only a clone makes a report. */
		if (!headers.measured.isValid()) {
			appenders.apply();
			if (headers.clone.key == KEY_IPV4 && appender.ip != 0) {
				outcome = CLONE_GATHERED;
				is_look = intrinsic.egress_rid[0:0] == 1;
				begin_entries();
				invert_first.apply(headers.clone.key,
						   metadata.key);
				choose_list.apply(metadata.key, is_look, list_id);
				if (is_look) {
					take_nothing();
				} else {
					add_time();
					take_entry();
				}
				lists.apply();
				turn_list.apply(list_id, is_look,
					parser_metadata.global_tstamp[47:16],
					batch);
				keep_entry.apply(headers, list_id, is_look);
				if (batch != BATCH_NONE) {
					outcome = CLONE_WRITTEN;
					metadata.is_report = true;
					next_batch.apply(list_id,
						batch == BATCH_FULL, number,
						start);
					find_collector.apply(headers,
						headers.clone.collector,
						collector);
					begin_batch();
					headers.batch.count = 2;
					if (is_look)
						headers.batch.count = 1;
					write_frame.apply(headers,
						appender.mac, appender.ip,
						DART_STORE_UDP_SOURCE_BASE |
						(bit<16>)list_id, JOURNAL_BATCH,
						0);
					next_psn.apply(headers.clone.collector,
						       headers.bth.psn);
					multiply_place();
					add_place();
					batch_crc.apply(headers);
					batch_icrc.apply(headers);
				}
			}
			clones.count(outcome);
			if (!metadata.is_report)
				deparser_metadata.drop_ctl = 1;
		}
	}
}

Pipeline(DartIngressParser(), DartIngress(), DartIngressDeparser(),
	 DartEgressParser(), JournalEgress(), JournalEgressDeparser()) pipeline;

Switch(pipeline) main;
