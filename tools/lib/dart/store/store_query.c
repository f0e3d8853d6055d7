// SPDX-License-Identifier: LGPL-2.1-or-later
/* Queries and writes a store in local memory. */
#include <errno.h>
#include <stdlib.h>

#include <libdart/random.h>
#include <libdart/store/store_slot_internal.h>

#include "store_query.h"

/* Keys whose slots are prefetched at once. */
#define BATCH 32

struct dart_store {
	struct dart_store_geometry geometry;
	struct dart_store_hash *hash;
	size_t slot_length;
	uint8_t *memory;
};

int dart_store__new(const struct dart_store_geometry *geometry, void *memory,
		    struct dart_store **result)
{
	struct dart_store *store = malloc(sizeof(*store));
	int ret;

	if (!store)
		return -ENOMEM;
	ret = dart_store_hash__new(geometry, &store->hash);
	if (ret) {
		free(store);
		return ret;
	}
	store->geometry = *geometry;
	store->slot_length = dart_store_geometry__slot_length(geometry);
	store->memory = memory;
	*result = store;
	return 0;
}

void dart_store__free(struct dart_store *store)
{
	if (!store)
		return;
	dart_store_hash__free(store->hash);
	free(store);
}

const struct dart_store_geometry *dart_store__geometry(const struct dart_store *store)
{
	return &store->geometry;
}

const struct dart_store_hash *dart_store__hash(const struct dart_store *store)
{
	return store->hash;
}

void dart_store__fill(const struct dart_store_geometry *geometry,
		      const struct dart_store_place *place, const void *value, uint8_t *slot)
{
	slot__set_checksum(slot, place->checksum, geometry->checksum_bits);
	value__copy(slot + geometry->checksum_bits / 8, value, geometry->value_length);
}

static uint8_t *store__slot(const struct dart_store *store, const struct dart_store_place *place,
			    uint32_t copy)
{
	return store->memory + place->slots[copy] * store->slot_length;
}

static void store__decide(const struct dart_store *store, const struct dart_store_place *place,
			  const struct dart_store_rule *rule, struct dart_store_answer *answer)
{
	const uint8_t *slots[DART_STORE_REDUNDANCY_MAX];
	uint32_t copy;

	for (copy = 0; copy < store->geometry.redundancy; copy++)
		slots[copy] = store__slot(store, place, copy);
	dart_store__decide(&store->geometry, place, slots, rule, answer);
}

void dart_store__query(const struct dart_store *store, const void *key, size_t length,
		       const struct dart_store_rule *rule, struct dart_store_answer *answer)
{
	struct dart_store_place place;

	dart_store_hash__place(store->hash, key, length, &place);
	store__decide(store, &place, rule, answer);
}

static void store__place(const struct dart_store *store, const uint8_t *keys, size_t length,
			 uint32_t count, struct dart_store_place *places)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		dart_store_hash__place(store->hash, keys + i * length, length, &places[i]);
}

/*
 * A prefetch that misses the TLB occupies the processor until the page walk
 * ends; so this loop only prefetches, and many walks overlap.  Inline, because
 * compilers consider a function that only prefetches to have no effect and drop
 * the call.
 */
static inline __attribute__((always_inline)) void
store__prefetch(const struct dart_store *store,
		const struct dart_store_place *places, uint32_t count)
{
	const uint32_t redundancy = store->geometry.redundancy;
	uint32_t i, copy;

	for (i = 0; i < count; i++) {
		for (copy = 0; copy < redundancy; copy++) {
			const uint8_t *slot = store__slot(store, &places[i], copy);

			__builtin_prefetch(slot);
			__builtin_prefetch(slot + store->slot_length - 1);
		}
	}
}

/* Prefetches the slots of the next batch while it decides on this one. */
void dart_store__query_batch(const struct dart_store *store, const void *keys, size_t length,
			     size_t count, const struct dart_store_rule *rule,
			     struct dart_store_answer *answers)
{
	struct dart_store_place places[2][BATCH];
	const struct dart_store_place *these;
	uint32_t batch = 0, next, turn, i;
	const uint8_t *key = keys;

	for (turn = 0; batch || count; turn ^= 1) {
		next = count < BATCH ? count : BATCH;
		store__place(store, key, length, next, places[turn]);
		store__prefetch(store, places[turn], next);
		these = places[turn ^ 1];
		for (i = 0; i < batch; i++)
			store__decide(store, &these[i], rule, answers++);
		key += next * length;
		count -= next;
		batch = next;
	}
}

void dart_store__write(struct dart_store *store, const void *key,
		       size_t length, uint32_t copy, const void *value)
{
	struct dart_store_place place;

	dart_store_hash__place(store->hash, key, length, &place);
	dart_store__fill(&store->geometry, &place, value, store__slot(store, &place, copy));
}

uint64_t dart_store__sample(const struct dart_store *store, uint64_t samples, uint64_t seed)
{
	struct dart_random random = dart_random__of(seed);
	uint64_t written = 0;

	while (samples--) {
		uint64_t slot = dart_random__below(&random, store->geometry.slots);

		written += slot__checksum(store->memory + slot * store->slot_length,
					  store->geometry.checksum_bits) != 0;
	}
	return written;
}
