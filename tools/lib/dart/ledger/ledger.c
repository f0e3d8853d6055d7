// SPDX-License-Identifier: LGPL-2.1-or-later
/* Finds the words of a key, and decides what they say: see <dart/ledger.h>. */
#include <errno.h>

#include "ledger.h"

#define WORD sizeof(uint64_t)

_Static_assert(DART_LEDGER_ROWS_MAX == DART_STORE_REDUNDANCY_MAX, "each row has a polynomial");

int dart_ledger_geometry__check(const struct dart_ledger_geometry *geometry)
{
	if (!geometry->rows || geometry->rows > DART_LEDGER_ROWS_MAX ||
	    geometry->words_log2 < DART_LEDGER_WORDS_LOG2_MIN ||
	    geometry->words_log2 > DART_LEDGER_WORDS_LOG2_MAX)
		return -EINVAL;
	return 0;
}

uint64_t dart_ledger_geometry__offset(const struct dart_ledger_geometry *geometry, uint32_t row,
				      uint64_t crc)
{
	const uint64_t words = UINT64_C(1) << geometry->words_log2;

	return WORD * (row * words + (crc & (words - 1)));
}

uint64_t dart_ledger_geometry__length(const struct dart_ledger_geometry *geometry)
{
	return dart_ledger_geometry__offset(geometry, geometry->rows, 0) + WORD;
}

int dart_ledger_geometry__hash(const struct dart_ledger_geometry *geometry,
			       struct dart_store_hash **hash)
{
	/* The values of this store do not exist. */
	const struct dart_store_geometry store = {
		.slots = UINT64_C(1) << geometry->words_log2,
		.value_length = DART_STORE_VALUE_MIN,
		.checksum_bits = 32,
		.redundancy = geometry->rows,
	};

	if (dart_ledger_geometry__check(geometry))
		return -EINVAL;
	return dart_store_hash__new(&store, hash);
}

void dart_ledger_sum__decide(struct dart_ledger_sum *sum,
			     const struct dart_ledger_geometry *geometry)
{
	uint32_t row;

	sum->sum = UINT64_MAX;
	for (row = 0; row < geometry->rows; row++)
		if (sum->words[row] < sum->sum)
			sum->sum = sum->words[row];
	/* 2 total / 2^w, which does not overflow */
	sum->epsilon = sum->total >> (geometry->words_log2 - 1);
}
