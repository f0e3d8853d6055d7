// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that appends the paths of packets to a journal, in the memory of a collector, for BMv2's
 * simple_switch: see <dart/journal.h> and Documentation/p4.md.
 *
 *   ingress  forwards a packet by its destination; adds its path to the batch of its list; takes a
 *            batch that is full, or has an entry that has waited, and mirrors the packet towards
 *            the collector with it
 *   egress   turns mirrored packets into the WRITEs of batches
 *
 * Packets drive all of this: time alone does nothing.
 */
#include <core.p4>
#include <v1model.p4>

#include <dart/journal.h>
#include <dart/store.h>

#include "shared/rdma/headers.p4"
#include "shared/report.p4"
#include "shared/sizes.p4"

#define JOURNAL_LISTS		64
#define JOURNAL_ENTRY		41	/* bytes: time, flow, path */
#define JOURNAL_BATCH		256	/* bytes */
#define JOURNAL_CAPACITY	8w5
#define JOURNAL_ZEROS		35	/* bytes after the entries of a full batch */
#define JOURNAL_FLUSH_US	(48w1000 * DART_JOURNAL_FLUSH_MS)

header batch_h {
	bit<32> sequence;
	bit<48> start;
	bit<8> count;
	bit<8> entry_length;
	bit<8 * JOURNAL_ENTRY> entry0;
	bit<8 * JOURNAL_ENTRY> entry1;
	bit<8 * JOURNAL_ENTRY> entry2;
	bit<8 * JOURNAL_ENTRY> entry3;
	bit<8 * JOURNAL_ENTRY> entry4;
	bit<8 * JOURNAL_ZEROS> zeros;
	bit<32> crc;
}

#define HEADERS_IN_FRONT	RDMA_HEADERS_IN_FRONT
#define HEADERS_BEHIND		batch_h batch; RDMA_HEADERS_BEHIND
#include "headers.p4"
#include "shared/rdma/request.p4"

#define INGRESS_CLONE	32w1	/* instance types of simple_switch */
#define REPLICATION	32w5
#define MIRRORED	8w1	/* number of a field list */

/* The journal; the switch has one if it has the address of an appender. */
struct journal_t {
	bit<64> base;
	bit<32> places_mask;	/* batches of a list - 1 */
	bit<16> lists_mask;
	bit<16> session;	/* mirror session towards the collector */
}

/* A batch that is written. */
struct batch_t {
	bit<16> number;
	bit<32> sequence;
	bit<48> start;
	bit<8> count;		/* 0: no batch */
	bit<8 * JOURNAL_ENTRY> entry0;
	bit<8 * JOURNAL_ENTRY> entry1;
	bit<8 * JOURNAL_ENTRY> entry2;
	bit<8 * JOURNAL_ENTRY> entry3;
	bit<8 * JOURNAL_ENTRY> entry4;
	bit<24> psn;
}

struct metadata_t {
	report_t report;	/* only the key of the flow, and the path */
	@field_list(MIRRORED)
	batch_t batch;
	@field_list(MIRRORED)
	journal_t journal;
	@field_list(MIRRORED)
	rdma_peer_t peer;
	@field_list(MIRRORED)
	rdma_self_t self;
}

#include "parser.p4"
#include "damage.p4"
#include "forward.p4"
#include "flow_hash.p4"
#include "replace.p4"
#include "shared/flow.p4"
#include "shared/path.p4"
#include "v1model/rdma/icrc.p4"

/* All state belongs to ingress, which handles one packet at a time. */
@name(".journal_entries")
register<bit<8 * JOURNAL_ENTRY>>(8 * JOURNAL_LISTS) journal_entries;
@name(".journal_count")
register<bit<8>>(JOURNAL_LISTS) journal_count;
@name(".journal_written")
register<bit<8>>(JOURNAL_LISTS) journal_written;	/* of the count */
@name(".journal_since")
register<bit<48>>(JOURNAL_LISTS) journal_since;	/* the first entry that is not written came */
@name(".journal_batches")
register<bit<32>>(JOURNAL_LISTS) journal_batches;	/* full ones, in this lap of sequences */
@name(".journal_lap")
register<bit<32>>(JOURNAL_LISTS) journal_lap;
@name(".journal_hand")
register<bit<32>>(1) journal_hand;	/* the list that is looked at next */
@name(".journal_psn")
register<bit<32>>(1) journal_psn;

/* The place of an entry in the register: 8 for each list. */
#define JOURNAL_AT(list_number, entry)	((list_number) << 3 | (entry))

#define TAKE_ENTRY(n)							\
	if (n < count)							\
		journal_entries.read(batch.entry##n,			\
				     JOURNAL_AT(number, n));		\
	else								\
		batch.entry##n = 0;

