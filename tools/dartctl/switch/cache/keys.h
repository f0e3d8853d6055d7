/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which keys of a lookup table a switch caches: see <dart/tea_sketch.h>.  This is pure
 * code: the caller carries out its decisions.  A period of the switch:
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
 * The caller removes an entry that the switch refuses, or that left the table, by
 * cache_keys__remove().
 *
 * The rule.  While there is room, each reported key is added.  In a full cache a reported key takes
 * the place of the least used entry, if that entry counted fewer packets in the last period than
 * the threshold, which the reported key has reached in this period.  While the cache is full, the
 * least used 1/CACHE_KEYS_YIELDING of its entries may yield: the threshold is 1 more than the
 * packets of the most used entry that may yield.  So the switch reports few keys, and each exchange
 * is worth its cost.  Only an entry that stayed in the cache for a whole period can count as least
 * used.
 */
#ifndef CACHE_KEYS_H
#define CACHE_KEYS_H

#include <stdint.h>

#define CACHE_KEYS_ENTRIES_MAX	65536
#define CACHE_KEYS_YIELDING	16

struct cache_keys_settings {
	uint32_t entries;	/* room of the cache, 1 to CACHE_KEYS_ENTRIES_MAX */
	uint32_t key_length;	/* bytes, 1 to DART_TEA_KEY_MAX */
	/* the lowest threshold, in packets of a period, 1 to DART_TEA_SKETCH_MAX */
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
	CACHE_KEYS_PRESENT,	/* the key was in the cache already */
	CACHE_KEYS_REFUSED,	/* the entries in the cache are used more */
};

/*
 * Takes the report of a popular @key.  If another key makes room for it, writes that key to
 * @victim.
 */
enum cache_keys_verdict cache_keys__report(struct cache_keys *cache, const void *key, void *victim);
/* Returns 0, or -ENOENT if @key is not in the cache. */
int cache_keys__remove(struct cache_keys *cache, const void *key);

/*
 * Notes that the counter of an entry has reached @packets.  A lower counter than before began again
 * at 0.  Returns 0, or -ENOENT.
 */
int cache_keys__count(struct cache_keys *cache, const void *key, uint64_t packets);
/*
 * Ends a period.  Entries that were not counted in it had no packets.  Returns the threshold of the
 * next period, at most DART_TEA_SKETCH_MAX.
 */
uint32_t cache_keys__end_period(struct cache_keys *cache);
/* The threshold of this period; at first that of the settings. */
uint32_t cache_keys__threshold(const struct cache_keys *cache);

#endif /* CACHE_KEYS_H */
