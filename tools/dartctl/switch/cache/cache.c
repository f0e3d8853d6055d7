// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the cache of a switch with lookup tables, see cache.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "cache.h"
#include "cached.h"
#include "keys.h"
#include "readers.h"
#include "tools/dartctl/switch/bmv2/register.h"
#include "tools/dartctl/switch/bmv2/table.h"
#include "tools/dartctl/switch/lookups/kind.h"
#include "tools/dartctl/switch/thrift/digests.h"

#define THRESHOLD 16 /* the least packets of a popular key in a period */

struct switch_cache {
	const char *address;
	int poller;
	const struct dart_tea_tables *tables;
	struct readers *readers;
	bool has_entries; /* has begun before, so that the switch may have some */
	/* valid only while the contents of the switch are known, from begin() to lose() */
	bool is_begun;
	struct switch_digests *digests;
	struct cache_keys *keys;
	struct cached_list list;
	uint8_t *asked; /* the keys of one lookup, and their answers */
	struct dart_tea_answer *answers;
};

int switch_cache__open(const char *address, int poller,
		       struct switch_cache **result, struct dart_error *error)
{
	struct switch_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return dart_error__no_memory(error);
	cache->address = address;
	cache->poller = poller;
	cache->readers = readers__new();
	if (!cache->readers) {
		free(cache);
		return dart_error__no_memory(error);
	}
	*result = cache;
	return 0;
}

void switch_cache__lose(struct switch_cache *cache)
{
	if (cache->digests)
		epoll_ctl(cache->poller, EPOLL_CTL_DEL,
			  switch_digests__descriptor(cache->digests), NULL);
	switch_digests__close(cache->digests);
	cache_keys__free(cache->keys);
	cached__close(&cache->list);
	free(cache->asked);
	free(cache->answers);
	cache->digests = NULL;
	cache->keys = NULL;
	cache->asked = NULL;
	cache->answers = NULL;
	cache->is_begun = false;
}

void switch_cache__close(struct switch_cache *cache)
{
	if (!cache)
		return;
	switch_cache__lose(cache);
	readers__free(cache->readers);
	free(cache);
}

int switch_cache__set_tables(struct switch_cache *cache, const struct dart_tea_tables *tables,
			     struct dart_error *error)
{
	const struct lookup_sizes *sizes = &cache->list.sizes;

	/* begin() allocated the lists for keys and values of these sizes. */
	if (cache->is_begun && (sizes->key_length != tables->geometry.key_length ||
				sizes->value_length != tables->geometry.value_length))
		switch_cache__lose(cache);
	cache->tables = tables;
	if (readers__set_tables(cache->readers, tables))
		return dart_error__no_memory(error);
	return 0;
}

/* ---- the beginning */

static int allocate(struct switch_cache *cache,
		    const struct lookup_sizes *sizes, struct dart_error *error)
{
	const size_t room = sizes->cache_room;
	const struct cache_keys_settings settings = {
		.entries = room,
		.key_length = sizes->key_length,
		.threshold = THRESHOLD,
	};
	int ret;

	ret = cache_keys__new(&settings, &cache->keys);
	if (ret == -EINVAL)
		return dart_error__set(
			error, EINVAL,
			"the program has a cache of %zu entries, and 1 to %d can be kept",
			room, CACHE_KEYS_ENTRIES_MAX);
	ret = ret ?: cached__open(&cache->list, sizes);
	cache->asked = calloc(room, sizes->key_length);
	cache->answers = calloc(room, sizeof(*cache->answers));
	if (ret || !cache->asked || !cache->answers)
		return dart_error__no_memory(error);
	return 0;
}

static int open_digests(struct switch_cache *cache, int32_t list, struct dart_error *error)
{
	const struct switch_digests_settings settings = {
		.address = cache->address,
		.list = list,
		.sample_length = cache->list.sizes.key_length,
	};
	struct epoll_event event = { .events = EPOLLIN };
	int ret;

	ret = switch_digests__open(&settings, &cache->digests, error);
	if (ret)
		return ret;
	event.data.fd = switch_digests__descriptor(cache->digests);
	if (epoll_ctl(cache->poller, EPOLL_CTL_ADD, event.data.fd, &event))
		return dart_error__system(error, errno, "cannot wait for digests");
	return 0;
}

static int begin(struct switch_cache *cache, struct thrift *thrift, struct dart_error *error)
{
	struct switch_program program;
	struct lookup_sizes sizes;
	int32_t list;
	int ret;

	ret = switch_program__read(&program, &lookup_kind.needs, thrift, error);
	if (ret)
		return ret;
	/*
	 * The switch may have started again with another program.  Its entries go first: without
	 * digests, nothing would refresh them.
	 */
	ret = lookup_program__check(&program, cache->tables, error)	   ?:
		      lookup_program__sizes(&program, &sizes, error)	   ?:
		      lookup_program__popular(&program, &list, error)	   ?:
		      allocate(cache, &sizes, error)			   ?:
		      bmv2_table__clear(thrift, LOOKUP_TABLE_CACHE, error) ?:
		      open_digests(cache, list, error)			   ?:
		      cached__clear_sketch(thrift, error)		   ?:
		      cached__set_threshold(thrift, cache_keys__threshold(cache->keys), error);
	switch_program__free(&program);
	if (ret)
		switch_cache__lose(cache);
	cache->is_begun = !ret;
	cache->has_entries = cache->has_entries || !ret;
	return ret;
}

/* ---- popular keys */