/* Takes the batch of a list, with @count entries; a full one makes room for the next. */
control TakeBatch(in bit<32> number, in bit<8> count, in bit<48> start, inout batch_t batch)
{
	bit<32> batches;
	bit<32> lap;
	bit<32> psn;

	apply {
		journal_batches.read(batches, number);
		journal_lap.read(lap, number);
		journal_psn.read(psn, 0);
		TAKE_ENTRY(0)
		TAKE_ENTRY(1)
		TAKE_ENTRY(2)
		TAKE_ENTRY(3)
		TAKE_ENTRY(4)
		batch.number = number[15:0];
		batch.sequence = batches + 1;
		batch.start = start + (bit<48>)lap;
		batch.count = count;
		batch.psn = psn[23:0];
		journal_psn.write(0, psn + 1);
		if (count == JOURNAL_CAPACITY) {
			journal_count.write(number, 0);
			journal_written.write(number, 0);
			if (batches == 0xfffffffe) {
				journal_batches.write(number, 0);
				journal_lap.write(number, lap + 1);
			} else {
				journal_batches.write(number, batches + 1);
			}
		} else {
			journal_written.write(number, count);
		}
	}
}

/* Adds an entry to its list; @is_due: the batch is full, or an entry of it has waited. */
control Append(in bit<32> number, in bit<8 * JOURNAL_ENTRY> entry, in bit<48> now,
	       out bit<8> count, out bool is_due)
{
	bit<8> written;
	bit<48> since;

	apply {
		journal_count.read(count, number);
		journal_written.read(written, number);
		journal_since.read(since, number);
		if (count == written) {
			since = now;
			journal_since.write(number, now);
		}
		journal_entries.write(JOURNAL_AT(number, (bit<32>)count), entry);
		count = count + 1;
		journal_count.write(number, count);
		is_due = count == JOURNAL_CAPACITY ||
			 now - since >= JOURNAL_FLUSH_US;
	}
}

/* Looks at the next list: @is_due: an entry has waited there. */
control Look(in bit<16> lists_mask, in bit<48> now, out bit<32> number,
	     out bit<8> count, out bool is_due)
{
	bit<8> written;
	bit<48> since;

	apply {
		journal_hand.read(number, 0);
		number = (number + 1) & (bit<32>)lists_mask;
		journal_hand.write(0, number);
		journal_count.read(count, number);
		journal_written.read(written, number);
		journal_since.read(since, number);
		is_due = count != written && now - since >= JOURNAL_FLUSH_US;
	}
}

control JournalIngress(inout headers_t headers, inout metadata_t metadata,
		       inout standard_metadata_t standard)
{
	Forward() forward;
	FlowKey() flow_key;
	Damage() damage;
	ReadPath() read_path;
	Append() append;
	Look() look;
	TakeBatch() take_batch;
	bit<8> outcome = OUTCOME_OTHER;
	bit<48> start = 0;
	bit<64> clock = 0;
	bit<64> time;
	bit<32> share;
	bit<32> number = 0;
	bit<8> count = 0;
	bit<48> now;
	bool is_set_up;
	bool is_forwarded;
	bool is_damaged;
	bool is_due = false;

	@name(".journal_packets")
	counter(OUTCOMES, CounterType.packets) packets;

	@name(".journal_append_to")
	action append_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey,
			 bit<64> base, bit<32> places_mask,
			 bit<16> lists_mask, bit<16> session)
	{
		metadata.peer.mac = mac;
		metadata.peer.ip = ip;
		metadata.peer.qpn = qpn;
		metadata.peer.rkey = rkey;
		metadata.journal.base = base;
		metadata.journal.places_mask = places_mask;
		metadata.journal.lists_mask = lists_mask;
		metadata.journal.session = session;
	}

	@name(".journal_collector")
	table collector {
		actions = { append_to; NoAction; }
		default_action = NoAction;
	}

	/* @boot: when the switch started, microseconds since 1970. */
	@noWarn("unused")
	@name(".journal_appender_is")
	action appender_is(bit<48> mac, bit<32> ip, bit<48> first_start,
			   bit<64> boot, bit<64> epoch)
	{
		metadata.self.mac = mac;
		metadata.self.ip = ip;
		start = first_start;
		clock = boot;
	}

	@name(".journal_appender")
	table appender {
		actions = { appender_is; NoAction; }
		default_action = NoAction;
	}

	apply {
		now = standard.ingress_global_timestamp;
		metadata.batch.count = 0;
		metadata.self.ip = 0;
		metadata.journal.base = 0;
		metadata.journal.lists_mask = 0;
		collector.apply();
		appender.apply();
		is_set_up = metadata.self.ip != 0 && metadata.journal.base != 0 &&
			    metadata.journal.lists_mask < JOURNAL_LISTS;
		forward.apply(headers.ethernet.destination, standard, is_forwarded);
		flow_key.apply(headers, metadata.report);
		damage.apply(headers, standard.parser_error, is_damaged);
		if (is_forwarded && headers.int_md.isValid() && !is_damaged &&
		    metadata.report.key == KEY_IPV4 &&
		    standard.parser_error == error.NoError) {
			read_path.apply(headers, metadata.report, outcome);
			if (outcome == OUTCOME_REPORT && !is_set_up)
				outcome = OUTCOME_UNASSIGNED;
		} else if (is_damaged) {
			outcome = OUTCOME_DAMAGED;
		} else if (standard.parser_error == error.IntMalformed) {
			outcome = OUTCOME_MALFORMED;
		} else if (standard.parser_error != error.NoError) {
			outcome = OUTCOME_TRUNCATED;
		}
		packets.count((bit<32>)outcome);
		if (!is_set_up)
			return;

		if (outcome == OUTCOME_REPORT) {
			FLOW_CRC(share, metadata.report)
			number = share & (bit<32>)metadata.journal.lists_mask;
			time = (clock + (bit<64>)now) * 1000;
			append.apply(number, time ++ metadata.report.source[31:0] ++
				     metadata.report.destination[31:0] ++
				     metadata.report.source_port ++
				     metadata.report.destination_port ++
				     metadata.report.protocol ++ metadata.report.value, now,
				     count, is_due);
		}
		if (!is_due)
			look.apply(metadata.journal.lists_mask, now, number, count,
				   is_due);
		if (is_due) {
			take_batch.apply(number, count, start, metadata.batch);
			clone_preserving_field_list(CloneType.I2E,
				(bit<32>)metadata.journal.session, MIRRORED);
		}
	}
}

