/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store in local memory: queries by key, and writes as reporters do them.
 *
 * Reporters may write during a query.  It then sees the old slot, the new slot
 * or, if the slot lies across two cache lines, half of each: the value of such
 * a torn slot is neither.  Copies that agree are not torn.
 */
#ifndef DART_STORE_QUERY_H
#define DART_STORE_QUERY_H

#include "store_hash.h"

/*
 * How the values of the slots with a key's checksum become one answer (DART,
 * section 4).  A slot counts once, even if two copies of the key share it.
 */
enum dart_store_policy {
	DART_STORE_PLURALITY,	/* the most frequent value, unless tied */
	DART_STORE_UNIQUE,	/* the only value */
	/* plurality, if the value occurs at least @consensus times */
	DART_STORE_CONSENSUS,
	/*
	 * the union of the places of 4 bytes that are not 0, if no two values contradict each
	 * other: see <dart/postcard.h>
	 */
	DART_STORE_MERGE,
};

struct dart_store_rule {
	enum dart_store_policy policy;
	uint32_t consensus;
};

enum dart_store_outcome {
	DART_STORE_FOUND,
	DART_STORE_EMPTY,	/* no value, or none often enough */
	DART_STORE_AMBIGUOUS,	/* several values, none selected; a contradiction of merged ones */
};

struct dart_store_answer {
	enum dart_store_outcome outcome;
	uint32_t matches;	/* slots with the checksum */
	uint32_t agreeing;	/* of these, slots with the value, or that were merged into it */
	uint8_t value[DART_STORE_VALUE_MAX];	/* unset unless found */
};

struct dart_store;

/*
 * Creates a store of @geometry in the dart_store_geometry__length() bytes at
 * @memory, which the caller owns and which outlive the store; queries need only
 * read access.  Returns 0, -EINVAL or -ENOMEM.
 */
int dart_store__new(const struct dart_store_geometry *geometry, void *memory,
		    struct dart_store **store);
void dart_store__free(struct dart_store *store);

const struct dart_store_geometry *dart_store__geometry(const struct dart_store *store);
const struct dart_store_hash *dart_store__hash(const struct dart_store *store);

/* @length: bytes of the key, 1 to DART_STORE_KEY_MAX. */
void dart_store__query(const struct dart_store *store, const void *key, size_t length,
		       const struct dart_store_rule *rule, struct dart_store_answer *answer);
/*
 * The same for @count consecutive keys of @length bytes each.  The slots of
 * later keys are prefetched meanwhile, which is several times faster if the
 * store is larger than the caches.
 */
void dart_store__query_batch(const struct dart_store *store, const void *keys, size_t length,
			     size_t count, const struct dart_store_rule *rule,
			     struct dart_store_answer *answers);

/* Fills slot @copy of a key, as its report would. */
void dart_store__write(struct dart_store *store, const void *key,
		       size_t length, uint32_t copy, const void *value);

/*
 * Decides from slots of a key that the caller fetched: slot n of @place is at
 * @slots[n].
 */
void dart_store__decide(const struct dart_store_geometry *geometry,
			const struct dart_store_place *place, const uint8_t *const *slots,
			const struct dart_store_rule *rule, struct dart_store_answer *answer);
/* Writes the slot that a report of @place carries to @slot. */
void dart_store__fill(const struct dart_store_geometry *geometry,
		      const struct dart_store_place *place, const void *value, uint8_t *slot);

/* How many of @samples slots, chosen at random by @seed, have been written. */
uint64_t dart_store__sample(const struct dart_store *store, uint64_t samples, uint64_t seed);

#endif /* DART_STORE_QUERY_H */
