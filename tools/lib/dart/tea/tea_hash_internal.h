/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of CRCs that places and checks come from; private to the lookup table. */
#ifndef DART_TEA_HASH_MEMBERS_H
#define DART_TEA_HASH_MEMBERS_H

#include <libdart/crc_terms_internal.h>
#include <libdart/tea/tea_hash.h>
#include <libdart/tea/tea_layout_internal.h>

/* CRCs of a key, side by side: both of its home, and of its share. */
typedef uint32_t tea_lanes __attribute__((vector_size(16)));

enum { TEA_LANE_ROW_0, TEA_LANE_ROW_1, TEA_LANE_SHARE, TEA_LANES = 4 };

#define TEA_ENTRY_MAX	(DART_TEA_KEY_MAX + DART_TEA_VALUE_MAX)

struct dart_tea_hash {
	struct tea_layout layout;
	tea_lanes place_constants[DART_TEA_KEY_MAX + 1]; /* by the length */
	tea_lanes place_terms[DART_TEA_KEY_MAX * DART_CRC_TERMS];
	uint32_t check_constants[TEA_ENTRY_MAX + 1];
	uint32_t check_terms[TEA_ENTRY_MAX * DART_CRC_TERMS];
};

/* Are the bytes of @cell an entry? */
static inline bool tea_cell__is_entry(const struct dart_tea_hash *hash, const void *cell)
{
	uint32_t check;

	memcpy(&check, cell, sizeof(check));
	return check && be32toh(check) == dart_tea_hash__check(hash, tea_cell__key(cell));
}

#endif /* DART_TEA_HASH_MEMBERS_H */
