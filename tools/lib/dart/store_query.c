// SPDX-License-Identifier: LGPL-2.1-or-later
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "store_query.h"

/* Keys whose slots are fetched from memory at once. */
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

const struct dart_store_geometry *
dart_store__geometry(const struct dart_store *store)
{
	return &store->geometry;
}

const struct dart_store_hash *dart_store__hash(const struct dart_store *store)
{
	return store->hash;
}

static uint64_t load_checksum(const uint8_t *slot, uint32_t bits)
{
	uint64_t wide;
	uint32_t word;
	uint16_t half;

	switch (bits) {
	case 8:
		return *slot;
	case 16:
		memcpy(&half, slot, sizeof(half));
		return be16toh(half);
	case 32:
		memcpy(&word, slot, sizeof(word));
		return be32toh(word);
	default:
		memcpy(&wide, slot, sizeof(wide));
		return be64toh(wide);
	}
}

/* The slots of a key that are also earlier ones of it, as bits. */
static inline __attribute__((always_inline)) uint32_t
repeated(const struct dart_store_place *place, const uint32_t redundancy)
{
	uint32_t bits = 0, copy, earlier;

	for (copy = 1; copy < redundancy; copy++)
		for (earlier = 0; earlier < copy; earlier++)
			bits |= (uint32_t)(place->slots[earlier] ==
					   place->slots[copy]) << copy;
	return bits;
}

/* Which slots begin with the checksum of the key, as bits. */
static inline __attribute__((always_inline)) uint32_t
match(const struct dart_store_place *place, const uint8_t *const *slots,
      const uint32_t redundancy, const uint32_t checksum_bits)
{
	uint32_t matching = 0, copy;

	for (copy = 0; copy < redundancy; copy++)
		matching |= (uint32_t)(load_checksum(slots[copy],
						     checksum_bits) ==
				       place->checksum) << copy;
	return matching;
}

/* The bits in which words differ. */
static inline uint64_t differ4(const uint8_t *a, const uint8_t *b)
{
	uint32_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x ^ y;
}

static inline uint64_t differ8(const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x ^ y;
}

static inline uint64_t differ16(const uint8_t *a, const uint8_t *b)
{
	return differ8(a, b) | differ8(a + 8, b + 8);
}

static inline uint64_t differ32(const uint8_t *a, const uint8_t *b)
{
	return differ16(a, b) | differ16(a + 16, b + 16);
}

/*
 * Values are so short that a call of memcmp() or memcpy(), which the compiler
 * makes of loops as well, takes longer than the work: a piece from the beginning
 * and one up to the end, which may overlap.
 */
static inline __attribute__((always_inline)) bool
value__same(const uint8_t *a, const uint8_t *b, uint32_t length)
{
	const uint8_t *a_end = a + length, *b_end = b + length;

	if (length < 8)
		return !(differ4(a, b) | differ4(a_end - 4, b_end - 4));
	if (length < 16)
		return !(differ8(a, b) | differ8(a_end - 8, b_end - 8));
	if (length < 32)
		return !(differ16(a, b) | differ16(a_end - 16, b_end - 16));
	return !(differ32(a, b) | differ32(a_end - 32, b_end - 32));
}

static inline __attribute__((always_inline)) void
value__copy(uint8_t *to, const uint8_t *from, uint32_t length)
{
	uint8_t *to_end = to + length;
	const uint8_t *from_end = from + length;

	if (length < 8) {
		memcpy(to, from, 4);
		memcpy(to_end - 4, from_end - 4, 4);
	} else if (length < 16) {
		memcpy(to, from, 8);
		memcpy(to_end - 8, from_end - 8, 8);
	} else if (length < 32) {
		memcpy(to, from, 16);
		memcpy(to_end - 16, from_end - 16, 16);
	} else {
		memcpy(to, from, 32);
		memcpy(to_end - 32, from_end - 32, 32);
	}
}

