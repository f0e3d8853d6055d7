// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which requests to a ledger are sent when, for Tofino: see "Exactly once" in <dart/ledger.h>, and
 * v1model/rdma/window.p4 for the same in a switch that can access a register more than once.
 *
 * Requests have numbers, which are in registers as PSN() says.  A packet accesses the registers in
 * this order:
 *
 *   ledger_oldest   the first request without an answer
 *   ledger_end	     the next one to be made
 *   ledger_tries    how often all requests were sent again since the last progress
 *   ledger_due	     when the last progress was
 *   ledger_next     the next one to be sent
 *   ledger_fresh    the first one that was never sent
 *   ledger_word, _amount, _row   a ring of requests, by number
 *
 * So an answer only reads all of them, and a clone of it sets those that lie before the one that
 * proves it.  Another answer may come between them, so that ledger_next falls behind ledger_oldest:
 * then requests that were executed are sent again, which changes nothing.  The ring still has them,
 * because half of it is not in use.
 */
#ifndef DART_TNA_LEDGER_WINDOW_P4
#define DART_TNA_LEDGER_WINDOW_P4

#include <dart/ledger.h>

#include "tna/rdma/number.p4"
#include "headers.p4"

#define RING_BITS		10
#define RING_REQUESTS		1024
#define RING_PLACE(number)	(number[RING_BITS + 7 : 8])
#define RING_USED_MAX		PSN(RING_REQUESTS / 2)

#define OUTSTANDING		PSN(DART_LEDGER_OUTSTANDING)
#if DART_LEDGER_OUTSTANDING != 16
#error "verdicts and limits are for 16 requests without an answer"
#endif
/* Distances of numbers: 0 to 15. */
#define LESS_THAN_16		0 &&& 0xfffff000

/* A distance whose highest bit is set leads back. */
#define AHEAD			0x80000000

control OldestRequest(in bit<8> kind, in bit<32> to, out bit<32> oldest)
{
	@name(".ledger_oldest")
	Register<bit<32>, bit<1>>(1, 1) register_of;
	RegisterAction<bit<32>, bit<1>, bit<32>>(register_of) get = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
		}
	};
	/* Never back: a later answer may have come first. */
	RegisterAction<bit<32>, bit<1>, bit<32>>(register_of) settle = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			if (to - value < AHEAD)
				value = to;
			found = value;
		}
	};

	apply {
		if (kind == LOOP_DONE || kind == LOOP_REWIND ||
		    kind == LOOP_FATAL)
			oldest = settle.execute(0);
		else
			oldest = get.execute(0);
	}
}

/* @end: of the requests; with LOOP_ADD the number of the one that is made, 0 without room. */
control EndOfRequests(in bit<8> kind, in bit<32> full, out bit<32> end)
{
	/* Requests that add nothing precede all others. */
	@name(".ledger_end")
	Register<bit<32>, bit<1>>(1, PSN(DART_LEDGER_PRECEDING) + 1) register_of;
	RegisterAction<bit<32>, bit<1>, bit<32>>(register_of) get = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
		}
	};
	RegisterAction<bit<32>, bit<1>, bit<32>>(register_of) add = {
		void apply(inout bit<32> value, out bit<32> taken)
		{
			taken = 0;
			if (value != full) {
				taken = value;
				value = value + PSN(1);
			}
		}
	};

	apply {
		if (kind == LOOP_ADD)
			end = add.execute(0);
		else
			end = get.execute(0);
	}
}

