// SPDX-License-Identifier: LGPL-2.1-or-later
/* Computes the slots, checksum and share of a key: see <dart/store.h>. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/crc_terms_internal.h>

#include "store_hash.h"

/* Four CRCs, side by side, take one table lookup for each half of a byte. */
typedef uint32_t lanes __attribute__((vector_size(16)));

#define LANES		4	/* in a vector */
/* slots, two checksums, share */
#define VECTORS_MAX	((DART_STORE_REDUNDANCY_MAX + 3 + LANES - 1) / LANES)

static const uint32_t slot_polynomials[DART_STORE_REDUNDANCY_MAX] = {
	DART_STORE_SLOT_0, DART_STORE_SLOT_1, DART_STORE_SLOT_2, DART_STORE_SLOT_3,
	DART_STORE_SLOT_4, DART_STORE_SLOT_5, DART_STORE_SLOT_6, DART_STORE_SLOT_7,
};

struct dart_store_hash {
	uint64_t slots;
	uint64_t checksum_mask;
	uint32_t redundancy;
	uint32_t vectors;	/* in use, of each row of the tables */
	bool is_power_of_two;
	bool has_second_checksum;
	/* indexed by the length of the key */
	lanes constants[DART_STORE_KEY_MAX + 1][VECTORS_MAX];
	/*
	 * Indexed by the distance from the end, in halves, and the half.  Rows
	 * are @vectors long, without gaps, to occupy few cache lines.
	 */
	lanes table[DART_STORE_KEY_MAX * DART_CRC_TERMS * VECTORS_MAX];
};

static bool is_power_of_two(uint64_t number)
{
	return number && !(number & (number - 1));
}

int dart_store_geometry__check(const struct dart_store_geometry *geometry)
{
	switch (geometry->checksum_bits) {
	case 8: case 16: case 32: case 64:
		break;
	default:
		return -EINVAL;
	}
	if (!geometry->slots || geometry->slots > UINT64_C(1) << DART_STORE_SLOTS_LOG2_MAX ||
	    geometry->value_length < DART_STORE_VALUE_MIN ||
	    geometry->value_length > DART_STORE_VALUE_MAX || !geometry->redundancy ||
	    geometry->redundancy > DART_STORE_REDUNDANCY_MAX)
		return -EINVAL;
	return 0;
}

size_t dart_store_geometry__slot_length(const struct dart_store_geometry *geometry)
{
	return geometry->checksum_bits / 8 + geometry->value_length;
}

uint64_t dart_store_geometry__length(const struct dart_store_geometry *geometry)
{
	return geometry->slots * dart_store_geometry__slot_length(geometry);
}

uint32_t dart_store__crc(uint32_t polynomial, const void *data, size_t length)
{
	const uint8_t *bytes = data;
	uint32_t crc = UINT32_MAX;
	size_t i;

	polynomial = dart_crc__reflect(polynomial);
	for (i = 0; i < length; i++)
		crc = dart_crc__step(polynomial, crc, bytes[i]);
	return ~crc;
}

/* Fills @lane of the tables for the CRC with @polynomial. */
static void hash__add(struct dart_store_hash *hash, uint32_t lane, uint32_t polynomial)
{
	const struct dart_crc_terms crc = {
		.constants = (uint32_t *)hash->constants + lane,
		.constant_stride = VECTORS_MAX * LANES,
		.terms = (uint32_t *)hash->table + lane,
		.term_stride = hash->vectors * LANES,
		.length_max = DART_STORE_KEY_MAX,
	};

	dart_crc_terms__fill(&crc, polynomial);
}

int dart_store_hash__new(const struct dart_store_geometry *geometry,
			 struct dart_store_hash **result)
{
	struct dart_store_hash *hash;
	uint32_t lane = 0, i;

	if (dart_store_geometry__check(geometry))
		return -EINVAL;
	hash = aligned_alloc(64, (sizeof(*hash) + 63) / 64 * 64);
	if (!hash)
		return -ENOMEM;

