/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ledgers: their geometry, the words of a key, and its sum: see <dart/ledger.h>. */
#ifndef DART_LEDGER_H
#define DART_LEDGER_H

#include <stdint.h>

#include <dart/ledger.h>
#include <libdart/store/store_hash.h>

/* The parameters that all adders and readers of a ledger share. */
struct dart_ledger_geometry {
	uint32_t rows;
	uint32_t words_log2; /* of a row */
};

/* Returns 0, or -EINVAL if a ledger cannot have this geometry. */
int dart_ledger_geometry__check(const struct dart_ledger_geometry *geometry);
/* Bytes of all rows and the total. */
uint64_t dart_ledger_geometry__length(const struct dart_ledger_geometry *geometry);
/*
 * Where a word begins: in @row, the lowest bits of @crc choose it; the total has the row after the
 * last one.
 */
uint64_t dart_ledger_geometry__offset(const struct dart_ledger_geometry *geometry, uint32_t row,
				      uint64_t crc);
/*
 * A hash whose slots are the words of a key, one for each row; the checksum of a place is the CRC
 * with DART_STORE_CHECKSUM_0.  The caller frees it.  Returns 0, -EINVAL or -ENOMEM.
 */
int dart_ledger_geometry__hash(const struct dart_ledger_geometry *geometry,
			       struct dart_store_hash **hash);

/* The answer to a question. */
struct dart_ledger_sum {
	uint64_t sum; /* at least the true sum */
	uint64_t epsilon; /* at most so much too high, with probability 1 - 2^-rows */
	uint64_t total;
	uint64_t words[DART_LEDGER_ROWS_MAX]; /* one of each row */
};

/* Sets the sum and epsilon; @sum has the words and the total. */
void dart_ledger_sum__decide(struct dart_ledger_sum *sum,
			     const struct dart_ledger_geometry *geometry);

#endif /* DART_LEDGER_H */
