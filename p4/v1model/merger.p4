// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch that adds up the strips of sketchers on their way to a collector, for BMv2's simple_switch:
 * see "Merging" in <dart/sketch.h> and Documentation/p4.md.
 *
 *   ingress  takes the WRITE of a strip by one of its sketchers and adds it to the sum of its place;
 *            forwards other packets by their destination.  After each of them: takes a sum that is
 *            complete, or leaves its place, or has waited, and mirrors the packet towards the collector
 *   egress   turns mirrored packets into the WRITEs of sums
 *
 * Packets drive all of this: time alone does nothing.  A packet makes one WRITE.
 */
#include <core.p4>
#include <v1model.p4>

#include <dart/sketch.h>
#include <dart/store.h>

#include "shared/rdma/headers.p4"
#include "shared/report.p4"
#include "shared/sizes.p4"

#define MERGE_STRIPS		256	/* of a bank, at most */
#define MERGE_PLACES		(2 * MERGE_STRIPS)
#define MERGE_SKETCHERS		128	/* also those that the control plane replaces */
#define MERGE_UDP_LENGTH	(8 + 12 + 16 + STRIP_BYTES + 4)
#define MERGE_REPORTERS_MAX	0xffff

#include "strip.p4"

#define HEADERS_IN_FRONT
#define HEADERS_BEHIND							\
	bth_h bth;							\
	reth_h reth;							\
	strip_h strip;							\
	icrc_h arrived;							\
	icrc_h icrc;
#include "headers.p4"

#define INGRESS_CLONE	32w1	/* instance types of simple_switch */
#define REPLICATION	32w5
#define MIRRORED	8w1	/* number of a field list */

/* Outcomes of packets. */
#define MERGE_OTHER		8w0	/* no WRITE of a sketcher */
#define MERGE_GATHERED		8w1	/* added to a sum that waits */
#define MERGE_WRITTEN		8w2	/* led to the WRITE of a sum */
#define MERGE_STALE		8w3	/* in its sum already, or of an earlier period */
#define MERGE_TRUNCATED		8w4
#define MERGE_MALFORMED		8w5
#define MERGE_DAMAGED		8w6	/* a wrong ICRC, or a wrong checksum of the IPv4 header */
#define MERGE_OUTCOMES		7

/* The part of the switch. */
struct part_t {
	bit<48> mac;
	bit<32> ip;
	bit<24> qpn;
	bit<32> rkey;
	bit<64> base;
	bit<16> mask;		/* strips - 1 */
	bit<16> session;	/* mirror session towards the collector */
}

struct self_t {
	bit<48> mac;
	bit<32> ip;
}

struct translator_t {
	bit<1> is_signed;
	bit<64> sketchers;	/* a bit for each of them */
	bit<48> age;		/* us, after which a sum is written that lacks sketchers */
	bit<48> forget;		/* us, after which a sum makes room for an earlier period, too */
}

/* A sum that is written. */
struct sum_t {
	bit<32> period;		/* 0: no sum */
	bit<16> reporters;
	bit<16> number;
	bit<24> psn;
	STRIP_COLUMNS
}

struct metadata_t {
	@field_list(MIRRORED)
	sum_t sum;
	@field_list(MIRRORED)
	part_t part;
	@field_list(MIRRORED)
	self_t self;
}

/* A WRITE that can be one of a strip; all other packets keep their bytes. */
#define UDP_PAYLOADS							\
	DART_STORE_UDP_PORT: bth;					\
	default: accept;
#define LAST_STATES							\
	state bth {							\
		packet.extract(headers.bth);				\
		transition select(headers.bth.opcode) {			\
			DART_STORE_BTH_OPCODE: reth;			\
			default: accept;				\
		}							\
	}								\
									\
	state reth {							\
		packet.extract(headers.reth);				\
		transition select(headers.udp.length, headers.reth.length) { \
			(MERGE_UDP_LENGTH, STRIP_BYTES): strip;		\
			default: accept;				\
		}							\
	}								\
									\
	state strip {							\
		packet.extract(headers.strip);				\
		packet.extract(headers.arrived);			\
		transition accept;					\
	}

#include "parser.p4"
#include "damage.p4"
#include "forward.p4"
#include "icrc.p4"
#include "replace.p4"
#include "shared/frame.p4"

#define SWAPPED(crc)	crc[7:0] ++ crc[15:8] ++ crc[23:16] ++ crc[31:24]

