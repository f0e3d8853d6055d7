// SPDX-License-Identifier: GPL-2.0-only
/* Writes reports into a store in memory. */
#include <string.h>

#include <libdart/random.h>

#include "ingest.h"

/* Reports whose slots are fetched from memory at once. */
#define BATCH 32

/* Keys differ: the first word is a bijective function of the index. */
void ingest__key(uint64_t index, uint8_t key[static INGEST_KEY])
{
	struct dart_random random = dart_random__of(index);
	const uint64_t words[] = {
		dart_random__next(&random), dart_random__next(&random),
	};

	memcpy(key, words, INGEST_KEY);
}

/* The second loop only prefetches; see dart_store__query_batch(). */
static void ingest__batch(const struct dart_store *store, uint8_t *memory,
			  const uint8_t *keys, uint64_t first, uint32_t count)
{
	const struct dart_store_geometry *geometry = dart_store__geometry(store);
	const size_t length = dart_store_geometry__slot_length(geometry);
	const uint32_t redundancy = geometry->redundancy;
	struct dart_store_place places[BATCH];
	uint8_t value[DART_STORE_VALUE_MAX] = { 0 };
	uint32_t i, copy;

	for (i = 0; i < count; i++)
		dart_store_hash__place(dart_store__hash(store), keys + i * INGEST_KEY, INGEST_KEY,
				       &places[i]);
	for (i = 0; i < count; i++) {
		for (copy = 0; copy < redundancy; copy++) {
			uint8_t *slot = memory + places[i].slots[copy] * length;

			__builtin_prefetch(slot, 1);
			__builtin_prefetch(slot + length - 1, 1);
		}
	}
	for (i = 0; i < count; i++) {
		const uint64_t number = first + i;

		memcpy(value, &number, geometry->value_length < 8 ? 4 : 8);
		for (copy = 0; copy < redundancy; copy++)
			dart_store__fill(geometry, &places[i], value, memory +
					 places[i].slots[copy] * length);
	}
}

void ingest__reports(const struct dart_store *store, uint8_t *memory,
		     const uint8_t *keys, uint64_t first, uint32_t count)
{
	uint32_t batch;

	for (; count; count -= batch, first += batch) {
		batch = count < BATCH ? count : BATCH;
		ingest__batch(store, memory, keys, first, batch);
		keys += batch * INGEST_KEY;
	}
}