	memset(hash, 0, sizeof(*hash));
	hash->slots = geometry->slots;
	hash->is_power_of_two = is_power_of_two(geometry->slots);
	hash->redundancy = geometry->redundancy;
	hash->has_second_checksum = geometry->checksum_bits == 64;
	hash->checksum_mask = UINT64_MAX >> (64 - geometry->checksum_bits);
	hash->vectors = (hash->redundancy + 2 + hash->has_second_checksum + LANES - 1) / LANES;

	for (i = 0; i < hash->redundancy; i++)
		hash__add(hash, lane++, slot_polynomials[i]);
	hash__add(hash, lane++, DART_STORE_CHECKSUM_0);
	if (hash->has_second_checksum)
		hash__add(hash, lane++, DART_STORE_CHECKSUM_1);
	hash__add(hash, lane++, DART_STORE_SHARE);
	*result = hash;
	return 0;
}

void dart_store_hash__free(struct dart_store_hash *hash)
{
	free(hash);
}

/* Adds the terms of a byte to the CRCs; @row is that of its lower half. */
static inline __attribute__((always_inline)) void
hash__add_byte(const lanes *row, size_t byte, const uint32_t vectors, lanes *sums)
{
	const lanes *low = row + (byte & 15) * vectors;
	const lanes *high = row + (16 + (byte >> 4)) * vectors;
	uint32_t i;

	for (i = 0; i < vectors; i++)
		sums[i] ^= low[i] ^ high[i];
}

/* All CRCs of a key; unrolled for the number of vectors and for four bytes. */
static inline __attribute__((always_inline)) void
hash__sum(const struct dart_store_hash *hash, const uint8_t *key,
	  size_t length, const uint32_t vectors, lanes *crcs)
{
	const size_t rows = DART_CRC_TERMS * vectors;	/* of a byte */
	const lanes *row = hash->table + (length - 1) * rows;
	lanes sums[VECTORS_MAX];
	uint32_t i;

	for (i = 0; i < vectors; i++)
		sums[i] = hash->constants[length][i];
	for (; length >= 4; length -= 4, key += 4, row -= 4 * rows) {
		hash__add_byte(row, key[0], vectors, sums);
		hash__add_byte(row - rows, key[1], vectors, sums);
		hash__add_byte(row - 2 * rows, key[2], vectors, sums);
		hash__add_byte(row - 3 * rows, key[3], vectors, sums);
	}
	for (; length; length--, key++, row -= rows)
		hash__add_byte(row, *key, vectors, sums);
	for (i = 0; i < vectors; i++)
		crcs[i] = sums[i];
}

/*
 * Computes slots for as many CRCs as there is room for: a number that the
 * compiler knows takes less time than the exact one.
 */
static inline __attribute__((always_inline)) void
hash__place(const struct dart_store_hash *hash, const uint8_t *key,
	    size_t length, const uint32_t vectors,
	    struct dart_store_place *place)
{
	const uint32_t slots = vectors * LANES < DART_STORE_REDUNDANCY_MAX ?
			       vectors * LANES : DART_STORE_REDUNDANCY_MAX;
	union {
		lanes vectors[VECTORS_MAX];
		uint32_t words[VECTORS_MAX * LANES];
	} crcs;
	const uint32_t *rest = crcs.words + hash->redundancy;
	uint32_t i;

	hash__sum(hash, key, length, vectors, crcs.vectors);
	if (hash->is_power_of_two)
		for (i = 0; i < slots; i++)
			place->slots[i] = crcs.words[i] & (hash->slots - 1);
	else
		for (i = 0; i < slots; i++)
			place->slots[i] = crcs.words[i] * hash->slots >> 32;
	place->checksum = *rest++;
	if (hash->has_second_checksum)
		place->checksum = place->checksum << 32 | *rest++;
	place->checksum &= hash->checksum_mask;
	place->checksum += !place->checksum;
	place->share = *rest % DART_STORE_SHARES;
}

void dart_store_hash__place(const struct dart_store_hash *hash, const void *key, size_t length,
			    struct dart_store_place *place)
{
	switch (hash->vectors) {
	case 1:
		hash__place(hash, key, length, 1, place);
		break;
	case 2:
		hash__place(hash, key, length, 2, place);
		break;
	default:
		hash__place(hash, key, length, 3, place);
	}
}
