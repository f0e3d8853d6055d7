// SPDX-License-Identifier: GPL-2.0-only
/* Distributions of keys: see store_keys.h. */
#include "store_keys.h"

#include <err.h>
#include <stdbool.h>
#include <stdlib.h>

#include "ingest.h"
#include "zipf.h"

#define ZIPF_KEYS (1 << 20)
#define ZIPF_SKEW 0.99
#define LINE 64 /* bytes */
#define SETS 64
/* Their slots are more than a cache of the second level has in the sets that they share. */
#define CROWDED_MAX (1 << 13)

struct store_keys {
	uint64_t count; /* of the store */
	struct zipf *zipf; /* or NULL */
	uint64_t *crowded; /* numbers, or NULL */
	uint32_t crowded_count;
};

const char *store_keys__name(enum store_keys_kind kind)
{
	static const char *const names[STORE_KEYS_KINDS] = {
		[STORE_KEYS_UNIFORM] = "uniform",
		[STORE_KEYS_ZIPF] = "Zipf",
		[STORE_KEYS_CROWDED] = "of one set",
	};

	return names[kind];
}

/* Memory of stores begins with a page, so the place within it says the set. */
static bool is_crowded(const struct dart_store *store, uint64_t number)
{
	const struct dart_store_geometry *geometry = dart_store__geometry(store);
	const size_t length = dart_store_geometry__slot_length(geometry);
	struct dart_store_place place;
	uint8_t key[INGEST_KEY];
	uint32_t copy;

	ingest__key(number, key);
	dart_store_hash__place(dart_store__hash(store), key, sizeof(key), &place);
	for (copy = 0; copy < geometry->redundancy; copy++)
		if (place.slots[copy] * length / LINE % SETS)
			return false;
	return true;
}

static void store_keys__find_crowded(struct store_keys *keys, const struct dart_store *store)
{
	uint64_t number;

	keys->crowded = calloc(CROWDED_MAX, sizeof(*keys->crowded));
	if (!keys->crowded)
		err(EXIT_FAILURE, "keys");
	for (number = 0; number < keys->count && keys->crowded_count < CROWDED_MAX; number++)
		if (is_crowded(store, number))
			keys->crowded[keys->crowded_count++] = number;
	if (!keys->crowded_count)
		errx(EXIT_FAILURE, "no keys share a set of the cache (use a larger --slots-log2)");
}

struct store_keys *store_keys__new(enum store_keys_kind kind, const struct dart_store *store,
				   uint64_t count)
{
	struct store_keys *keys = calloc(1, sizeof(*keys));

	if (!keys)
		err(EXIT_FAILURE, "keys");
	keys->count = count;
	if (kind == STORE_KEYS_ZIPF)
		keys->zipf = zipf__new(count < ZIPF_KEYS ? count : ZIPF_KEYS, ZIPF_SKEW);
	else if (kind == STORE_KEYS_CROWDED)
		store_keys__find_crowded(keys, store);
	return keys;
}

void store_keys__free(struct store_keys *keys)
{
	if (keys->zipf)
		zipf__free(keys->zipf);
	free(keys->crowded);
	free(keys);
}

uint64_t store_keys__next(const struct store_keys *keys, struct dart_random *random)
{
	if (keys->zipf)
		return zipf__next(keys->zipf, random);
	if (keys->crowded)
		return keys->crowded[dart_random__below(random, keys->crowded_count)];
	return dart_random__below(random, keys->count);
}