/* The table has an entry for this key. */
static int take_popular(struct switch_cache *cache, struct thrift *thrift, const uint8_t *key,
			const uint8_t *value, struct dart_error *error)
{
	uint8_t victim[DART_TEA_KEY_MAX];
	struct cached *there;
	int ret;

	switch (cache_keys__report(cache->keys, key, victim)) {
	case CACHE_KEYS_EXCHANGED:
		there = cached__find(&cache->list, victim);
		ret = there ? cached__remove(&cache->list, thrift, there, error) : 0;
		if (ret)
			return ret;
		break;
	case CACHE_KEYS_ADDED:
		break;
	default:
		return 0;
	}
	ret = cached__add(&cache->list, thrift, key, value, error);
	if (ret)
		cache_keys__remove(cache->keys, key);
	return ret;
}

static int take_samples(struct switch_cache *cache, struct thrift *thrift, const uint8_t *samples,
			uint32_t count, struct dart_error *error)
{
	const uint32_t length = cache->list.sizes.key_length;
	struct dart_error reason = { .text = "" };
	uint32_t part, i;
	int ret = 0;

	for (; !ret && count; count -= part, samples += part * length) {
		part = count < cache->list.sizes.cache_room ? count : cache->list.sizes.cache_room;
		readers__lookup(cache->readers, samples, part, cache->answers, &reason);
		for (i = 0; !ret && i < part; i++)
			if (!cache->answers[i].ret)
				ret = take_popular(cache, thrift, samples + i * length,
						   cache->answers[i].value, error);
	}
	if (!ret && *reason.text)
		ret = dart_error__set(error, EHOSTUNREACH, "%s", reason.text);
	return ret;
}

/*
 * Goes on after a server that does not answer, because no later event announces the digests that
 * are left.
 */
static int receive(struct switch_cache *cache, struct thrift *thrift, struct dart_error *error)
{
	int ret, unreachable = 0;
	const void *samples;
	uint32_t count;

	for (;;) {
		ret = switch_digests__next(cache->digests, &samples, &count, error);
		if (ret < 0)
			switch_cache__lose(cache);
		if (ret <= 0)
			return ret ?: unreachable;
		ret = take_samples(cache, thrift, samples, count, error);
		if (ret == -EHOSTUNREACH)
			unreachable = ret;
		else if (ret)
			return ret;
		ret = switch_digests__acknowledge(cache->digests, thrift, error);
		if (ret)
			return ret;
	}
}

/* After a change that failed, the contents of the switch are unknown: begin anew. */
static int lose_after(struct switch_cache *cache, int ret)
{
	if (ret && ret != -EHOSTUNREACH)
		switch_cache__lose(cache);
	return ret;
}

int switch_cache__receive(struct switch_cache *cache, struct thrift *thrift,
			  struct dart_error *error)
{
	if (!cache->is_begun)
		return 0;
	return lose_after(cache, receive(cache, thrift, error));
}

/* ---- periods */

static int refresh_entry(struct switch_cache *cache, struct thrift *thrift, struct cached *cached,
			 const struct dart_tea_answer *answer, struct dart_error *error)
{
	if (answer->ret) {
		cache_keys__remove(cache->keys, cached->key);
		return cached__remove(&cache->list, thrift, cached, error);
	}
	return cached__change(&cache->list, thrift, cached, answer->value, error);
}

/* From the last entry to the first, because the last one takes the place of a removed one. */
static int refresh(struct switch_cache *cache, struct thrift *thrift, struct dart_error *error)
{
	const uint32_t length = cache->list.sizes.key_length;
	struct dart_error reason;
	size_t i;
	int ret = 0;

	for (i = 0; i < cache->list.count; i++)
		memcpy(cache->asked + i * length, cache->list.entries[i].key, length);
	readers__lookup(cache->readers, cache->asked, cache->list.count, cache->answers, &reason);
	for (i = cache->list.count; !ret && i; i--)
		ret = refresh_entry(cache, thrift, &cache->list.entries[i - 1],
				    &cache->answers[i - 1], error);
	if (!ret && *reason.text)
		ret = dart_error__set(error, EHOSTUNREACH, "%s", reason.text);
	return ret;
}

static int count_packets(struct switch_cache *cache, struct thrift *thrift,
			 struct dart_error *error)
{
	uint64_t packets;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < cache->list.count; i++) {
		ret = bmv2_counter__packets_of(thrift, LOOKUP_TABLE_CACHE,
					       cache->list.entries[i].handle, &packets, error);
		if (!ret)
			cache_keys__count(cache->keys, cache->list.entries[i].key, packets);
	}
	return ret;
}

static int end_period(struct switch_cache *cache, struct thrift *thrift, struct dart_error *error)
{
	int ret, refreshed;

	refreshed = refresh(cache, thrift, error);
	if (refreshed && refreshed != -EHOSTUNREACH)
		return refreshed;
	ret = count_packets(cache, thrift, error) ?:
		      cached__set_threshold(thrift, cache_keys__end_period(cache->keys), error) ?:
		      cached__clear_sketch(thrift, error);
	return ret ?: refreshed;
}

int switch_cache__refresh(struct switch_cache *cache, struct thrift *thrift,
			  struct dart_error *error)
{
	if (!cache->is_begun)
		return begin(cache, thrift, error);
	return lose_after(cache, end_period(cache, thrift, error));
}

int switch_cache__clear(struct switch_cache *cache, struct thrift *thrift, struct dart_error *error)
{
	if (!cache->has_entries)
		return 0;
	return cached__set_threshold(thrift, 0, error) ?:
		       bmv2_table__clear(thrift, LOOKUP_TABLE_CACHE, error);
}
