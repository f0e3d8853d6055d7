/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which keys of a lookup table a switch caches: see <dart/tea_sketch.h>.  This is
 * pure code: the caller does what it decides.  A period of the switch:
 *
 *	for each report of a key that the table has an entry for:
 *		switch (cache_keys__report(cache, key, victim)) {
 *		case CACHE_KEYS_EXCHANGED:
 *			remove the entry of victim from the switch
 *			fallthrough
 *		case CACHE_KEYS_ADDED:
 *			add that of key, with a counter of 0
 *		...
 *	at the end of the period, for each entry of the switch:
 *		cache_keys__count(cache, key, its counter);
 *	set the threshold of the switch to cache_keys__end_period(cache);
 *	clear its sketch
 *
 * An entry that the switch refuses, or that the table has no longer, is removed by
 * cache_keys__remove().
 *
 * The rule.  While there is room, each reported key is added.  In a full cache a reported
 * key takes the place of the least used entry, if that had fewer packets in the last
 * period than the threshold: that many were counted for the reported key in this one.
 * While the cache is full, one entry in CACHE_KEYS_YIELDING, the least used ones, may yield:
 * the threshold is 1 more than the packets that the most used of these had.  So the switch
 * reports few keys, and an exchange is worth it.  Only an entry that has been in the cache for the whole of a
 * period can count as least used.
 */
#ifndef CACHE_KEYS_H
#define CACHE_KEYS_H

#include <stdint.h>

#define CACHE_KEYS_ENTRIES_MAX	65536
#define CACHE_KEYS_YIELDING	16

struct cache_keys_settings {
	uint32_t entries;	/* for which there is room, 1 to CACHE_KEYS_ENTRIES_MAX */
	uint32_t key_length;	/* bytes, 1 to DART_TEA_KEY_MAX */
	/* the lowest threshold, 1 to DART_TEA_SKETCH_MAX: packets of a period */
	uint32_t threshold;
};

struct cache_keys;

/* Returns 0 and an empty cache, -EINVAL or -ENOMEM. */
int cache_keys__new(const struct cache_keys_settings *settings, struct cache_keys **cache);
/* @cache may be NULL. */
void cache_keys__free(struct cache_keys *cache);

enum cache_keys_verdict {
	CACHE_KEYS_ADDED,
	CACHE_KEYS_EXCHANGED,	/* another key made room */
	CACHE_KEYS_PRESENT,	/* it was in the cache before */
	CACHE_KEYS_REFUSED,	/* the entries in the cache are used more */
};

/*
 * Takes the report of a popular @key, and writes the key that makes room for it, if one
 * does, to @victim.
 */
enum cache_keys_verdict cache_keys__report(struct cache_keys *cache, const void *key, void *victim);
/* Returns 0, or -ENOENT if @key is not in the cache. */
int cache_keys__remove(struct cache_keys *cache, const void *key);

/*
 * The counter of an entry is now @packets.  One that is lower than before began again at 0.
 * Returns 0, or -ENOENT.
 */
int cache_keys__count(struct cache_keys *cache, const void *key, uint64_t packets);
/*
 * Ends a period.  An entry that was not counted in it had no packets.  Returns the
 * threshold of the next period, at most DART_TEA_SKETCH_MAX.
 */
uint32_t cache_keys__end_period(struct cache_keys *cache);
/* The threshold of this period; at first that of the settings. */
uint32_t cache_keys__threshold(const struct cache_keys *cache);

#endif /* CACHE_KEYS_H */