control JournalEgress(inout headers_t headers, inout metadata_t metadata,
		      inout standard_metadata_t standard)
{
	RemovePacket() remove_packet;
	RdmaRequest() request;
	bit<64> place;
	bit<32> frame_bytes;
	bit<32> crc;

	@name(".journal_writes")
	counter(1, CounterType.packets) writes;

	apply {
		if (standard.instance_type != INGRESS_CLONE) {
			if (standard.instance_type == REPLICATION &&
			    standard.egress_port == standard.ingress_port)
				mark_to_drop(standard);
			return;
		}

		remove_packet.apply(headers);
		place = (bit<64>)metadata.batch.number *
			((bit<64>)metadata.journal.places_mask + 1) +
			(bit<64>)((metadata.batch.sequence - 1) &
				  metadata.journal.places_mask);
		headers.batch.setValid();
		headers.batch.sequence = metadata.batch.sequence;
		headers.batch.start = metadata.batch.start;
		headers.batch.count = metadata.batch.count;
		headers.batch.entry_length = JOURNAL_ENTRY;
		headers.batch.entry0 = metadata.batch.entry0;
		headers.batch.entry1 = metadata.batch.entry1;
		headers.batch.entry2 = metadata.batch.entry2;
		headers.batch.entry3 = metadata.batch.entry3;
		headers.batch.entry4 = metadata.batch.entry4;
		headers.batch.zeros = 0;
		hash(crc, HashAlgorithm.crc32, 64w0,
		     { headers.batch.sequence, headers.batch.start,
		       headers.batch.count, headers.batch.entry_length,
		       headers.batch.entry0, headers.batch.entry1,
		       headers.batch.entry2, headers.batch.entry3,
		       headers.batch.entry4, headers.batch.zeros },
		     64w0x100000000);
		headers.batch.crc = crc;
		request.apply(headers, metadata.self, metadata.peer,
			      DART_STORE_UDP_SOURCE_BASE +
			      (metadata.batch.number & 1023), RDMA_UC_WRITE_ONLY,
			      metadata.batch.psn, 0,
			      metadata.journal.base + place * JOURNAL_BATCH,
			      JOURNAL_BATCH, frame_bytes);
		RDMA_SET_ICRC(headers, crc, headers.reth, headers.batch);
		truncate(frame_bytes);
		writes.count(0);
	}
}

control JournalVerifyChecksum(inout headers_t headers,
			      inout metadata_t metadata)
{
	apply { }
}

/* For WRITEs only: switches do not change the IP header of forwarded packets. */
control JournalComputeChecksum(inout headers_t headers,
			       inout metadata_t metadata)
{
	apply {
		RDMA_UPDATE_IPV4(headers);
	}
}

V1Switch(DartParser(), JournalVerifyChecksum(), JournalIngress(),
	 JournalEgress(), JournalComputeChecksum(), DartDeparser()) main;