/* All state belongs to ingress, which handles one packet at a time.  Sums by bank and number. */
@name(".merge_period")
register<bit<32>>(MERGE_PLACES) merge_period;		/* 0: no strip has come yet */
@name(".merge_reporters")
register<bit<32>>(MERGE_PLACES) merge_reporters;
@name(".merge_written")
register<bit<32>>(MERGE_PLACES) merge_written;		/* reporters of the last WRITE */
@name(".merge_sketchers")
register<bit<64>>(MERGE_PLACES) merge_sketchers;	/* bits of those whose strips are in it */
@name(".merge_begun")
register<bit<48>>(MERGE_PLACES) merge_begun;		/* the first strip of the period came, us */
@name(".merge_since")
register<bit<48>>(MERGE_PLACES) merge_since;		/* the first strip that was not written, us */
@name(".merge_columns")
register<bit<128>>(16 * MERGE_PLACES) merge_columns;
@name(".merge_hand")
register<bit<32>>(1) merge_hand;			/* the sum that is looked at next */
@name(".merge_psn")
register<bit<32>>(1) merge_psn;

#define MERGE_AT(period, number)					\
	((period & 1) * MERGE_STRIPS + (bit<32>)(number))
#define MERGE_COLUMNS_AT(place)	(place << DART_SKETCH_STRIP_COLUMNS_LOG2)

#define IS_LAST(value)							\
	((value) == 0x7fffffff || (value) == 0x80000001 || (value) == 0x80000000)

/* The sum of two counters, which stays at the last value. */
control AddCounter(in bit<1> is_signed, in bit<32> more, inout bit<32> value)
{
	bit<32> sum;

	apply {
		if (is_signed == 0) {
			value = value |+| more;
		} else {
			sum = value + more;
			if (IS_LAST(value))
				sum = value;
			else if (IS_LAST(more))
				sum = more;
			else if (value[31:31] == more[31:31] && sum[31:31] != more[31:31])
				sum = 0x7fffffff + (bit<32>)more[31:31] + (bit<32>)more[31:31];
			if (sum == 0x80000000)
				sum = 0x80000001;
			value = sum;
		}
	}
}

#define ADD_COUNTER(high, low)						\
	value = column[high:low];					\
	add_counter.apply(is_signed, more[high:low], value);		\
	column[high:low] = value;

/* Adds the counters of a column to those of the sum, which are 0 before its first strip. */
control AddColumn(in bit<1> is_signed, in bool is_first, in bit<32> at, in bit<128> more)
{
	AddCounter() add_counter;
	bit<128> column;
	bit<32> value;

	apply {
		merge_columns.read(column, at);
		if (is_first)
			column = 0;
		ADD_COUNTER(127, 96)
		ADD_COUNTER(95, 64)
		ADD_COUNTER(63, 32)
		ADD_COUNTER(31, 0)
		merge_columns.write(at, column);
	}
}

