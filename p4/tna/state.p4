// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of a switch, and its random numbers.  A packet accesses a register
 * once: one RegisterAction reads and writes it.
 */
#ifndef DART_TNA_STATE_P4
#define DART_TNA_STATE_P4

#include <dart/store.h>

#include "shared/sizes.p4"

/* Each @copy of @n gets one nth of the random numbers. */
#define SIDES 4096
#define SIDE(n, copy)							\
	(0, n, copy * SIDES / n .. (copy + 1) * SIDES / n - 1) : choose(copy);
#define ALL(n)								\
	(1, n, 0 .. n - 1) : take();

#define NO_COPY		8w255

/*
 * Chooses a copy, each with the same probability; with @all_copies, copy @replica.
 * NO_COPY if the collector has no such copy; other collectors of the group may.  Journals have no
 * copies.
 */
@noWarn("unused")
control ChooseCopy(in bit<8> all_copies, in bit<8> redundancy,
		   in bit<8> replica, out bit<8> copy)
{
	Random<bit<12>>() dice;
	bit<12> side;

	action choose(bit<8> number)
	{
		copy = number;
	}

	action take()
	{
		copy = replica;
	}

	table sides {
		key = {
			all_copies : exact;
			redundancy : exact;
			side : range;
		}
		actions = { choose; take; }
		const entries = {
			SIDE(1, 0)
			SIDE(2, 0) SIDE(2, 1)
			SIDE(3, 0) SIDE(3, 1) SIDE(3, 2)
			SIDE(4, 0) SIDE(4, 1) SIDE(4, 2) SIDE(4, 3)
			SIDE(5, 0) SIDE(5, 1) SIDE(5, 2) SIDE(5, 3) SIDE(5, 4)
			SIDE(6, 0) SIDE(6, 1) SIDE(6, 2) SIDE(6, 3) SIDE(6, 4)
			SIDE(6, 5)
			SIDE(7, 0) SIDE(7, 1) SIDE(7, 2) SIDE(7, 3) SIDE(7, 4)
			SIDE(7, 5) SIDE(7, 6)
			SIDE(8, 0) SIDE(8, 1) SIDE(8, 2) SIDE(8, 3) SIDE(8, 4)
			SIDE(8, 5) SIDE(8, 6) SIDE(8, 7)
			ALL(1) ALL(2) ALL(3) ALL(4)
			ALL(5) ALL(6) ALL(7) ALL(8)
		}
		const default_action = choose(NO_COPY);
		size = COPY_ENTRIES;
	}

	apply {
		if (all_copies == 1)
			side = (bit<12>)replica;
		else
			side = dice.get();
		sides.apply();
	}
}

/* The PSN of this report: the lowest 24 bits of the register. */
control Psn(in bit<8> collector, out bit<24> psn)
{
	@name(".dart_psn")
	Register<bit<32>, bit<8>>(COLLECTOR_ENTRIES, 0) next;
	RegisterAction<bit<32>, bit<8>, bit<32>>(next) count = {
		void apply(inout bit<32> value, out bit<32> before)
		{
			before = value;
			value = value + 1;
		}
	};

	apply {
		psn = count.execute(collector)[23:0];
	}
}

/*
 * Tells whether the path of the flow with this @crc differs from the path that was
 * reported last.  Flows that share a place in the cache are reported more often than
 * necessary, never less.  @now: the new content of the cache.
 */
control Change(in bit<160> path, in bit<32> crc, inout bit<32> now,
	       out bit<8> changed)
{
	Hash<bit<32>>(HashAlgorithm_t.CRC32) of_path;

	@name(".dart_cache")
	Register<bit<32>, bit<CACHE_BITS>>(CACHE_ENTRIES, 0) cache;
	RegisterAction<bit<32>, bit<CACHE_BITS>, bit<8>>(cache) exchange = {
		void apply(inout bit<32> before, out bit<8> is_other)
		{
			is_other = 0;
			if (before != now)
				is_other = 1;
			before = now;
		}
	};

	action get()
	{
		now = of_path.get({ crc, path });
	}

	apply {
		get();
		changed = exchange.execute(crc[CACHE_BITS +
					       DART_STORE_SHARE_BITS - 1 :
					       DART_STORE_SHARE_BITS]);
	}
}

#endif /* DART_TNA_STATE_P4 */
