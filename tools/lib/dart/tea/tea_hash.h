/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The place of a key in a lookup table, and the check of an entry: see <dart/tea.h>. */
#ifndef DART_TEA_HASH_H
#define DART_TEA_HASH_H

#include "tea_geometry.h"

struct dart_tea_place {
	uint32_t home;		/* row */
	uint32_t share;		/* below DART_TEA_SHARES */
	uint32_t stash;		/* first cell of its window in the stash */
};

/* Computes CRCs; threads may share it. */
struct dart_tea_hash;

/* Returns 0, -EINVAL (the geometry) or -ENOMEM. */
int dart_tea_hash__new(const struct dart_tea_geometry *geometry, struct dart_tea_hash **hash);
/* @hash may be NULL. */
void dart_tea_hash__free(struct dart_tea_hash *hash);

/* @key: of the geometry's length. */
void dart_tea_hash__place(const struct dart_tea_hash *hash, const void *key,
			  struct dart_tea_place *place);
/* The check of an entry, never 0; @value follows @key in memory. */
uint32_t dart_tea_hash__check(const struct dart_tea_hash *hash, const void *key_and_value);

#endif /* DART_TEA_HASH_H */
