/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the keys that a store has are asked for: keys 0 and so on, see ingest.h. */
#ifndef BENCH_STORE_KEYS_H
#define BENCH_STORE_KEYS_H

#include <libdart/random.h>
#include <libdart/store/store_query.h>

enum store_keys_kind {
	STORE_KEYS_UNIFORM, /* all of them alike */
	STORE_KEYS_ZIPF, /* 2^20 of them, by a Zipf distribution of skew 0.99 */
	/*
	 * Keys whose slots all lie in one set of a cache of 4,096 bytes a way, as most caches of
	 * the first level are: a reader that asks for several slots ahead loses them again.  CRCs are
	 * no secret, so a sender of packets can choose such keys.
	 */
	STORE_KEYS_CROWDED,
	STORE_KEYS_KINDS,
};

struct store_keys;

const char *store_keys__name(enum store_keys_kind kind);

/* Of the first @count keys of @store.  Exits the program if out of memory, or without such keys. */
struct store_keys *store_keys__new(enum store_keys_kind kind, const struct dart_store *store,
				   uint64_t count);
void store_keys__free(struct store_keys *keys);

/* The number of a key. */
uint64_t store_keys__next(const struct store_keys *keys, struct dart_random *random);

#endif /* BENCH_STORE_KEYS_H */
