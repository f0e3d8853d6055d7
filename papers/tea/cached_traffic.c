// SPDX-License-Identifier: GPL-2.0-only
/* Sends packets of many flows through a switch with a cache. */
#include "cached_traffic.h"

#include <err.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/random.h>
#include <libdart/store/store_hash.h>
#include <libdart/tea/tea_hash.h>

#include "tea_sketch.h"
#include "tools/bench/zipf.h"
#include "tools/dartctl/switch/cache/keys.h"

#define KEY	13	/* bytes of an IPv4 flow: see schemas/ */

struct flow {
	uint8_t key[KEY];
	bool is_cached;
	uint16_t share;
	struct tea_sketch_key sketch_key;
	uint64_t hits;		/* since the key was cached */
};

struct path {
	const struct cached_traffic *traffic;
	struct cached_load *load;	/* NULL: packets are not counted */
	struct flow *flows;
	uint32_t *cached;	/* flows, in any order */
	uint32_t cached_count;
	struct tea_sketch *sketch;
	struct cache_keys *cache;
};

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		err(EXIT_FAILURE, "cached traffic");
	return memory;
}

/* Flows use random addresses and ports; half of them are UDP. */
static void make_flows(struct path *path, struct dart_random *random)
{
	const struct dart_tea_geometry geometry = {
		.rows_log2 = 20, .cells = DART_TEA_CELLS, .key_length = KEY,
		.value_length = 7, .packet_length = DART_TEA_PACKET,
	};
	struct dart_tea_hash *hash;
	uint32_t i;

	if (dart_tea_hash__new(&geometry, &hash))
		err(EXIT_FAILURE, "hash");
	for (i = 0; i < path->traffic->flows; i++) {
		struct flow *flow = &path->flows[i];
		const uint64_t words[] = {
			dart_random__next(random), dart_random__next(random),
		};
		struct dart_tea_place place;

		memcpy(flow->key, words, KEY);
		flow->key[KEY - 1] = words[1] >> 63 ? 17 : 6;
		dart_tea_hash__place(hash, flow->key, &place);
		flow->share = place.share;
		flow->sketch_key.row_0 = dart_store__crc(DART_TEA_ROW_0, flow->key, KEY);
		flow->sketch_key.row_1 = dart_store__crc(DART_TEA_ROW_1, flow->key, KEY);
	}
	dart_tea_hash__free(hash);
}

static void drop(struct path *path, const uint8_t key[KEY])
{
	uint32_t i = 0;

	while (memcmp(path->flows[path->cached[i]].key, key, KEY))
		i++;
	path->flows[path->cached[i]].is_cached = false;
	path->cached[i] = path->cached[--path->cached_count];
}

static void report(struct path *path, struct flow *flow)
{
	uint8_t victim[KEY];

	if (path->load)
		path->load->reports++;
	switch (cache_keys__report(path->cache, flow->key, victim)) {
	case CACHE_KEYS_EXCHANGED:
		drop(path, victim);
		if (path->load)
			path->load->exchanges++;
		break;
	case CACHE_KEYS_ADDED:
		break;
	default:
		return;
	}
	flow->is_cached = true;
	flow->hits = 0;
	path->cached[path->cached_count++] = flow - path->flows;
}

static void packet(struct path *path, struct flow *flow)
{
	struct cached_load *load = path->load;

	if (load) {
		load->packets++;
		load->all[flow->share]++;
		load->absorbed += flow->is_cached;
		load->missed[flow->share] += !flow->is_cached;
	}
	if (flow->is_cached)
		flow->hits++;
	else if (path->cache && tea_sketch__packet(path->sketch, &flow->sketch_key,
						   cache_keys__threshold(path->cache)))
		report(path, flow);
}

static void end_period(struct path *path)
{
	uint32_t i;

	if (!path->cache)
		return;
	for (i = 0; i < path->cached_count; i++) {
		const struct flow *flow = &path->flows[path->cached[i]];

		cache_keys__count(path->cache, flow->key, flow->hits);
	}
	cache_keys__end_period(path->cache);
	tea_sketch__clear(path->sketch);
}

void cached_traffic__run(const struct cached_traffic *traffic, struct cached_load *load)
{
	const struct cache_keys_settings settings = {
		.entries = traffic->cache, .key_length = KEY,
		.threshold = traffic->threshold,
	};
	struct dart_random random = dart_random__of(traffic->seed);
	struct zipf *zipf = zipf__new(traffic->flows, traffic->skew);
	struct path path = {
		.traffic = traffic,
		.flows = allocate(traffic->flows, sizeof(*path.flows)),
		.cached = allocate(traffic->cache + 1, sizeof(*path.cached)),
		.sketch = allocate(1, sizeof(*path.sketch)),
	};
	uint32_t period;
	uint64_t i;

	if (traffic->cache && cache_keys__new(&settings, &path.cache))
		errx(EXIT_FAILURE, "no such cache");
	make_flows(&path, &random);
	*load = (struct cached_load){
		.best = zipf__below(zipf, traffic->cache),
	};
	for (period = 0; period < traffic->warm + traffic->periods; period++) {
		if (period == traffic->warm)
			path.load = load;
		for (i = 0; i < traffic->period; i++)
			packet(&path, &path.flows[zipf__next(zipf, &random)]);
		end_period(&path);
	}
	cache_keys__free(path.cache);
	free(path.sketch);
	free(path.cached);
	free(path.flows);
	zipf__free(zipf);
}
