/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which keys of a lookup table a switch caches: see <dart/tea_sketch.h>.  This is
 * pure code: the caller does what it decides.  A period of the switch:
 *
 *	for each report of a key that the table has an entry for:
 *		switch (tea_cache__report(cache, key, victim)) {
 *		case TEA_CACHE_EXCHANGED:
 *			remove the entry of victim from the switch
 *			fallthrough
 *		case TEA_CACHE_ADDED:
 *			add that of key, with a counter of 0
 *		...
 *	at the end of the period, for each entry of the switch:
 *		tea_cache__count(cache, key, its counter);
 *	set the threshold of the switch to tea_cache__end_period(cache);
 *	clear its sketch
 *
 * An entry that the switch refuses, or that the table has no longer, is removed by
 * tea_cache__remove().
 *
 * The rule.  While there is room, each reported key is added.  In a full cache a reported
 * key takes the place of the least used entry, if that had fewer packets in the last
 * period than the threshold: that many were counted for the reported key in this one.
 * While the cache is full, one entry in TEA_CACHE_YIELDING, the least used ones, may yield:
 * the threshold is 1 more than the packets that the most used of these had.  So the switch
 * reports few keys, and an exchange is worth it.  Only an entry that has been in the cache for the whole of a
 * period can count as least used.
 */
#ifndef SWITCH_TEA_CACHE_H
#define SWITCH_TEA_CACHE_H

#include <stdint.h>

#define TEA_CACHE_ENTRIES_MAX	65536
#define TEA_CACHE_YIELDING	16

struct tea_cache_settings {
	uint32_t entries;	/* for which there is room, 1 to TEA_CACHE_ENTRIES_MAX */
	uint32_t key_length;	/* bytes, 1 to DART_TEA_KEY_MAX */
	/* the lowest threshold, 1 to DART_TEA_SKETCH_MAX: packets of a period */
	uint32_t threshold;
};

struct tea_cache;

/* Returns 0 and an empty cache, -EINVAL or -ENOMEM. */
int tea_cache__new(const struct tea_cache_settings *settings,
		   struct tea_cache **cache);
/* @cache may be NULL. */
void tea_cache__free(struct tea_cache *cache);

enum tea_cache_verdict {
	TEA_CACHE_ADDED,
	TEA_CACHE_EXCHANGED,	/* another key made room */
	TEA_CACHE_PRESENT,	/* it was in the cache before */
	TEA_CACHE_REFUSED,	/* the entries in the cache are used more */
};

/*
 * Takes the report of a popular @key, and writes the key that makes room for it, if one
 * does, to @victim.
 */
enum tea_cache_verdict tea_cache__report(struct tea_cache *cache,
					 const void *key, void *victim);
/* Returns 0, or -ENOENT if @key is not in the cache. */
int tea_cache__remove(struct tea_cache *cache, const void *key);

/*
 * The counter of an entry is now @packets.  One that is lower than before began again at 0.
 * Returns 0, or -ENOENT.
 */
int tea_cache__count(struct tea_cache *cache, const void *key,
		     uint64_t packets);
/*
 * Ends a period.  An entry that was not counted in it had no packets.  Returns the
 * threshold of the next period, at most DART_TEA_SKETCH_MAX.
 */
uint32_t tea_cache__end_period(struct tea_cache *cache);
/* The threshold of this period; at first that of the settings. */
uint32_t tea_cache__threshold(const struct tea_cache *cache);

#endif /* SWITCH_TEA_CACHE_H */
