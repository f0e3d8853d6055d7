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

static void ingest__place(const struct dart_store *store, const uint8_t *keys, uint32_t count,
			  struct dart_store_place *places)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		dart_store_hash__place(dart_store__hash(store), keys + i * INGEST_KEY, INGEST_KEY,
				       &places[i]);
}

/* Inline: see dart_store__query_batch(). */
static inline __attribute__((always_inline)) void
ingest__prefetch(const struct dart_store_geometry *geometry, const uint8_t *memory,
		 const struct dart_store_place *places, uint32_t count)
{
	const size_t length = dart_store_geometry__slot_length(geometry);
	const uint32_t redundancy = geometry->redundancy;
	uint32_t i, copy;

	for (i = 0; i < count; i++) {
		for (copy = 0; copy < redundancy; copy++) {
			const uint8_t *slot = memory + places[i].slots[copy] * length;

			__builtin_prefetch(slot, 1);
			__builtin_prefetch(slot + length - 1, 1);
		}
	}
}

static void ingest__fill(const struct dart_store_geometry *geometry, uint8_t *memory,
			 const struct dart_store_place *places, uint64_t first, uint32_t count)
{
	const size_t length = dart_store_geometry__slot_length(geometry);
	const uint32_t redundancy = geometry->redundancy;
	uint8_t value[DART_STORE_VALUE_MAX] = { 0 };
	uint32_t i, copy;

	for (i = 0; i < count; i++) {
		const uint64_t number = first + i;

		memcpy(value, &number, geometry->value_length < 8 ? 4 : 8);
		for (copy = 0; copy < redundancy; copy++)
			dart_store__fill(geometry, &places[i], value, memory +
					 places[i].slots[copy] * length);
	}
}

/* Prefetches the slots of the next batch while it fills the slots of the present one. */
void ingest__reports(const struct dart_store *store, uint8_t *memory,
		     const uint8_t *keys, uint64_t first, uint32_t count)
{
	const struct dart_store_geometry *geometry = dart_store__geometry(store);
	struct dart_store_place places[2][BATCH];
	uint32_t batch = 0, next, turn;

	for (turn = 0; batch || count; turn ^= 1) {
		next = count < BATCH ? count : BATCH;
		ingest__place(store, keys, next, places[turn]);
		ingest__prefetch(geometry, memory, places[turn], next);
		ingest__fill(geometry, memory, places[turn ^ 1], first, batch);
		keys += next * INGEST_KEY;
		count -= next;
		first += batch;
		batch = next;
	}
}