static void store_checksum(uint8_t *slot, uint64_t checksum, uint32_t bits)
{
	const uint64_t wide = htobe64(checksum);
	const uint32_t word = htobe32((uint32_t)checksum);
	const uint16_t half = htobe16((uint16_t)checksum);

	switch (bits) {
	case 8:
		*slot = (uint8_t)checksum;
		break;
	case 16:
		memcpy(slot, &half, sizeof(half));
		break;
	case 32:
		memcpy(slot, &word, sizeof(word));
		break;
	default:
		memcpy(slot, &wide, sizeof(wide));
	}
}

void dart_store__fill(const struct dart_store_geometry *geometry,
		      const struct dart_store_place *place, const void *value,
		      uint8_t *slot)
{
	store_checksum(slot, place->checksum, geometry->checksum_bits);
	value__copy(slot + geometry->checksum_bits / 8, value,
		    geometry->value_length);
}

/* The values that a key's slots hold, each once, and how often. */
struct ballot {
	const uint8_t *values[DART_STORE_REDUNDANCY_MAX];
	uint32_t votes[DART_STORE_REDUNDANCY_MAX];
	uint32_t distinct;
};

static void ballot__add(struct ballot *ballot, const uint8_t *value,
			uint32_t length)
{
	uint32_t i;

	for (i = 0; i < ballot->distinct; i++) {
		if (!value__same(ballot->values[i], value, length))
			continue;
		ballot->votes[i]++;
		return;
	}
	ballot->values[i] = value;
	ballot->votes[i] = 1;
	ballot->distinct++;
}

/* The most frequent value; *@is_tied if it is not the only one. */
static uint32_t ballot__first(const struct ballot *ballot, bool *is_tied)
{
	uint32_t first = 0, i;

	*is_tied = false;
	for (i = 1; i < ballot->distinct; i++) {
		if (ballot->votes[i] > ballot->votes[first]) {
			first = i;
			*is_tied = false;
		} else if (ballot->votes[i] == ballot->votes[first]) {
			*is_tied = true;
		}
	}
	return first;
}

/* The values of the @matching slots are not all the same. */
static void vote(const struct dart_store_geometry *geometry,
		 const uint8_t *const *slots, uint32_t matching,
		 const struct dart_store_rule *rule,
		 struct dart_store_answer *answer)
{
	const uint32_t checksum_bytes = geometry->checksum_bits / 8;
	struct ballot ballot = { .distinct = 0 };
	uint32_t first;
	bool is_tied;

	for (; matching; matching &= matching - 1)
		ballot__add(&ballot, slots[__builtin_ctz(matching)] +
			    checksum_bytes, geometry->value_length);

	first = ballot__first(&ballot, &is_tied);
	answer->agreeing = 0;
	answer->outcome = DART_STORE_EMPTY;
	if (rule->policy == DART_STORE_CONSENSUS &&
	    ballot.votes[first] < rule->consensus)
		return;
	answer->outcome = DART_STORE_AMBIGUOUS;
	if (is_tied || rule->policy == DART_STORE_UNIQUE)
		return;
	answer->outcome = DART_STORE_FOUND;
	answer->agreeing = ballot.votes[first];
	value__copy(answer->value, ballot.values[first],
		    geometry->value_length);
}

/*
 * Which slots match is chance, and no processor guesses it; so there is no branch
 * for it, except for values that differ, which is rare.
 */
static inline __attribute__((always_inline)) void
decide(const struct dart_store_geometry *geometry, const uint32_t redundancy,
       const uint32_t checksum_bits, const struct dart_store_place *place,
       const uint8_t *const *slots, const struct dart_store_rule *rule,
       struct dart_store_answer *answer)
{
	const uint32_t length = geometry->value_length;
	const uint32_t checksum_bytes = checksum_bits / 8;
	const uint32_t matching = match(place, slots, redundancy,
					checksum_bits) &
				  ~repeated(place, redundancy);
	/* The first that matches, or the last one, which is not used then. */
	const uint32_t first = __builtin_ctz(matching | 1u << (redundancy - 1));
	const uint8_t *value = slots[first] + checksum_bytes;
	uint32_t differing = 0, matches = matching & 1, copy;
	bool is_found;

