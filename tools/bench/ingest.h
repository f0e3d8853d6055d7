/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports written directly into a store in memory: the work of reporters and NICs
 * without frames.
 */
#ifndef BENCH_INGEST_H
#define BENCH_INGEST_H

#include <libdart/store/store_query.h>

/* Bytes of a key. */
#define INGEST_KEY	13

/* Makes key @index; keys of different indices differ. */
void ingest__key(uint64_t index, uint8_t key[static INGEST_KEY]);

/*
 * Reports @count keys in turn to all their slots; the value of each is its
 * number, counted from @first, padded with zeros.  @memory is the store's.
 */
void ingest__reports(const struct dart_store *store, uint8_t *memory,
		     const uint8_t *keys, uint64_t first, uint32_t count);

#endif /* BENCH_INGEST_H */
