/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports that go straight into a store in memory: what reporters compute and NICs
 * write, without the frames between.
 */
#ifndef BENCH_INGEST_H
#define BENCH_INGEST_H

#include <libdart/store/store_query.h>

/* The bytes of a key, and of the value that is reported for it. */
#define INGEST_KEY	13

/* Key @index of as many as there may be, all different. */
void ingest__key(uint64_t index, uint8_t key[static INGEST_KEY]);

/*
 * Reports @count keys to all their slots, one after the other; the value of each
 * is its number, from @first, and zeros.  @memory is that of the store.
 */
void ingest__reports(const struct dart_store *store, uint8_t *memory,
		     const uint8_t *keys, uint64_t first, uint32_t count);

#endif /* BENCH_INGEST_H */
