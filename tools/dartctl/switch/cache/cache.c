// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the cache of a switch with lookup tables, see lookup_cache.h. */
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
#include "tools/dartctl/switch/lookups/program.h"
#include "tools/dartctl/switch/lookups/state.h"
#include "tools/dartctl/switch/reports/bmv2.h"
#include "tools/dartctl/switch/thrift/digests.h"

#define THRESHOLD 16 /* packets of a period, at least */

struct lookup_cache {
	const char *address;
	int poller;
	const struct dart_tea_tables *tables;
	struct lookup_readers *readers;
	/* the rest only while the switch is known, from begin() to lose() */
	bool is_begun;
	struct switch_digests *digests;
	struct tea_cache *keys;
	struct lookup_cached_list list;
	uint8_t *asked; /* keys of a lookup, and their answers */
	struct dart_tea_answer *answers;
};

int lookup_cache__open(const char *address, int poller,
		       struct lookup_cache **result, struct dart_error *error)
{
	struct lookup_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return dart_error__no_memory(error);
	cache->address = address;
	cache->poller = poller;
	cache->readers = lookup_readers__new();
	if (!cache->readers) {
		free(cache);
		return dart_error__no_memory(error);
	}
	*result = cache;
	return 0;
}

void lookup_cache__lose(struct lookup_cache *cache)
{
	if (cache->digests)
		epoll_ctl(cache->poller, EPOLL_CTL_DEL,
			  switch_digests__descriptor(cache->digests), NULL);
	switch_digests__close(cache->digests);
	tea_cache__free(cache->keys);
	lookup_cached__close(&cache->list);
	free(cache->asked);
	free(cache->answers);
	cache->digests = NULL;
	cache->keys = NULL;
	cache->asked = NULL;
	cache->answers = NULL;
	cache->is_begun = false;
}

void lookup_cache__close(struct lookup_cache *cache)
{
	if (!cache)
		return;
	lookup_cache__lose(cache);
	lookup_readers__free(cache->readers);
	free(cache);
}

int lookup_cache__set_tables(struct lookup_cache *cache,
			     const struct dart_tea_tables *tables,
			     struct dart_error *error)
{
	const struct lookup_sizes *sizes = &cache->list.sizes;

	/* The lists have room for keys of the sizes that it began with. */
	if (cache->is_begun &&
	    (sizes->key_length != tables->geometry.key_length ||
	     sizes->value_length != tables->geometry.value_length))
		lookup_cache__lose(cache);
	cache->tables = tables;
	if (lookup_readers__set_tables(cache->readers, tables))
		return dart_error__no_memory(error);
	return 0;
}

/* ---- the beginning */

static int allocate(struct lookup_cache *cache,
		    const struct lookup_sizes *sizes, struct dart_error *error)
{
	const size_t room = sizes->cache_room;
	const struct tea_cache_settings settings = {
		.entries = room,
		.key_length = sizes->key_length,
		.threshold = THRESHOLD,
	};
	int ret;

	ret = tea_cache__new(&settings, &cache->keys);
	if (ret == -EINVAL)
		return dart_error__set(
			error, EINVAL,
			"the program has a cache of %zu entries, and 1 to %d can be kept",
			room, TEA_CACHE_ENTRIES_MAX);
	ret = ret ?: lookup_cached__open(&cache->list, sizes);
	cache->asked = calloc(room, sizes->key_length);
	cache->answers = calloc(room, sizeof(*cache->answers));
	if (ret || !cache->asked || !cache->answers)
		return dart_error__no_memory(error);
	return 0;
}

static int open_digests(struct lookup_cache *cache, int32_t list,
			struct dart_error *error)
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
		return dart_error__system(error, errno,
					  "cannot wait for digests");
	return 0;
}

static int begin(struct lookup_cache *cache, struct thrift *thrift,
		 struct dart_error *error)
{
	struct switch_program program;
	struct lookup_sizes sizes;
	int32_t list;
	int ret;

	ret = switch_bmv2__read_program(thrift, &lookup_program, &program,
					error);
	if (ret)
		return ret;
	/* The switch may have started again with another program. */
	ret = lookup_program__check(&program, cache->tables, error) ?:
	      lookup_program__sizes(&program, &sizes, error) ?:
	      lookup_program__popular(&program, &list, error) ?:
	      allocate(cache, &sizes, error) ?:
	      open_digests(cache, list, error) ?:
	      bmv2_table__clear(thrift, LOOKUP_CACHE, error) ?:
	      lookup_cached__clear_sketch(thrift, error) ?:
	      lookup_cached__set_threshold(
		      thrift, tea_cache__threshold(cache->keys), error);
	switch_program__free(&program);
	if (ret)
		lookup_cache__lose(cache);
	cache->is_begun = !ret;
	return ret;
}

/* ---- popular keys */

/* The table has an entry for this key. */
static int take_popular(struct lookup_cache *cache, struct thrift *thrift,
			const uint8_t *key, const uint8_t *value,
			struct dart_error *error)
{
	uint8_t victim[DART_TEA_KEY_MAX];
	struct lookup_cached *there;
	int ret;

