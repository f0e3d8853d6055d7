// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keys that a switch caches, and how much they are used, see keys.h.  The keys are sorted by
 * memcmp(): senders of packets choose the keys, but cannot choose any that make searching slow.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dart/tea.h>
#include <dart/tea_sketch.h>

#include "keys.h"

struct entry {
	uint64_t counter;	/* of the switch, at the last cache_keys__count() */
	uint64_t counted;	/* packets in this period so far */
	uint64_t packets;	/* in the last period */
	bool was_there;		/* in the cache when this period began */
	bool is_ranked;		/* was in the cache when the last period began */
	uint8_t key[DART_TEA_KEY_MAX];
};

struct cache_keys {
	struct cache_keys_settings settings;
	uint32_t threshold;
	uint32_t size;
	struct entry *entries;	/* by place; @order lists the places in use */
	uint32_t *order;	/* places in the order of keys, then unused places */
	uint32_t *ranks;	/* places of ranked entries, the least used one first */
	uint32_t rank_count;
	uint32_t next_rank;	/* index in @ranks of the next possible victim */
};

int cache_keys__new(const struct cache_keys_settings *settings, struct cache_keys **result)
{
	struct cache_keys *cache;
	uint32_t i;

	if (!settings->entries || settings->entries > CACHE_KEYS_ENTRIES_MAX ||
	    !settings->key_length || settings->key_length > DART_TEA_KEY_MAX ||
	    !settings->threshold || settings->threshold > DART_TEA_SKETCH_MAX)
		return -EINVAL;
	cache = calloc(1, sizeof(*cache));
	if (!cache)
		return -ENOMEM;
	cache->settings = *settings;
	cache->threshold = settings->threshold;
	cache->entries = calloc(settings->entries, sizeof(*cache->entries));
	cache->order = calloc(settings->entries, sizeof(*cache->order));
	cache->ranks = calloc(settings->entries, sizeof(*cache->ranks));
	if (!cache->entries || !cache->order || !cache->ranks) {
		cache_keys__free(cache);
		return -ENOMEM;
	}
	for (i = 0; i < settings->entries; i++)
		cache->order[i] = i;
	*result = cache;
	return 0;
}

void cache_keys__free(struct cache_keys *cache)
{
	if (!cache)
		return;
	free(cache->ranks);
	free(cache->order);
	free(cache->entries);
	free(cache);
}

static int compare(const struct cache_keys *cache, uint32_t i, const void *key)
{
	return memcmp(cache->entries[cache->order[i]].key, key, cache->settings.key_length);
}

/* The index in the order where @key is, or would be inserted. */
static uint32_t position(const struct cache_keys *cache, const void *key)
{
	uint32_t low = 0, high = cache->size;

	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (compare(cache, middle, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct cache_keys *cache, uint32_t i, const void *key)
{
	return i < cache->size && !compare(cache, i, key);
}

static struct entry *find(const struct cache_keys *cache, const void *key)
{
	const uint32_t i = position(cache, key);

	return is_at(cache, i, key) ? &cache->entries[cache->order[i]] : NULL;
}

/* The caller has checked that there is room. */
static void add(struct cache_keys *cache, const void *key)
{
	const uint32_t i = position(cache, key);
	const uint32_t place = cache->order[cache->size];

	memmove(cache->order + i + 1, cache->order + i, (cache->size - i) * sizeof(*cache->order));
	cache->order[i] = place;
	cache->size++;
	/* The new key must not inherit the rank of the last key at this place. */
	cache->entries[place] = (struct entry){ 0 };
	memcpy(cache->entries[place].key, key, cache->settings.key_length);
}

/* Removes the key at @i of the order. */
static void remove_at(struct cache_keys *cache, uint32_t i)
{
	const uint32_t place = cache->order[i];

	cache->size--;
	memmove(cache->order + i, cache->order + i + 1, (cache->size - i) * sizeof(*cache->order));
	cache->order[cache->size] = place;
}

/* The least used entry that stayed in the full cache during the whole last period, or NULL. */
static const struct entry *least_used(struct cache_keys *cache)
{
	for (; cache->next_rank < cache->rank_count; cache->next_rank++) {
		const struct entry *entry = &cache->entries[cache->ranks[cache->next_rank]];

		if (entry->is_ranked)
			return entry;
	}
	return NULL;
}

enum cache_keys_verdict cache_keys__report(struct cache_keys *cache, const void *key, void *victim)
{
	const struct entry *least;

	if (find(cache, key))
		return CACHE_KEYS_PRESENT;
	if (cache->size < cache->settings.entries) {
		add(cache, key);
		return CACHE_KEYS_ADDED;
	}
	least = least_used(cache);
	if (!least || least->packets >= cache->threshold)
		return CACHE_KEYS_REFUSED;
	memcpy(victim, least->key, cache->settings.key_length);
	remove_at(cache, position(cache, victim));
	add(cache, key);
	return CACHE_KEYS_EXCHANGED;
}

int cache_keys__remove(struct cache_keys *cache, const void *key)
{
	const uint32_t i = position(cache, key);

	if (!is_at(cache, i, key))
		return -ENOENT;
	remove_at(cache, i);
	return 0;
}

int cache_keys__count(struct cache_keys *cache, const void *key, uint64_t packets)
{
	struct entry *entry = find(cache, key);

	if (!entry)
		return -ENOENT;
	entry->counted += packets < entry->counter ? packets : packets - entry->counter;
	entry->counter = packets;
	return 0;
}

static int compare_packets(const void *left, const void *right, void *context)
{
	const struct entry *entries = context;
	const struct entry *a = &entries[*(const uint32_t *)left];
	const struct entry *b = &entries[*(const uint32_t *)right];

	return (a->packets > b->packets) - (a->packets < b->packets);
}

static void rank(struct cache_keys *cache)
{
	uint32_t i;

	cache->rank_count = 0;
	cache->next_rank = 0;
	for (i = 0; i < cache->size; i++) {
		struct entry *entry = &cache->entries[cache->order[i]];

		entry->packets = entry->counted;
		entry->counted = 0;
		entry->is_ranked = entry->was_there;
		entry->was_there = true;
		if (entry->is_ranked)
			cache->ranks[cache->rank_count++] = cache->order[i];
	}
	qsort_r(cache->ranks, cache->rank_count, sizeof(*cache->ranks),
		compare_packets, cache->entries);
}

uint32_t cache_keys__end_period(struct cache_keys *cache)
{
	const uint32_t entries = cache->settings.entries;
	uint32_t yielding = (entries + CACHE_KEYS_YIELDING - 1) / CACHE_KEYS_YIELDING;
	uint64_t threshold = cache->settings.threshold;

	rank(cache);
	if (yielding > cache->rank_count)
		yielding = cache->rank_count;
	if (cache->size == entries && yielding) {
		const uint32_t place = cache->ranks[yielding - 1];
		const uint64_t packets = cache->entries[place].packets;

		if (packets >= DART_TEA_SKETCH_MAX)
			threshold = DART_TEA_SKETCH_MAX;
		else if (packets >= threshold)
			threshold = packets + 1;
	}
	cache->threshold = threshold;
	return cache->threshold;
}

uint32_t cache_keys__threshold(const struct cache_keys *cache)
{
	return cache->threshold;
}
