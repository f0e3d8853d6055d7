// SPDX-License-Identifier: GPL-2.0-only
/* The cache of sums in front of a ledger, for v1model: see "The cache" in <dart/ledger.h>. */
#ifndef DART_V1MODEL_LEDGER_CACHE_P4
#define DART_V1MODEL_LEDGER_CACHE_P4

#include "shared/ledger/state.p4"
#include "shared/report.p4"

@name(".ledger_cache_key")
register<bit<LEDGER_KEY_BITS>>(LEDGER_CACHE_ROWS) ledger_cache_key;
@name(".ledger_cache_sum")
register<bit<64>>(LEDGER_CACHE_ROWS) ledger_cache_sum;
@name(".ledger_cache_since")
register<bit<48>>(LEDGER_CACHE_ROWS) ledger_cache_since;
@name(".ledger_cache_hand")
register<bit<32>>(1) ledger_cache_hand;	/* the row that is looked at next */

/*
 * Adds @amount to the key of @report.  A row of another key must be sent first: it becomes @sent,
 * or, without @has_room for its requests, nothing is added.
 */
control AddToCache(in report_t report, in bit<64> amount, in bit<48> now,
		   in bool has_room, out ledger_row_t sent, out bool is_added)
{
	bit<LEDGER_KEY_BITS> key;
	bit<32> checksum0;
	bit<32> index;
	bit<64> sum;

	apply {
		sent.sum = 0;
		sent.key = 0;
		sent.since = 0;
		is_added = true;
		FLOW_CRC(checksum0, report)
		index = (bit<32>)checksum0[LEDGER_CACHE_BITS - 1 : 0];
		key = report.key ++ report.source ++ report.destination ++
		      report.source_port ++ report.destination_port ++
		      report.protocol;
		ledger_cache_sum.read(sum, index);
		if (sum != 0) {
			ledger_cache_key.read(sent.key, index);
			ledger_cache_since.read(sent.since, index);
		}
		if (sum != 0 && sent.key == key && sum + amount >= sum) {
			ledger_cache_sum.write(index, sum + amount);
		} else if (sum != 0 && !has_room) {
			is_added = false;
		} else {
			sent.sum = sum;
			ledger_cache_key.write(index, key);
			ledger_cache_sum.write(index, amount);
			ledger_cache_since.write(index, now);
		}
	}
}

#define LEDGER_LOOK(n)							\
	index = (hand + n) & (LEDGER_CACHE_ROWS - 1);			\
	ledger_cache_sum.read(sum, index);				\
	ledger_cache_since.read(since, index);				\
	if (sent.sum == 0 && sum != 0 && now - since >= LEDGER_FLUSH_US) { \
		sent.sum = sum;						\
		sent.since = since;					\
		found = index;						\
		passed = n + 1;						\
	}

/* Looks at the next rows of the cache: @sent is a row that has an amount for long enough. */
control LookAtCache(in bit<48> now, inout ledger_row_t sent)
{
	bit<32> hand;
	bit<32> index;
	bit<32> found;
	bit<32> passed;
	bit<64> sum;
	bit<48> since;

	apply {
		ledger_cache_hand.read(hand, 0);
		found = 0;
		passed = 4;
		LEDGER_LOOK(0)
		LEDGER_LOOK(1)
		LEDGER_LOOK(2)
		LEDGER_LOOK(3)
		ledger_cache_hand.write(0, (hand + passed) &
					   (LEDGER_CACHE_ROWS - 1));
		if (sent.sum != 0) {
			ledger_cache_key.read(sent.key, found);
			ledger_cache_sum.write(found, 0);
		}
	}
}

#endif /* DART_V1MODEL_LEDGER_CACHE_P4 */