	switch (tea_cache__report(cache->keys, key, victim)) {
	case TEA_CACHE_EXCHANGED:
		there = lookup_cached__find(&cache->list, victim);
		ret = there ? lookup_cached__remove(&cache->list, thrift, there,
						    error) :
			      0;
		if (ret)
			return ret;
		break;
	case TEA_CACHE_ADDED:
		break;
	default:
		return 0;
	}
	ret = lookup_cached__add(&cache->list, thrift, key, value, error);
	if (ret)
		tea_cache__remove(cache->keys, key);
	return ret;
}

static int take_samples(struct lookup_cache *cache, struct thrift *thrift,
			const uint8_t *samples, uint32_t count,
			struct dart_error *error)
{
	const uint32_t length = cache->list.sizes.key_length;
	struct dart_error reason = { .text = "" };
	uint32_t part, i;
	int ret = 0;

	for (; !ret && count; count -= part, samples += part * length) {
		part = count < cache->list.sizes.cache_room ?
			       count :
			       cache->list.sizes.cache_room;
		lookup_readers__lookup(cache->readers, samples, part,
				       cache->answers, &reason);
		for (i = 0; !ret && i < part; i++)
			if (!cache->answers[i].ret)
				ret = take_popular(cache, thrift,
						   samples + i * length,
						   cache->answers[i].value,
						   error);
	}
	if (!ret && *reason.text)
		ret = dart_error__set(error, EHOSTUNREACH, "%s", reason.text);
	return ret;
}

/* Goes on after a server that does not answer: no other event tells of what is left. */
static int receive(struct lookup_cache *cache, struct thrift *thrift,
		   struct dart_error *error)
{
	int ret, unreachable = 0;
	const void *samples;
	uint32_t count;

	for (;;) {
		ret = switch_digests__next(cache->digests, &samples, &count,
					   error);
		if (ret < 0)
			lookup_cache__lose(cache);
		if (ret <= 0)
			return ret ?: unreachable;
		ret = take_samples(cache, thrift, samples, count, error);
		if (ret == -EHOSTUNREACH)
			unreachable = ret;
		else if (ret)
			return ret;
		ret = switch_digests__acknowledge(cache->digests, thrift,
						  error);
		if (ret)
			return ret;
	}
}

/* After a change that failed, what the switch has is not known, and it begins anew. */
static int lose_after(struct lookup_cache *cache, int ret)
{
	if (ret && ret != -EHOSTUNREACH)
		lookup_cache__lose(cache);
	return ret;
}

int lookup_cache__receive(struct lookup_cache *cache, struct thrift *thrift,
			  struct dart_error *error)
{
	if (!cache->is_begun)
		return 0;
	return lose_after(cache, receive(cache, thrift, error));
}

/* ---- periods */

static int refresh_entry(struct lookup_cache *cache, struct thrift *thrift,
			 struct lookup_cached *cached,
			 const struct dart_tea_answer *answer,
			 struct dart_error *error)
{
	if (answer->ret) {
		tea_cache__remove(cache->keys, cached->key);
		return lookup_cached__remove(&cache->list, thrift, cached,
					     error);
	}
	return lookup_cached__change(&cache->list, thrift, cached,
				     answer->value, error);
}

/* From the last one to the first: the last takes the place of one that is removed. */
static int refresh(struct lookup_cache *cache, struct thrift *thrift,
		   struct dart_error *error)
{
	const uint32_t length = cache->list.sizes.key_length;
	struct dart_error reason;
	size_t i;
	int ret = 0;

	for (i = 0; i < cache->list.count; i++)
		memcpy(cache->asked + i * length, cache->list.entries[i].key,
		       length);
	lookup_readers__lookup(cache->readers, cache->asked, cache->list.count,
			       cache->answers, &reason);
	for (i = cache->list.count; !ret && i; i--)
		ret = refresh_entry(cache, thrift, &cache->list.entries[i - 1],
				    &cache->answers[i - 1], error);
	if (!ret && *reason.text)
		ret = dart_error__set(error, EHOSTUNREACH, "%s", reason.text);
	return ret;
}

static int count_packets(struct lookup_cache *cache, struct thrift *thrift,
			 struct dart_error *error)
{
	uint64_t packets;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < cache->list.count; i++) {
		ret = bmv2_counter__packets_of(thrift, LOOKUP_CACHE,
					       cache->list.entries[i].handle,
					       &packets, error);
		if (!ret)
			tea_cache__count(cache->keys,
					 cache->list.entries[i].key, packets);
	}
	return ret;
}

static int end_period(struct lookup_cache *cache, struct thrift *thrift,
		      struct dart_error *error)
{
	int ret, refreshed;

	refreshed = refresh(cache, thrift, error);
	if (refreshed && refreshed != -EHOSTUNREACH)
		return refreshed;
	ret = count_packets(cache, thrift, error) ?:
		      lookup_cached__set_threshold(thrift, tea_cache__end_period(cache->keys), error) ?:
		      lookup_cached__clear_sketch(thrift, error);
	return ret ?: refreshed;
}

int lookup_cache__refresh(struct lookup_cache *cache, struct thrift *thrift,
			  struct dart_error *error)
{
	if (!cache->is_begun)
		return begin(cache, thrift, error);
	return lose_after(cache, end_period(cache, thrift, error));
}

int lookup_cache__clear(struct lookup_cache *cache, struct thrift *thrift,
			struct dart_error *error)
{
	if (!cache->is_begun)
		return 0;
	return lookup_cached__set_threshold(thrift, 0, error) ?:
		       bmv2_table__clear(thrift, LOOKUP_CACHE, error);
}