/* @is_late: no answer came for so long that all requests without one are sent again. */
control TimeOut(in bit<8> kind, in bool is_idle, in bit<32> now,
		out bit<8> is_late)
{
	bit<8> tried;
	bit<32> past = 0;

	@name(".ledger_tries")
	Register<bit<8>, bit<1>>(1, 0) tries;
	RegisterAction<bit<8>, bit<1>, bit<8>>(tries) get = {
		void apply(inout bit<8> value, out bit<8> found)
		{
			found = value;
		}
	};
	RegisterAction<bit<8>, bit<1>, bit<8>>(tries) forget = {
		void apply(inout bit<8> value, out bit<8> found)
		{
			value = 0;
			found = 0;
		}
	};
	RegisterAction<bit<8>, bit<1>, bit<8>>(tries) count = {
		void apply(inout bit<8> value, out bit<8> found)
		{
			found = value;
			value = value |+| 1;
		}
	};

	@name(".ledger_due")
	Register<bit<32>, bit<1>>(1, 0) due;
	RegisterAction<bit<32>, bit<1>, bit<8>>(due) progress = {
		void apply(inout bit<32> value, out bit<8> found)
		{
			value = now;
			found = 0;
		}
	};
	RegisterAction<bit<32>, bit<1>, bit<8>>(due) look = {
		void apply(inout bit<32> value, out bit<8> found)
		{
			found = 0;
			if (past - value < AHEAD) {
				found = 1;
				value = now;
			}
		}
	};

	action pause(bit<32> units)
	{
		past = now - units;
	}

	/* After each try twice the time, up to the longest one. */
	table pauses {
		key = { tried : exact; }
		actions = { pause; }
		const default_action =
			pause(LEDGER_UNITS(DART_LEDGER_RETRY_MAX_MS));
		const entries = {
			0 : pause(LEDGER_UNITS(DART_LEDGER_RETRY_MS));
			1 : pause(LEDGER_UNITS(2 * DART_LEDGER_RETRY_MS));
			2 : pause(LEDGER_UNITS(4 * DART_LEDGER_RETRY_MS));
			3 : pause(LEDGER_UNITS(8 * DART_LEDGER_RETRY_MS));
		}
		size = 4;
	}

	apply {
		is_late = 0;
		if (kind == LOOP_DONE || kind == LOOP_REWIND ||
		    kind == LOOP_FATAL || (kind == LOOP_TICK && is_idle)) {
			forget.execute(0);
			progress.execute(0);
		} else if (kind == LOOP_LATE) {
			count.execute(0);
		} else if (kind == LOOP_TICK) {
			tried = get.execute(0);
			pauses.apply();
			is_late = look.execute(0);
		}
	}
}

/*
 * @number: of the request that is sent now, 0 for none.  Requests are sent up to @limit; after
 * LOOP_REWIND and LOOP_LATE the next one is @to.
 */
control NextRequest(in bit<8> kind, in bool may_send, in bit<32> limit,
		    in bit<32> to, out bit<32> number)
{
	@name(".ledger_next")
	Register<bit<32>, bit<1>>(1, 1) register_of;
	RegisterAction<bit<32>, bit<1>, bit<32>>(register_of) take = {
		void apply(inout bit<32> value, out bit<32> taken)
		{
			taken = 0;
			if (value != limit) {
				taken = value;
				value = value + PSN(1);
			}
		}
	};
	RegisterAction<bit<32>, bit<1>, bit<32>>(register_of) set = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			value = to;
			found = 0;
		}
	};

	apply {
		number = 0;
		if (kind == LOOP_REWIND || kind == LOOP_LATE)
			set.execute(0);
		else if (may_send)
			number = take.execute(0);
	}
}

/* @number: of a request that is sent.  @fresh: the first one that was never sent, before. */
control FreshRequest(in bit<32> number, out bit<32> fresh)
{
	@name(".ledger_fresh")
	Register<bit<32>, bit<1>>(1, 1) register_of;
	RegisterAction<bit<32>, bit<1>, bit<32>>(register_of) send = {
		void apply(inout bit<32> value, out bit<32> found)
		{
			found = value;
			if (value == number)
				value = value + PSN(1);
		}
	};

	apply {
		fresh = send.execute(0);
	}
}

#define RING_REGISTER(field, width, register_name, from)		\
	@name(register_name)						\
	Register<bit<width>, bit<RING_BITS>>(RING_REQUESTS, 0) kept_##field; \
	RegisterAction<bit<width>, bit<RING_BITS>, bit<width>>(		\
		kept_##field) put_##field = {				\
		void apply(inout bit<width> value, out bit<width> found) \
		{							\
			found = from;					\
			value = from;					\
		}							\
	};								\
	RegisterAction<bit<width>, bit<RING_BITS>, bit<width>>(		\
		kept_##field) get_##field = {				\
		void apply(inout bit<width> value, out bit<width> found) \
		{							\
			found = value;					\
		}							\
	};

/* Keeps the request that @headers.loop describes, or gets the one that is sent. */
control RingOfRequests(inout headers_t headers, in bit<RING_BITS> place,
		       in bool is_new)
{
	RING_REGISTER(word, 32, ".ledger_word", headers.loop.word)
	RING_REGISTER(amount, 32, ".ledger_amount", headers.loop.amount)
	RING_REGISTER(row, 8, ".ledger_row", headers.loop.row)

	apply {
		if (is_new) {
			put_word.execute(place);
			put_amount.execute(place);
			put_row.execute(place);
		} else {
			headers.loop.word = get_word.execute(place);
			headers.loop.amount = get_amount.execute(place);
			headers.loop.row = get_row.execute(place);
		}
	}
}

#endif /* DART_TNA_LEDGER_WINDOW_P4 */