#define ADD_COLUMN(n)							\
	add_column.apply(translator.is_signed, sketchers == 0,		\
			 MERGE_COLUMNS_AT(place) + n, strip.column##n);

#define TAKE_COLUMN(n)							\
	merge_columns.read(sum.column##n, MERGE_COLUMNS_AT(place) + n);

/* Takes the sum at a place, which is written now. */
control TakeSum(in bit<32> place, in bit<32> period, in bit<32> reporters, inout sum_t sum)
{
	bit<32> psn;

	apply {
		merge_psn.read(psn, 0);
		merge_psn.write(0, psn + 1);
		FOR_EACH_COLUMN(TAKE_COLUMN)
		merge_written.write(place, reporters);
		sum.period = period;
		sum.reporters = reporters[15:0];
		sum.number = place[15:0] & (MERGE_STRIPS - 1);
		sum.psn = psn[23:0];
	}
}

/* Adds the strip of a sketcher, whose bit is set, and takes the sum if its WRITE is due. */
control AddStrip(in strip_h strip, in bit<64> sketcher, in translator_t translator, in bit<48> now,
		 inout sum_t sum, out bit<8> outcome)
{
	AddColumn() add_column;
	TakeSum() take_former;
	TakeSum() take_sum;
	bit<64> sketchers;
	bit<48> begun;
	bit<32> place;
	bit<32> period;
	bit<32> reporters;
	bit<32> written;

	apply {
		outcome = MERGE_GATHERED;
		place = MERGE_AT(strip.period, strip.number);
		merge_period.read(period, place);
		merge_reporters.read(reporters, place);
		merge_written.read(written, place);
		merge_sketchers.read(sketchers, place);
		merge_begun.read(begun, place);
		if (period != strip.period &&
		    (strip.period > period || now - begun >= translator.forget)) {
			if (period != 0 && reporters != written) {
				take_former.apply(place, period, reporters, sum);
				outcome = MERGE_WRITTEN;
			}
			period = strip.period;
			reporters = 0;
			written = 0;
			sketchers = 0;
			merge_period.write(place, period);
			merge_written.write(place, 0);
			merge_begun.write(place, now);
		}
		if (period != strip.period || sketchers & sketcher != 0) {
			outcome = MERGE_STALE;
		} else {
			if (reporters == written)
				merge_since.write(place, now);
			FOR_EACH_COLUMN(ADD_COLUMN)
			sketchers = sketchers | sketcher;
			reporters = reporters + (bit<32>)strip.reporters;
			if (reporters > MERGE_REPORTERS_MAX)
				reporters = MERGE_REPORTERS_MAX;
			merge_sketchers.write(place, sketchers);
			merge_reporters.write(place, reporters);
			if (outcome == MERGE_GATHERED && sketchers == translator.sketchers) {
				take_sum.apply(place, period, reporters, sum);
				outcome = MERGE_WRITTEN;
			}
		}
	}
}

/* Looks at the sum that is next: takes it if strips have waited in it. */
control LookAtSum(in part_t part, in translator_t translator, in bit<48> now, inout sum_t sum)
{
	TakeSum() take_sum;
	bit<48> since;
	bit<32> place;
	bit<32> period;
	bit<32> reporters;
	bit<32> written;

	apply {
		if (sum.period == 0) {
			/* The strips of a bank, then those of the other one. */
			merge_hand.read(place, 0);
			place = (place + 1) & (MERGE_PLACES - 1);
			if (place[15:0] & (MERGE_STRIPS - 1) > part.mask)
				place = (place + MERGE_STRIPS) & MERGE_STRIPS;
			merge_hand.write(0, place);
			merge_period.read(period, place);
			merge_reporters.read(reporters, place);
			merge_written.read(written, place);
			merge_since.read(since, place);
			if (period != 0 && reporters != written && now - since >= translator.age)
				take_sum.apply(place, period, reporters, sum);
		}
	}
}

/* Judges the WRITE of a sketcher. */
control JudgeStrip(in headers_t headers, in error parser_error, in bool is_damaged,
		   in bit<16> mask, out bit<8> outcome)
{
	bit<32> crc;
	bit<32> icrc;

	apply {
		outcome = MERGE_GATHERED;
		if (is_damaged) {
			outcome = MERGE_DAMAGED;
		} else if (headers.ipv4.ihl != 5 || headers.udp.length != MERGE_UDP_LENGTH ||
			   headers.reth.length != STRIP_BYTES) {
			outcome = MERGE_MALFORMED;
		} else if (parser_error != error.NoError) {
			outcome = MERGE_TRUNCATED;
		} else {
			ICRC_OF(icrc, BEFORE_SLOT(headers), headers.strip);
			hash(crc, HashAlgorithm.crc32, 64w0,
			     { STRIP_FIELDS(headers.strip) }, 64w0x100000000);
			if (headers.arrived.icrc != SWAPPED(icrc))
				outcome = MERGE_DAMAGED;
			else if (headers.strip.crc != crc || headers.strip.period == 0 ||
				 headers.strip.reporters == 0 || headers.strip.number > mask)
				outcome = MERGE_MALFORMED;
		}
	}
}

control MergerIngress(inout headers_t headers, inout metadata_t metadata,
		      inout standard_metadata_t standard)
{
	Forward() forward;
	Damage() damage;
	JudgeStrip() judge_strip;
	AddStrip() add_strip;
	LookAtSum() look_at_sum;
	translator_t translator = { 0, 0, 0, 0 };
	bit<8> outcome = MERGE_OTHER;
	bit<64> sketcher = 0;
	bit<48> now;
	bool is_set_up;
	bool is_forwarded;
	bool is_damaged;

	@name(".merge_packets")
	counter(MERGE_OUTCOMES, CounterType.packets) packets;

	@name(".merge_write_to")
	action write_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey, bit<64> base,
			bit<16> mask, bit<16> session)
	{
		metadata.part.mac = mac;
		metadata.part.ip = ip;
		metadata.part.qpn = qpn;
		metadata.part.rkey = rkey;
		metadata.part.base = base;
		metadata.part.mask = mask;
		metadata.part.session = session;
	}

	@name(".merge_collector")
	table collector {
		actions = { write_to; NoAction; }
		default_action = NoAction;
	}

	/* @epoch: of the queue pair, for the control plane. */
	@noWarn("unused")
	@name(".merge_translator_is")
	action translator_is(bit<48> mac, bit<32> ip, bit<8> kind, bit<64> sketchers, bit<48> age,
			     bit<48> forget, bit<64> epoch)
	{
		metadata.self.mac = mac;
		metadata.self.ip = ip;
		translator.is_signed = kind[0:0];
		translator.sketchers = sketchers;
		translator.age = age;
		translator.forget = forget;
	}

	@name(".merge_translator")
	table self {
		actions = { translator_is; NoAction; }
		default_action = NoAction;
	}

	@name(".merge_sketcher_is")
	action sketcher_is(bit<8> number)
	{
		sketcher = 64w1 << number;
	}

	/* By the address and the queue pair of a sketcher. */
	@name(".merge_sketcher")
	table sketchers {
		key = {
			headers.ipv4.source ++ headers.bth.queue_pair : exact
				@name("source");
		}
		actions = { sketcher_is; NoAction; }
		default_action = NoAction;
		size = MERGE_SKETCHERS;
	}

	apply {
		now = standard.ingress_global_timestamp;
		metadata.sum.period = 0;
		metadata.self.ip = 0;
		metadata.part.base = 0;
		metadata.part.mask = 0;
		collector.apply();
		self.apply();
		is_set_up = metadata.self.ip != 0 && metadata.part.base != 0 &&
			    metadata.part.mask < MERGE_STRIPS;
		if (is_set_up && headers.ipv4.isValid() && headers.reth.isValid() &&
		    sketchers.apply().hit) {
			damage.apply(headers, standard.parser_error, is_damaged);
			judge_strip.apply(headers, standard.parser_error, is_damaged,
					  metadata.part.mask, outcome);
		}
		if (outcome == MERGE_GATHERED) {
			mark_to_drop(standard);
			add_strip.apply(headers.strip, sketcher, translator, now, metadata.sum,
					outcome);
		} else {
			forward.apply(headers.ethernet.destination, standard, is_forwarded);
		}
		packets.count((bit<32>)outcome);
		if (is_set_up) {
			look_at_sum.apply(metadata.part, translator, now, metadata.sum);
			look_at_sum.apply(metadata.part, translator, now, metadata.sum);
			look_at_sum.apply(metadata.part, translator, now, metadata.sum);
			look_at_sum.apply(metadata.part, translator, now, metadata.sum);
		}
		if (metadata.sum.period != 0)
			clone_preserving_field_list(CloneType.I2E,
				(bit<32>)metadata.part.session, MIRRORED);
	}
}

control MergerEgress(inout headers_t headers, inout metadata_t metadata,
		     inout standard_metadata_t standard)
{
	RemovePacket() remove_packet;
	WriteFrame() write_frame;
	bit<64> place;
	bit<32> crc;

	@name(".merge_writes")
	counter(1, CounterType.packets) writes;

	apply {
		if (standard.instance_type != INGRESS_CLONE) {
			if (standard.instance_type == REPLICATION &&
			    standard.egress_port == standard.ingress_port)
				mark_to_drop(standard);
			return;
		}

		remove_packet.apply(headers);
		headers.arrived.setInvalid();
		place = (bit<64>)(metadata.sum.period & 1) * ((bit<64>)metadata.part.mask + 1) +
			(bit<64>)metadata.sum.number;
		headers.ethernet.setValid();
		headers.ethernet.destination = metadata.part.mac;
		headers.ipv4.setValid();
		headers.ipv4.destination = metadata.part.ip;
		headers.udp.setValid();
		headers.bth.setValid();
		headers.bth.queue_pair = metadata.part.qpn;
		headers.bth.psn = metadata.sum.psn;
		headers.reth.setValid();
		headers.reth.rkey = metadata.part.rkey;
		headers.reth.address = metadata.part.base + place * STRIP_BYTES;
		headers.strip.setValid();
		headers.strip.period = metadata.sum.period;
		headers.strip.reporters = metadata.sum.reporters;
		headers.strip.number = metadata.sum.number;
		STRIP_FILL(metadata.sum)
		hash(crc, HashAlgorithm.crc32, 64w0,
		     { STRIP_FIELDS(headers.strip) }, 64w0x100000000);
		headers.strip.crc = crc;
		write_frame.apply(headers, metadata.self.mac, metadata.self.ip,
				  DART_STORE_UDP_SOURCE_BASE + (metadata.sum.number & 1023),
				  STRIP_BYTES, 0);
		ICRC_OF(crc, BEFORE_SLOT(headers), headers.strip);
		headers.icrc.icrc = SWAPPED(crc);
		truncate(14 + (bit<32>)headers.ipv4.length);
		writes.count(0);
	}
}

control MergerVerifyChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply { }
}

/* For WRITEs only: switches do not change the IP header of forwarded packets. */
control MergerComputeChecksum(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		UPDATE_REPORT(headers)
	}
}

V1Switch(DartParser(), MergerVerifyChecksum(), MergerIngress(), MergerEgress(),
	 MergerComputeChecksum(), DartDeparser()) main;