	/* If the first slot matches, it is the first one. */
	for (copy = 1; copy < redundancy; copy++) {
		differing |= (uint32_t)!value__same(slots[copy] +
						    checksum_bytes, value,
						    length) << copy;
		matches += matching >> copy & 1;
	}
	answer->matches = matches;
	if (matching & differing) {
		vote(geometry, slots, matching, rule, answer);
		return;
	}

	is_found = matches >= (rule->policy == DART_STORE_CONSENSUS &&
			       rule->consensus > 1 ? rule->consensus : 1);
	answer->outcome = is_found ? DART_STORE_FOUND : DART_STORE_EMPTY;
	answer->agreeing = is_found ? matches : 0;
	value__copy(answer->value, value, length);
}

/* One for what most stores are like, and one for each width. */
void dart_store__decide(const struct dart_store_geometry *geometry,
			const struct dart_store_place *place,
			const uint8_t *const *slots,
			const struct dart_store_rule *rule,
			struct dart_store_answer *answer)
{
	const uint32_t n = geometry->redundancy;

	switch (geometry->checksum_bits) {
	case 8:
		decide(geometry, n, 8, place, slots, rule, answer);
		break;
	case 16:
		decide(geometry, n, 16, place, slots, rule, answer);
		break;
	case 32:
		if (n == DART_STORE_REDUNDANCY)
			decide(geometry, DART_STORE_REDUNDANCY, 32, place,
			       slots, rule, answer);
		else
			decide(geometry, n, 32, place, slots, rule, answer);
		break;
	default:
		decide(geometry, n, 64, place, slots, rule, answer);
	}
}

static uint8_t *store__slot(const struct dart_store *store,
			    const struct dart_store_place *place,
			    uint32_t copy)
{
	return store->memory + place->slots[copy] * store->slot_length;
}

static void store__decide(const struct dart_store *store,
			  const struct dart_store_place *place,
			  const struct dart_store_rule *rule,
			  struct dart_store_answer *answer)
{
	const uint8_t *slots[DART_STORE_REDUNDANCY_MAX];
	uint32_t copy;

	for (copy = 0; copy < store->geometry.redundancy; copy++)
		slots[copy] = store__slot(store, place, copy);
	dart_store__decide(&store->geometry, place, slots, rule, answer);
}

void dart_store__query(const struct dart_store *store, const void *key,
		       size_t length, const struct dart_store_rule *rule,
		       struct dart_store_answer *answer)
{
	struct dart_store_place place;

	dart_store_hash__place(store->hash, key, length, &place);
	store__decide(store, &place, rule, answer);
}

static void store__place(const struct dart_store *store, const uint8_t *keys,
			 size_t length, uint32_t count,
			 struct dart_store_place *places)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		dart_store_hash__place(store->hash, keys + i * length, length,
				       &places[i]);
}

/*
 * A prefetch whose page is in no TLB occupies the processor until the page is
 * found; so there is nothing but prefetches here, and many are found at once.
 * Inline, for to the compiler a function that does nothing else does nothing, and
 * it takes out the call.
 */
static inline __attribute__((always_inline)) void
store__prefetch(const struct dart_store *store,
		const struct dart_store_place *places, uint32_t count)
{
	const uint32_t redundancy = store->geometry.redundancy;
	uint32_t i, copy;

	for (i = 0; i < count; i++) {
		for (copy = 0; copy < redundancy; copy++) {
			const uint8_t *slot = store__slot(store, &places[i],
							  copy);

			__builtin_prefetch(slot);
			__builtin_prefetch(slot + store->slot_length - 1);
		}
	}
}

/* What comes next is on its way from memory while this is decided. */
void dart_store__query_batch(const struct dart_store *store, const void *keys,
			     size_t length, size_t count,
			     const struct dart_store_rule *rule,
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
	dart_store__fill(&store->geometry, &place, value,
			 store__slot(store, &place, copy));
}

uint64_t dart_store__sample(const struct dart_store *store, uint64_t samples,
			    uint64_t seed)
{
	struct dart_random random = dart_random__of(seed);
	uint64_t written = 0;

	while (samples--) {
		uint64_t slot = dart_random__below(&random,
						   store->geometry.slots);

		written += load_checksum(store->memory +
					 slot * store->slot_length,
					 store->geometry.checksum_bits) != 0;
	}
	return written;
}
