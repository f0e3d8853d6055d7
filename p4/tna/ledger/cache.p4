// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache of sums in front of a ledger, for Tofino: see "The cache" in <dart/ledger.h>.
 *
 * A packet exchanges the key of its row before it knows whether the row had that key, because each
 * word of the key is a register, which a packet accesses once.  A generated packet looks at the row
 * whose turn it is.
 */
#ifndef DART_TNA_LEDGER_CACHE_P4
#define DART_TNA_LEDGER_CACHE_P4

#include "shared/ledger/state.p4"
#include "tna/hash.p4"
#include "headers.p4"

/* The time in units of 2^16 ns; a number of milliseconds, rounded up. */
#define LEDGER_UNITS(ms)	(32w0 + ((ms) * 1000000 + 65535) / 65536)

/* A sum is sent before its next amount could overflow it: packets are shorter than 2^31 bytes. */
#define SUM_IS_LARGE		0x80000000

#define KEY_REGISTER(field, width, register_name, own)			\
	@name(register_name)						\
	Register<bit<width>, bit<LEDGER_CACHE_BITS>>(LEDGER_CACHE_ROWS, 0) \
		cached_##field;						\
	RegisterAction<bit<width>, bit<LEDGER_CACHE_BITS>, bit<width>>(	\
		cached_##field) put_##field = {				\
		void apply(inout bit<width> value, out bit<width> found) \
		{							\
			found = value;					\
			value = own;					\
		}							\
	};								\
	RegisterAction<bit<width>, bit<LEDGER_CACHE_BITS>, bit<width>>(	\
		cached_##field) get_##field = {				\
		void apply(inout bit<width> value, out bit<width> found) \
		{							\
			found = value;					\
		}							\
	};

/* Chooses the row of a packet's flow, or the row whose turn it is. */
control ChooseRow(in headers_t headers, in report_t report, in bool is_look,
		  out bit<LEDGER_CACHE_BITS> row)
{
	CRCPolynomial<bit<32>>(DART_STORE_CHECKSUM_0, true, false, false,
			       0xffffffff, 0xffffffff) polynomial;
	Hash<bit<LEDGER_CACHE_BITS>>(HashAlgorithm_t.CUSTOM, polynomial) hash;

	@name(".ledger_cache_hand")
	Register<bit<16>, bit<1>>(1, 0) hand;
	RegisterAction<bit<16>, bit<1>, bit<16>>(hand) turn = {
		void apply(inout bit<16> value, out bit<16> before)
		{
			before = value;
			value = value + 1;
		}
	};

	action get()
	{
		row = hash.get({ FLOW(headers.ipv4, report) });
	}

	action look()
	{
		row = turn.execute(0)[LEDGER_CACHE_BITS - 1 : 0];
	}

	apply {
		if (is_look)
			look();
		else
			get();
	}
}

/*
 * Adds @amount to the row of the packet's flow, or looks at a row.  @evicted: the sum that must be
 * sent, 0 if none, and its key.
 */
control CountInCache(in headers_t headers, in report_t report,
		     in bit<LEDGER_CACHE_BITS> row, in bit<32> amount,
		     in bool is_look, in bit<32> now, inout evicted_t evicted)
{
	bit<32> other_source;
	bit<32> other_destination;
	bit<16> other_source_port;
	bit<16> other_destination_port;
	bit<8> other_protocol;
	bit<8> is_old = 0;
	bool is_hit = false;

	KEY_REGISTER(source, 32, ".ledger_cache_source", headers.ipv4.source)
	KEY_REGISTER(destination, 32, ".ledger_cache_destination",
		     headers.ipv4.destination)
	KEY_REGISTER(source_port, 16, ".ledger_cache_source_port",
		     report.source_port)
	KEY_REGISTER(destination_port, 16, ".ledger_cache_destination_port",
		     report.destination_port)
	KEY_REGISTER(protocol, 8, ".ledger_cache_protocol", report.protocol)

	/* When the first amount of the sum came, or later. */
	@name(".ledger_cache_since")
	Register<bit<32>, bit<LEDGER_CACHE_BITS>>(LEDGER_CACHE_ROWS, 0) since;
	RegisterAction<bit<32>, bit<LEDGER_CACHE_BITS>, bit<8>>(since) come = {
		void apply(inout bit<32> value, out bit<8> found)
		{
			value = now;
			found = 0;
		}
	};
	RegisterAction<bit<32>, bit<LEDGER_CACHE_BITS>, bit<8>>(since) age = {
		void apply(inout bit<32> value, out bit<8> found)
		{
			found = 0;
			if (now - value >= LEDGER_UNITS(DART_LEDGER_FLUSH_MS)) {
				found = 1;
				value = now;
			}
		}
	};

	@name(".ledger_cache_sum")
	Register<bit<32>, bit<LEDGER_CACHE_BITS>>(LEDGER_CACHE_ROWS, 0) sum;
	RegisterAction<bit<32>, bit<LEDGER_CACHE_BITS>, bit<32>>(sum) add = {
		void apply(inout bit<32> value, out bit<32> sent)
		{
			sent = 0;
			if (value >= SUM_IS_LARGE) {
				sent = value;
				value = amount;
			} else {
				value = value + amount;
			}
		}
	};
	RegisterAction<bit<32>, bit<LEDGER_CACHE_BITS>, bit<32>>(sum) begin = {
		void apply(inout bit<32> value, out bit<32> sent)
		{
			sent = value;
			value = amount;
		}
	};
	RegisterAction<bit<32>, bit<LEDGER_CACHE_BITS>, bit<32>>(sum) take = {
		void apply(inout bit<32> value, out bit<32> sent)
		{
			sent = value;
			value = 0;
		}
	};

	action compare()
	{
		other_source = evicted.source ^ headers.ipv4.source;
		other_destination = evicted.destination ^
				    headers.ipv4.destination;
		other_source_port = evicted.source_port ^ report.source_port;
		other_destination_port = evicted.destination_port ^
					 report.destination_port;
		other_protocol = evicted.protocol ^ report.protocol;
	}

	action hit()
	{
		is_hit = true;
	}

	table same {
		key = {
			other_source : exact;
			other_destination : exact;
			other_source_port : exact;
			other_destination_port : exact;
			other_protocol : exact;
		}
		actions = { hit; NoAction; }
		const default_action = NoAction;
		const entries = {
			(0, 0, 0, 0, 0) : hit();
		}
		size = 1;
	}

	apply {
		if (is_look) {
			evicted.source = get_source.execute(row);
			evicted.destination = get_destination.execute(row);
			evicted.source_port = get_source_port.execute(row);
			evicted.destination_port =
				get_destination_port.execute(row);
			evicted.protocol = get_protocol.execute(row);
			is_old = age.execute(row);
			if (is_old != 0)
				evicted.amount = take.execute(row);
		} else {
			evicted.source = put_source.execute(row);
			evicted.destination = put_destination.execute(row);
			evicted.source_port = put_source_port.execute(row);
			evicted.destination_port =
				put_destination_port.execute(row);
			evicted.protocol = put_protocol.execute(row);
			compare();
			same.apply();
			if (is_hit) {
				evicted.amount = add.execute(row);
			} else {
				come.execute(row);
				evicted.amount = begin.execute(row);
			}
		}
	}
}

#endif /* DART_TNA_LEDGER_CACHE_P4 */
