/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An adder: adds amounts to the keys of a ledger, exactly once, as <dart/ledger.h> says.  It sends
 * and receives nothing by itself: the caller passes frames and the time, CLOCK_MONOTONIC in ns,
 * which never goes back.
 *
 *   add() -> rows {key, sum} -> requests, in the order of their PSNs -> next() -> the network
 *                                          take() <- answers
 *
 * An adder is used by one thread at a time.
 */
#ifndef DART_LEDGER_ADDER_H
#define DART_LEDGER_ADDER_H

#include "ledger_target.h"

#define DART_LEDGER_CACHE_MAX (1u << 20) /* rows */

struct dart_ledger_adder;

struct dart_ledger_adder_counts {
	uint64_t amounts; /* that add() took */
	uint64_t requests; /* to add in a word, each counted once */
	uint64_t executed; /* requests that were answered */
	uint64_t repeats; /* frames of requests that were sent before */
	uint64_t refusals; /* NAKs, of any kind */
	uint64_t renewals; /* of the queue pair */
	/*
	 * Sums of amounts in requests of which the adder does not know whether they were executed,
	 * or that it never sent because the caller gave up, of each row, and of the total.
	 */
	uint64_t lost[DART_LEDGER_ROWS_MAX + 1];
};

/*
 * Creates an adder to @target from @mac, with a cache of @rows rows, a power of two up to
 * DART_LEDGER_CACHE_MAX; with 1 row, only amounts for one key after the other are added up.
 * Returns 0, -EINVAL or -ENOMEM.
 */
int dart_ledger_adder__new(const struct dart_ledger_target *target, const uint8_t mac[ETH_ALEN],
			   uint32_t rows, struct dart_ledger_adder **adder);
/* Forgets what was not sent; @adder may be NULL. */
void dart_ledger_adder__free(struct dart_ledger_adder *adder);

/*
 * Adds @amount to a key of @length bytes, 1 to DART_STORE_KEY_MAX.  Returns 0; or -EAGAIN if there
 * is no room for more requests, and nothing was added: the caller sends, or waits for an answer,
 * and tries again.
 */
int dart_ledger_adder__add(struct dart_ledger_adder *adder, const void *key, size_t length,
			   uint64_t amount, uint64_t now);
/*
 * Makes requests of rows that have an amount since DART_LEDGER_FLUSH_MS, or, if @is_end, of all
 * rows. Returns whether all of these are requests now: otherwise there was no room, and the caller
 * calls again later.
 */
bool dart_ledger_adder__flush(struct dart_ledger_adder *adder, bool is_end, uint64_t now);

/*
 * Builds the next frame that may be sent now.  Returns whether there is one.
 */
bool dart_ledger_adder__next(struct dart_ledger_adder *adder, uint64_t now,
			     uint8_t frame[DART_LEDGER_FRAME]);
/* Takes a frame that arrived, which may be hostile, or not for this adder. */
void dart_ledger_adder__take(struct dart_ledger_adder *adder, const uint8_t *frame, size_t length,
			     uint64_t now);

/* Has each request been answered?  Rows may still have amounts. */
bool dart_ledger_adder__is_idle(const struct dart_ledger_adder *adder);
/* Is the queue pair of no use any more?  Then nothing is sent until dart_ledger_adder__renew(). */
bool dart_ledger_adder__is_broken(const struct dart_ledger_adder *adder);
/* When next() has to be called at the latest, if nothing arrives; UINT64_MAX: never. */
uint64_t dart_ledger_adder__due(const struct dart_ledger_adder *adder);

/*
 * Goes on with another queue pair for the same ledger.  Requests without an answer count as lost,
 * and all other ones are sent there.  Returns 0, or -EINVAL if @target is another ledger; then
 * nothing changes.
 */
int dart_ledger_adder__renew(struct dart_ledger_adder *adder,
			     const struct dart_ledger_target *target);
/* Counts requests without an answer, and those never sent, as lost: the caller gives up. */
void dart_ledger_adder__give_up(struct dart_ledger_adder *adder);

const struct dart_ledger_adder_counts *
dart_ledger_adder__counts(const struct dart_ledger_adder *adder);
/* The ledger that it adds to. */
const struct dart_ledger_target *dart_ledger_adder__target(const struct dart_ledger_adder *adder);

#endif /* DART_LEDGER_ADDER_H */
