// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that counts packets of flows for a sketch, in the memory of a collector, for BMv2's
 * simple_switch: see <dart/sketch.h> and Documentation/p4.md.
 *
 *   ingress  forwards a packet by its destination; finds the period; counts the packet in one bank
 *            of columns; takes the next strip of the other bank, if one is due, and mirrors the
 *            packet towards the collector with it
 *   egress   turns mirrored packets into the WRITEs of strips
 *
 * Packets drive all of this: time alone does nothing, and a strip leaves with each packet.
 */
#include <core.p4>
#include <v1model.p4>

#include <dart/sketch.h>
#include <dart/store.h>

#include "shared/rdma/headers.p4"
#include "shared/report.p4"
#include "shared/sizes.p4"

#define SKETCH_COLUMNS		4096	/* of a bank, at most */

#include "strip.p4"

#define HEADERS_IN_FRONT	RDMA_HEADERS_IN_FRONT
#define HEADERS_BEHIND		strip_h strip; RDMA_HEADERS_BEHIND
#include "headers.p4"
#include "shared/rdma/request.p4"

#define INGRESS_CLONE	32w1	/* instance types of simple_switch */
#define REPLICATION	32w5
#define MIRRORED	8w1	/* number of a field list */

/* Outcomes of packets. */
#define SKETCH_OTHER		8w0	/* of no flow, damaged, or not forwarded */
#define SKETCH_COUNTED		8w1
#define SKETCH_UNASSIGNED	8w2	/* the switch has no sketch */
#define SKETCH_OUTCOMES		3

/* The sketch; the switch has one if it has the address of a sketcher. */
struct sketch_t {
	bit<64> base;
	bit<32> mask;		/* columns - 1 */
	bit<16> session;	/* mirror session towards the collector */
}

/* When periods begin: period @first at @begin, us since the switch started. */
struct periods_t {
	bit<32> first;
	bit<48> begin;
	bit<48> length;		/* us */
}

/* A strip that is written. */
struct strip_t {
	bit<32> period;		/* 0: no strip */
	bit<16> number;
	bit<24> psn;
	STRIP_COLUMNS
}

