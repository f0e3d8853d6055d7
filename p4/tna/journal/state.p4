// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lists of a journal, in registers: each has room for one entry, because the other one of a
 * batch is in the packet that completes it.  A packet accesses a register once, for one list.
 */
#ifndef DART_TNA_JOURNAL_STATE_P4
#define DART_TNA_JOURNAL_STATE_P4

#include <dart/journal.h>

#include "tna/hash.p4"
#include "tna/headers.p4"

/* The time in units of 2^16 ns; a second, rounded up. */
#define JOURNAL_FLUSH		(32w0 + (DART_JOURNAL_FLUSH_MS * 1000000 + 65535) / 65536)

/* What becomes of a list by a packet. */
#define BATCH_NONE		8w0	/* nothing is written */
#define BATCH_FULL		8w1
#define BATCH_FLUSHED		8w2	/* its only entry, which has waited */

/* Of a list. */
#define LIST_EMPTY		8w0
#define LIST_WAITS		8w1	/* its entry was not written */
#define LIST_WRITTEN		8w2	/* its entry was flushed */

/*
 * The list of a flow, which the lowest bits of a CRC of its key choose; or, for a look, the list
 * whose turn it is.
 */
control ChooseList(inout key_t words, in bool is_look, out bit<6> list_id)
{
	CRCPolynomial<bit<32>>(DART_STORE_SHARE, true, false, false, 0,
			       0xffffffff) polynomial;
	Hash<bit<6>>(HashAlgorithm_t.CUSTOM, polynomial) hash;

	@name(".journal_hand")
	Register<bit<8>, bit<1>>(1, 0) hand;
	RegisterAction<bit<8>, bit<1>, bit<8>>(hand) turn = {
		void apply(inout bit<8> value, out bit<8> before)
		{
			before = value;
			value = value + 1;
		}
	};

	action get()
	{
		list_id = hash.get({ WHOLE_KEY(words) });
	}

	action look()
	{
		list_id = turn.execute(0)[5:0];
	}

	apply {
		if (is_look)
			look();
		else
			get();
	}
}

/* @is_look: no entry comes to the list, but its entry may have waited. */
control TurnList(in bit<6> list_id, in bool is_look, in bit<32> now,
		 out bit<8> outcome)
{
	bit<8> waits = 0;
	bit<8> before;

	@name(".journal_since")
	Register<bit<32>, bit<6>>(JOURNAL_LISTS, 0) since;
	RegisterAction<bit<32>, bit<6>, bit<8>>(since) come = {
		void apply(inout bit<32> value, out bit<8> is_old)
		{
			value = now;
			is_old = 0;
		}
	};
	RegisterAction<bit<32>, bit<6>, bit<8>>(since) age = {
		void apply(inout bit<32> value, out bit<8> is_old)
		{
			is_old = 0;
			if (now - value >= JOURNAL_FLUSH)
				is_old = 1;
		}
	};

	@name(".journal_count")
	Register<bit<8>, bit<6>>(JOURNAL_LISTS, LIST_EMPTY) count;
	RegisterAction<bit<8>, bit<6>, bit<8>>(count) add = {
		void apply(inout bit<8> value, out bit<8> found)
		{
			found = value;
			if (value == LIST_EMPTY)
				value = LIST_WAITS;
			else
				value = LIST_EMPTY;
		}
	};
	RegisterAction<bit<8>, bit<6>, bit<8>>(count) flush = {
		void apply(inout bit<8> value, out bit<8> found)
		{
			found = value;
			if (value == LIST_WAITS)
				value = LIST_WRITTEN;
		}
	};

	apply {
		outcome = BATCH_NONE;
		if (is_look)
			waits = age.execute(list_id);
		else
			come.execute(list_id);
		if (is_look) {
			if (waits != 0) {
				before = flush.execute(list_id);
				if (before == LIST_WAITS)
					outcome = BATCH_FLUSHED;
			}
		} else {
			before = add.execute(list_id);
			if (before != LIST_EMPTY)
				outcome = BATCH_FULL;
		}
	}
}

/* Batches of a list, and the lowest bits of the start: a lap of sequences raises it by one. */
struct lap_t {
	bit<32> batches;
	bit<32> start;
}

