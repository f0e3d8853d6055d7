/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of shares, into which a hash divides the keys of a store: see <dart/store.h>. */
#ifndef DART_SHARE_SET_H
#define DART_SHARE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include <dart/store.h>

/* A set of shares: bit I % 64 of word I / 64 is share I. */
struct dart_share_set {
	uint64_t words[DART_STORE_SHARES / 64];
};

static inline bool dart_share_set__has(const struct dart_share_set *set, uint32_t share)
{
	return set->words[share / 64] >> share % 64 & 1;
}

static inline void dart_share_set__add(struct dart_share_set *set, uint32_t share)
{
	set->words[share / 64] |= UINT64_C(1) << share % 64;
}

/* Parses "0-511,600"; returns 0, or -EINVAL if @text is no such list. */
int dart_share_set__parse(const char *text, struct dart_share_set *set);
/* The same list as text, which the caller frees; NULL if out of memory. */
char *dart_share_set__text(const struct dart_share_set *set);
uint32_t dart_share_set__count(const struct dart_share_set *set);

#endif /* DART_SHARE_SET_H */