struct metadata_t {
	report_t report;	/* only the key of the flow */
	@field_list(MIRRORED)
	strip_t strip;
	@field_list(MIRRORED)
	sketch_t sketch;
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
#include "v1model/rdma/icrc.p4"

/* All state belongs to ingress, which handles one packet at a time. */

/*
 * A column: the period of its counters, which are 0 in any other one, and the four counters.  So a
 * bank needs no clearing.
 */
@name(".sketch_columns")
register<bit<160>>(2 * SKETCH_COLUMNS) sketch_columns;
@name(".sketch_period")
register<bit<32>>(1) sketch_period;	/* that is counted; 0: none yet */
@name(".sketch_end")
register<bit<48>>(1) sketch_end;	/* of it, us since the switch started */
@name(".sketch_whole")
register<bit<8>>(1) sketch_whole;	/* is it counted from its begin? */
@name(".sketch_due")
register<bit<32>>(1) sketch_due;	/* the period that is sent; 0: none */
@name(".sketch_next")
register<bit<32>>(1) sketch_next;	/* the strip of it that is next */
@name(".sketch_lost")
register<bit<64>>(1) sketch_lost;	/* strips not sent before the next period ended */
@name(".sketch_dropped")
register<bit<64>>(1) sketch_dropped;	/* periods that were not whole */
@name(".sketch_psn")
register<bit<32>>(1) sketch_psn;

/* The place of a column in the register. */
#define SKETCH_AT(period, column)	(((period) & 1) * SKETCH_COLUMNS + (column))

#define SKETCH_STEP(n)							\
	part = length << n;						\
	if (since >= part) {						\
		since = since - part;					\
		period = period + (32w1 << n);				\
	}

/* Divides the time since a period began by the length of a period. */
control FindPeriod(in bit<48> now, in periods_t periods, out bit<32> period, out bit<48> end)
{
	bit<80> length;
	bit<80> since;
	bit<80> part;

	apply {
		period = periods.first;
		length = (bit<80>)periods.length;
		since = (bit<80>)(now - periods.begin);
		SKETCH_STEP(28)
		SKETCH_STEP(27)
		SKETCH_STEP(26)
		SKETCH_STEP(25)
		SKETCH_STEP(24)
		SKETCH_STEP(23)
		SKETCH_STEP(22)
		SKETCH_STEP(21)
		SKETCH_STEP(20)
		SKETCH_STEP(19)
		SKETCH_STEP(18)
		SKETCH_STEP(17)
		SKETCH_STEP(16)
		SKETCH_STEP(15)
		SKETCH_STEP(14)
		SKETCH_STEP(13)
		SKETCH_STEP(12)
		SKETCH_STEP(11)
		SKETCH_STEP(10)
		SKETCH_STEP(9)
		SKETCH_STEP(8)
		SKETCH_STEP(7)
		SKETCH_STEP(6)
		SKETCH_STEP(5)
		SKETCH_STEP(4)
		SKETCH_STEP(3)
		SKETCH_STEP(2)
		SKETCH_STEP(1)
		SKETCH_STEP(0)
		end = now - since[47:0] + periods.length;
	}
}

/* Ends the counted period: its strips are due if it was whole. */
control Turn(in bit<48> now, in periods_t periods, in bit<32> strips, out bit<32> period)
{
	FindPeriod() find_period;
	bit<32> before;
	bit<32> due;
	bit<32> next;
	bit<64> count;
	bit<48> end;
	bit<8> whole;

	apply {
		sketch_period.read(before, 0);
		sketch_end.read(end, 0);
		period = before;
		if (before == 0 || now >= end) {
			find_period.apply(now, periods, period, end);
			sketch_end.write(0, end);
		}
		if (period != before) {
			sketch_due.read(due, 0);
			sketch_next.read(next, 0);
			sketch_whole.read(whole, 0);
			if (due != 0 && next < strips) {
				sketch_lost.read(count, 0);
				sketch_lost.write(0, count + (bit<64>)(strips - next));
			}
			if (whole == 1 && period == before + 1) {
				sketch_due.write(0, before);
			} else {
				sketch_due.write(0, 0);
				sketch_dropped.read(count, 0);
				if (before != 0)
					sketch_dropped.write(0, count + 1);
			}
			sketch_next.write(0, 0);
			whole = 0;
			if (before != 0 && period == before + 1)
				whole = 1;
			sketch_whole.write(0, whole);
			sketch_period.write(0, period);
		}
	}
}

/* One more in a counter that is not saturated. */
control Increase(in bit<1> is_signed, in bit<32> crc, inout bit<32> value)
{
	apply {
		if (is_signed == 0) {
			if (value != 0xffffffff)
				value = value + 1;
		} else if (value != 0x7fffffff && value != 0x80000001) {
			if (crc[31:31] == 0)
				value = value + 1;
			else
				value = value - 1;
		}
	}
}

/* Bits @high to @low of a column are the counter of row n. */
#define SKETCH_COUNT_ROW(n, high, low)					\
	FLOW_CRC(slot##n, report)					\
	at = SKETCH_AT(period, slot##n & mask);				\
	sketch_columns.read(column, at);				\
	if (column[159:128] != period)					\
		column = period ++ 128w0;				\
	value = column[high:low];					\
	increase.apply(is_signed, slot##n, value);			\
	column[high:low] = value;					\
	sketch_columns.write(at, column);

control Count(in report_t report, in bit<32> period, in bit<32> mask, in bit<1> is_signed)
{
	Increase() increase;
	bit<160> column;
	bit<32> value;
	bit<32> at;
	bit<32> slot0;
	bit<32> slot1;
	bit<32> slot2;
	bit<32> slot3;

	apply {
		SKETCH_COUNT_ROW(0, 127, 96)
		SKETCH_COUNT_ROW(1, 95, 64)
		SKETCH_COUNT_ROW(2, 63, 32)
		SKETCH_COUNT_ROW(3, 31, 0)
	}
}

#define SKETCH_TAKE(n)							\
	sketch_columns.read(column, at + n);				\
	if (column[159:128] == due)					\
		strip.column##n = column[127:0];			\
	else								\
		strip.column##n = 0;

/* Takes the next strip that is due. */
control TakeStrip(in bit<32> strips, inout strip_t strip)
{
	bit<160> column;
	bit<32> due;
	bit<32> next;
	bit<32> psn;
	bit<32> at;

	apply {
		sketch_due.read(due, 0);
		sketch_next.read(next, 0);
		if (due != 0 && next < strips) {
			at = SKETCH_AT(due, next << DART_SKETCH_STRIP_COLUMNS_LOG2);
			FOR_EACH_COLUMN(SKETCH_TAKE)
			sketch_psn.read(psn, 0);
			sketch_psn.write(0, psn + 1);
			sketch_next.write(0, next + 1);
			strip.period = due;
			strip.number = next[15:0];
			strip.psn = psn[23:0];
		}
	}
}

control SketchIngress(inout headers_t headers, inout metadata_t metadata,
		      inout standard_metadata_t standard)
{
	Forward() forward;
	FlowKey() flow_key;
	Damage() damage;
	Turn() turn;
	Count() count;
	TakeStrip() take_strip;
	periods_t periods = { 0, 0, 0 };
	bit<8> outcome = SKETCH_OTHER;
	bit<32> period;
	bit<32> strips;
	bit<1> is_signed = 0;
	bool is_set_up;
	bool is_forwarded;
	bool is_damaged;

	@name(".sketch_packets")
	counter(SKETCH_OUTCOMES, CounterType.packets) packets;

	@name(".sketch_write_to")
	action write_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey, bit<64> base,
			bit<32> mask, bit<16> session)
	{
		metadata.peer.mac = mac;
		metadata.peer.ip = ip;
		metadata.peer.qpn = qpn;
		metadata.peer.rkey = rkey;
		metadata.sketch.base = base;
		metadata.sketch.mask = mask;
		metadata.sketch.session = session;
	}

	@name(".sketch_collector")
	table collector {
		actions = { write_to; NoAction; }
		default_action = NoAction;
	}

	/* @epoch: of the queue pair, for the control plane. */
	@noWarn("unused")
	@name(".sketch_sketcher_is")
	action sketcher_is(bit<48> mac, bit<32> ip, bit<8> kind, bit<32> first, bit<48> begin,
			   bit<48> length, bit<64> epoch)
	{
		metadata.self.mac = mac;
		metadata.self.ip = ip;
		is_signed = kind[0:0];
		periods.first = first;
		periods.begin = begin;
		periods.length = length;
	}

	@name(".sketch_sketcher")
	table sketcher {
		actions = { sketcher_is; NoAction; }
		default_action = NoAction;
	}

	apply {
		metadata.strip.period = 0;
		metadata.self.ip = 0;
		metadata.sketch.base = 0;
		metadata.sketch.mask = 0;
		collector.apply();
		sketcher.apply();
		is_set_up = metadata.self.ip != 0 && metadata.sketch.base != 0 &&
			    periods.length != 0 && metadata.sketch.mask < SKETCH_COLUMNS;
		forward.apply(headers.ethernet.destination, standard, is_forwarded);
		flow_key.apply(headers, metadata.report);
		damage.apply(headers, standard.parser_error, is_damaged);
		/* A switch must not count the WRITEs of switches. */
		if (is_forwarded && metadata.report.key != KEY_NONE && !is_damaged &&
		    standard.parser_error == error.NoError &&
		    !(metadata.report.protocol == PROTOCOL_UDP &&
		      metadata.report.destination_port == DART_STORE_UDP_PORT))
			outcome = SKETCH_COUNTED;
		if (outcome == SKETCH_COUNTED && !is_set_up)
			outcome = SKETCH_UNASSIGNED;
		packets.count((bit<32>)outcome);
		if (!is_set_up)
			return;

		strips = (metadata.sketch.mask + 1) >> DART_SKETCH_STRIP_COLUMNS_LOG2;
		turn.apply(standard.ingress_global_timestamp, periods, strips, period);
		if (outcome == SKETCH_COUNTED)
			count.apply(metadata.report, period, metadata.sketch.mask, is_signed);
		take_strip.apply(strips, metadata.strip);
		if (metadata.strip.period != 0)
			clone_preserving_field_list(CloneType.I2E,
				(bit<32>)metadata.sketch.session, MIRRORED);
	}
}

control SketchEgress(inout headers_t headers, inout metadata_t metadata,
		     inout standard_metadata_t standard)
{
	RemovePacket() remove_packet;
	RdmaRequest() request;
	bit<64> place;
	bit<32> frame_bytes;
	bit<32> crc;

	@name(".sketch_writes")
	counter(1, CounterType.packets) writes;

	apply {
		if (standard.instance_type != INGRESS_CLONE) {
			if (standard.instance_type == REPLICATION &&
			    standard.egress_port == standard.ingress_port)
				mark_to_drop(standard);
			return;
		}

		remove_packet.apply(headers);
		place = (bit<64>)(metadata.strip.period & 1) *
			(((bit<64>)metadata.sketch.mask + 1) >>
			 DART_SKETCH_STRIP_COLUMNS_LOG2) +
			(bit<64>)metadata.strip.number;
		headers.strip.setValid();
		headers.strip.period = metadata.strip.period;
		headers.strip.reporters = 1;
		headers.strip.number = metadata.strip.number;
		STRIP_FILL(metadata.strip)
		hash(crc, HashAlgorithm.crc32, 64w0,
		     { STRIP_FIELDS(headers.strip) }, 64w0x100000000);
		headers.strip.crc = crc;
		request.apply(headers, metadata.self, metadata.peer,
			      DART_STORE_UDP_SOURCE_BASE +
			      (metadata.strip.number & 1023), RDMA_UC_WRITE_ONLY,
			      metadata.strip.psn, 0,
			      metadata.sketch.base + place * STRIP_BYTES,
			      STRIP_BYTES, frame_bytes);
		RDMA_SET_ICRC(headers, crc, headers.reth, headers.strip);
		truncate(frame_bytes);
		writes.count(0);
	}
}

control SketchVerifyChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply { }
}

/* For WRITEs only: switches do not change the IP header of forwarded packets. */
control SketchComputeChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		RDMA_UPDATE_IPV4(headers);
	}
}

V1Switch(DartParser(), SketchVerifyChecksum(), SketchIngress(),
	 SketchEgress(), SketchComputeChecksum(), DartDeparser()) main;
