// SPDX-License-Identifier: LGPL-2.1-or-later
/* Decides which value the slots of a key hold. */
#include <libdart/store/store_slot_internal.h>

#include "store_query.h"

/* A bit for each slot of a key that equals an earlier one of the key. */
static inline __attribute__((always_inline)) uint32_t
repeated(const struct dart_store_place *place, const uint32_t redundancy)
{
	uint32_t bits = 0, copy, earlier;

	for (copy = 1; copy < redundancy; copy++)
		for (earlier = 0; earlier < copy; earlier++)
			bits |= (uint32_t)(place->slots[earlier] == place->slots[copy]) << copy;
	return bits;
}

/* A bit for each slot that begins with the checksum of the key. */
static inline __attribute__((always_inline)) uint32_t
match(const struct dart_store_place *place, const uint8_t *const *slots,
      const uint32_t redundancy, const uint32_t checksum_bits)
{
	uint32_t matching = 0, copy;

	for (copy = 0; copy < redundancy; copy++)
		matching |= (uint32_t)(slot__checksum(slots[copy],
						      checksum_bits) ==
				       place->checksum) << copy;
	return matching;
}

/* The distinct values in a key's slots, and how often each occurs. */
struct ballot {
	const uint8_t *values[DART_STORE_REDUNDANCY_MAX];
	uint32_t votes[DART_STORE_REDUNDANCY_MAX];
	uint32_t distinct;
};

static void ballot__add(struct ballot *ballot, const uint8_t *value, uint32_t length)
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

/* The most frequent value; *@is_tied if another is as frequent. */
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

/* Adds the places of @more to those of @value; false if two of them contradict each other. */
static bool value__add(uint8_t *value, const uint8_t *more, uint32_t length)
{
	const uint32_t place = sizeof(uint32_t);
	uint32_t at, known, added, bytes;

	for (at = 0; at < length; at += place) {
		bytes = length - at < place ? length - at : place;
		known = 0;
		added = 0;
		memcpy(&known, value + at, bytes);
		memcpy(&added, more + at, bytes);
		if (known && added && known != added)
			return false;
		known |= added;
		memcpy(value + at, &known, bytes);
	}
	return true;
}

/* Merges the values of the @matching slots, which differ. */
static void merge(const struct dart_store_geometry *geometry, const uint8_t *const *slots,
		  uint32_t matching, struct dart_store_answer *answer)
{
	const uint32_t checksum_bytes = geometry->checksum_bits / 8;
	uint8_t value[DART_STORE_VALUE_MAX] = { 0 };

	answer->agreeing = 0;
	answer->outcome = DART_STORE_AMBIGUOUS;
	for (; matching; matching &= matching - 1)
		if (!value__add(value, slots[__builtin_ctz(matching)] + checksum_bytes,
				geometry->value_length))
			return;
	answer->outcome = DART_STORE_FOUND;
	answer->agreeing = answer->matches;
	value__copy(answer->value, value, geometry->value_length);
}

/* Decides between the values of the @matching slots, which differ. */
static void vote(const struct dart_store_geometry *geometry, const uint8_t *const *slots,
		 uint32_t matching, const struct dart_store_rule *rule,
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
	if (rule->policy == DART_STORE_CONSENSUS && ballot.votes[first] < rule->consensus)
		return;
	answer->outcome = DART_STORE_AMBIGUOUS;
	if (is_tied || rule->policy == DART_STORE_UNIQUE)
		return;
	answer->outcome = DART_STORE_FOUND;
	answer->agreeing = ballot.votes[first];
	value__copy(answer->value, ballot.values[first], geometry->value_length);
}

/*
 * Which slots match is random, and a processor mispredicts branches on it; so
 * the only branch is for values that differ, which is rare.
 */
static inline __attribute__((always_inline)) void
decide(const struct dart_store_geometry *geometry, const uint32_t redundancy,
       const uint32_t checksum_bits, const struct dart_store_place *place,
       const uint8_t *const *slots, const struct dart_store_rule *rule,
       struct dart_store_answer *answer)
{
	const uint32_t length = geometry->value_length;
	const uint32_t checksum_bytes = checksum_bits / 8;
	const uint32_t matching = match(place, slots, redundancy, checksum_bits) &
				  ~repeated(place, redundancy);
	/* The first matching slot, or the last slot, which is then unused. */
	const uint32_t first = __builtin_ctz(matching | 1u << (redundancy - 1));
	const uint8_t *value = slots[first] + checksum_bytes;
	uint32_t differing = 0, matches = matching & 1, copy;
	bool is_found;

	/* Slot 0, if it matches, is the first: compare the others to it. */
	for (copy = 1; copy < redundancy; copy++) {
		differing |= (uint32_t)!value__same(slots[copy] + checksum_bytes, value, length)
			     << copy;
		matches += matching >> copy & 1;
	}
	answer->matches = matches;
	if (matching & differing) {
		if (rule->policy == DART_STORE_MERGE)
			merge(geometry, slots, matching, answer);
		else
			vote(geometry, slots, matching, rule, answer);
		return;
	}

	is_found = matches >= (rule->policy == DART_STORE_CONSENSUS &&
			       rule->consensus > 1 ? rule->consensus : 1);
	answer->outcome = is_found ? DART_STORE_FOUND : DART_STORE_EMPTY;
	answer->agreeing = is_found ? matches : 0;
	value__copy(answer->value, value, length);
}

/* Specialised for the most common stores and for each checksum width. */
void dart_store__decide(const struct dart_store_geometry *geometry,
			const struct dart_store_place *place, const uint8_t *const *slots,
			const struct dart_store_rule *rule, struct dart_store_answer *answer)
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
			decide(geometry, DART_STORE_REDUNDANCY, 32, place, slots, rule, answer);
		else
			decide(geometry, n, 32, place, slots, rule, answer);
		break;
	default:
		decide(geometry, n, 64, place, slots, rule, answer);
	}
}
