/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store in memory: asking it by key, and writing to it as reporters do.
 *
 * Others may write while it is read.  A slot is then seen as it was, as it will
 * be, or, if it lies across two cache lines, half of each; the value of such a
 * torn slot is neither.  Copies that agree tell.
 */
#ifndef DART_STORE_QUERY_H
#define DART_STORE_QUERY_H

#include "store_hash.h"

/*
 * How the values of the slots that have a key's checksum become one answer
 * (DART, section 4); a slot counts once, even if it is two of the key's.
 */
enum dart_store_policy {
	DART_STORE_PLURALITY,	/* the most frequent, if one is */
	DART_STORE_UNIQUE,	/* the only one */
	/* the most frequent, if one is, and if it is there @consensus times */
	DART_STORE_CONSENSUS,
};

struct dart_store_rule {
	enum dart_store_policy policy;
	uint32_t consensus;
};

enum dart_store_outcome {
	DART_STORE_FOUND,
	DART_STORE_EMPTY,	/* no value, or none often enough */
	DART_STORE_AMBIGUOUS,	/* several, and none is the one */
};

struct dart_store_answer {
	enum dart_store_outcome outcome;
	uint32_t matches;	/* slots that had the checksum */
	uint32_t agreeing;	/* of which this many had the value */
	uint8_t value[DART_STORE_VALUE_MAX];	/* if found; else unset */
};

struct dart_store;

/*
 * A store of @geometry in the dart_store_geometry__length() bytes at @memory,
 * which stay the caller's and outlive the store.  Returns 0, -EINVAL, -ENOMEM.
 */
int dart_store__new(const struct dart_store_geometry *geometry, void *memory,
		    struct dart_store **store);
void dart_store__free(struct dart_store *store);

const struct dart_store_geometry *
dart_store__geometry(const struct dart_store *store);
const struct dart_store_hash *dart_store__hash(const struct dart_store *store);

/* @length: bytes of the key, 1 to DART_STORE_KEY_MAX. */
void dart_store__query(const struct dart_store *store, const void *key,
		       size_t length, const struct dart_store_rule *rule,
		       struct dart_store_answer *answer);
/*
 * The same for @count keys of @length bytes each, one behind the other.  The
 * slots of later keys are fetched while earlier ones are looked at, which is
 * several times faster if the store is larger than the caches.
 */
void dart_store__query_batch(const struct dart_store *store, const void *keys,
			     size_t length, size_t count,
			     const struct dart_store_rule *rule,
			     struct dart_store_answer *answers);

/* Fills slot @copy of a key, as the report of it would. */
void dart_store__write(struct dart_store *store, const void *key,
		       size_t length, uint32_t copy, const void *value);

/*
 * Decides from the slots of a key wherever they came from: slot n of @place is
 * at @slots[n].
 */
void dart_store__decide(const struct dart_store_geometry *geometry,
			const struct dart_store_place *place,
			const uint8_t *const *slots,
			const struct dart_store_rule *rule,
			struct dart_store_answer *answer);
/* Writes the slot that a report of @place carries to @slot. */
void dart_store__fill(const struct dart_store_geometry *geometry,
		      const struct dart_store_place *place, const void *value,
		      uint8_t *slot);

/*
 * How many of @samples slots, chosen at random from @seed, have been written.
 */
uint64_t dart_store__sample(const struct dart_store *store, uint64_t samples,
			    uint64_t seed);

#endif /* DART_STORE_QUERY_H */