#define LAST_BATCH	0xfffffffe	/* of a lap: sequence 2^32 - 1 */

/*
 * The number of the batch in progress in its lap, from 0, and the start of the lap.  A register
 * tells one word of a pair, so both registers count batches: then they fit into one stage.
 */
control NextBatch(in bit<6> list_id, in bool is_full, out bit<32> number,
		  out bit<32> start)
{
	@name(".journal_batches")
	Register<bit<32>, bit<6>>(JOURNAL_LISTS, 0) batches;
	RegisterAction<bit<32>, bit<6>, bit<32>>(batches) end_batch = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
			if (value == LAST_BATCH)
				value = 0;
			else
				value = value + 1;
		}
	};
	RegisterAction<bit<32>, bit<6>, bit<32>>(batches) get_batch = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
		}
	};

	@name(".journal_lap")
	Register<lap_t, bit<6>>(JOURNAL_LISTS) laps;
	RegisterAction<lap_t, bit<6>, bit<32>>(laps) end_lap = {
		void apply(inout lap_t value, out bit<32> found)
		{
			found = value.start;
			if (value.batches == LAST_BATCH) {
				value.batches = 0;
				value.start = value.start + 1;
			} else {
				value.batches = value.batches + 1;
			}
		}
	};
	RegisterAction<lap_t, bit<6>, bit<32>>(laps) get_lap = {
		void apply(inout lap_t value, out bit<32> found)
		{
			found = value.start;
		}
	};

	apply {
		if (is_full) {
			number = end_batch.execute(list_id);
			start = end_lap.execute(list_id);
		} else {
			number = get_batch.execute(list_id);
			start = get_lap.execute(list_id);
		}
	}
}

/* The register of a field of entries: @former becomes its content, which @latter replaces. */
#define KEPT_FIELD(field, width, register_name)				\
	@name(register_name)						\
	Register<bit<width>, bit<6>>(JOURNAL_LISTS, 0) kept_##field;	\
	RegisterAction<bit<width>, bit<6>, bit<width>>(kept_##field)	\
		put_##field = {						\
		void apply(inout bit<width> value, out bit<width> found) \
		{							\
			found = value;					\
			value = headers.latter.field;			\
		}							\
	};								\
	RegisterAction<bit<width>, bit<6>, bit<width>>(kept_##field)	\
		get_##field = {						\
		void apply(inout bit<width> value, out bit<width> found) \
		{							\
			found = value;					\
		}							\
	};

#define PUT_FIELD(field) headers.former.field = put_##field.execute(list_id);
#define GET_FIELD(field) headers.former.field = get_##field.execute(list_id);

#define EACH_FIELD(do_it)						\
	do_it(time_high) do_it(time_low) do_it(source) do_it(tail_0)	\
	do_it(tail_1) do_it(tail_2) do_it(hop_0) do_it(hop_1)		\
	do_it(hop_2) do_it(hop_3) do_it(hop_4)

/* Eleven registers, of which a stage takes four. */
control KeepEntry(inout headers_t headers, in bit<6> list_id, in bool is_look)
{
	KEPT_FIELD(time_high, 32, ".journal_time_high")
	KEPT_FIELD(time_low, 32, ".journal_time_low")
	KEPT_FIELD(source, 32, ".journal_source")
	KEPT_FIELD(tail_0, 32, ".journal_tail_0")
	KEPT_FIELD(tail_1, 8, ".journal_tail_1")
	KEPT_FIELD(tail_2, 32, ".journal_tail_2")
	KEPT_FIELD(hop_0, 32, ".journal_hop_0")
	KEPT_FIELD(hop_1, 32, ".journal_hop_1")
	KEPT_FIELD(hop_2, 32, ".journal_hop_2")
	KEPT_FIELD(hop_3, 32, ".journal_hop_3")
	KEPT_FIELD(hop_4, 32, ".journal_hop_4")

	apply {
		if (is_look) {
			EACH_FIELD(GET_FIELD)
		} else {
			EACH_FIELD(PUT_FIELD)
		}
	}
}

#endif /* DART_TNA_JOURNAL_STATE_P4 */
