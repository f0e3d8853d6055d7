// SPDX-License-Identifier: LGPL-2.1-or-later
/* Computes the place of a key and the check of an entry: see <dart/tea.h>. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/tea/tea_hash_internal.h>

#include "tea_hash.h"

static void hash__add_lane(struct dart_tea_hash *hash, uint32_t lane, uint32_t polynomial)
{
	const struct dart_crc_terms crc = {
		.constants = (uint32_t *)hash->place_constants + lane,
		.constant_stride = TEA_LANES,
		.terms = (uint32_t *)hash->place_terms + lane,
		.term_stride = TEA_LANES,
		.length_max = DART_TEA_KEY_MAX,
	};

	dart_crc_terms__fill(&crc, polynomial);
}

static void hash__add_check(struct dart_tea_hash *hash)
{
	const struct dart_crc_terms crc = {
		.constants = hash->check_constants,
		.constant_stride = 1,
		.terms = hash->check_terms,
		.term_stride = 1,
		.length_max = TEA_ENTRY_MAX,
	};

	dart_crc_terms__fill(&crc, DART_TEA_CHECK);
}

int dart_tea_hash__new(const struct dart_tea_geometry *geometry, struct dart_tea_hash **result)
{
	struct dart_tea_hash *hash;

	if (dart_tea_geometry__check(geometry))
		return -EINVAL;
	hash = aligned_alloc(64, (sizeof(*hash) + 63) / 64 * 64);
	if (!hash)
		return -ENOMEM;

	memset(hash, 0, sizeof(*hash));
	hash->layout = tea_layout__of(geometry);
	hash__add_lane(hash, TEA_LANE_ROW_0, DART_TEA_ROW_0);
	hash__add_lane(hash, TEA_LANE_ROW_1, DART_TEA_ROW_1);
	hash__add_lane(hash, TEA_LANE_SHARE, DART_TEA_SHARE);
	hash__add_check(hash);
	*result = hash;
	return 0;
}

void dart_tea_hash__free(struct dart_tea_hash *hash)
{
	free(hash);
}

void dart_tea_hash__place(const struct dart_tea_hash *hash, const void *key,
			  struct dart_tea_place *place)
{
	const uint32_t length = hash->layout.key_length;
	const tea_lanes *terms = hash->place_terms + length * DART_CRC_TERMS;
	tea_lanes sum = hash->place_constants[length];
	const uint8_t *bytes = key;
	uint32_t i;

	for (i = 0; i < length; i++) {
		terms -= DART_CRC_TERMS;
		sum ^= terms[bytes[i] & 15] ^ terms[16 + (bytes[i] >> 4)];
	}
	place->home = (sum[TEA_LANE_ROW_0] + sum[TEA_LANE_ROW_1]) & hash->layout.mask;
	place->share = sum[TEA_LANE_SHARE] % DART_TEA_SHARES;
	place->stash = (sum[TEA_LANE_SHARE] >> DART_TEA_SHARE_BITS) &
		       (hash->layout.stash_places - 1);
}

uint32_t dart_tea_hash__check(const struct dart_tea_hash *hash, const void *key_and_value)
{
	const uint32_t length = hash->layout.key_length + hash->layout.value_length;
	const uint32_t *terms = hash->check_terms + length * DART_CRC_TERMS;
	uint32_t sum = hash->check_constants[length];
	const uint8_t *bytes = key_and_value;
	uint32_t i;

	for (i = 0; i < length; i++) {
		terms -= DART_CRC_TERMS;
		sum ^= terms[bytes[i] & 15] ^ terms[16 + (bytes[i] >> 4)];
	}
	return sum + !sum;
}
