// SPDX-License-Identifier: GPL-2.0-only
/* Collects times in buckets and computes percentiles. */
#include "latency.h"

#include <libdart/prefetch.h>

#define UNIT_SHIFT 4 /* a unit is 16 ns */
#define OCTAVE_SHIFT 6 /* 64 buckets for each power of two */
#define OCTAVE (1U << OCTAVE_SHIFT)
#define LAST (LATENCY_BUCKETS - 1)

/* Below two octaves of units a bucket is a unit wide. */
static unsigned int bucket_of(uint64_t ns)
{
	const uint64_t units = ns >> UNIT_SHIFT;
	unsigned int shift = 0;
	uint64_t bucket;

	if (units >= OCTAVE)
		shift = 63 - __builtin_clzll(units) - OCTAVE_SHIFT;
	bucket = shift * OCTAVE + (units >> shift);
	return bucket < LAST ? bucket : LAST;
}

static uint64_t middle_of(unsigned int bucket)
{
	const unsigned int shift = bucket < OCTAVE ? 0 : bucket / OCTAVE - 1;
	const uint64_t units = (uint64_t)(bucket - shift * OCTAVE) << shift;

	return (units << UNIT_SHIFT) + (1ULL << shift << UNIT_SHIFT >> 1);
}

static uint32_t load(const _Atomic uint32_t *bucket)
{
	return atomic_load_explicit(bucket, memory_order_relaxed);
}

static void store(_Atomic uint32_t *bucket, uint32_t count)
{
	atomic_store_explicit(bucket, count, memory_order_relaxed);
}

static void latency__halve(struct latency *latency)
{
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS; i++)
		store(&latency->buckets[i], load(&latency->buckets[i]) / 2);
}

void latency__ahead(const struct latency *latency, uint64_t ns)
{
	dart_prefetch(&latency->buckets[bucket_of(ns)], sizeof(*latency->buckets));
}

void latency__add(struct latency *latency, uint64_t ns)
{
	_Atomic uint32_t *bucket = &latency->buckets[bucket_of(ns)];

	if (!count__of(&latency->count) || ns < count__of(&latency->min))
		count__set(&latency->min, ns);
	if (ns > count__of(&latency->max))
		count__set(&latency->max, ns);
	count__add(&latency->count, 1);
	if (load(bucket) == UINT32_MAX)
		latency__halve(latency);
	store(bucket, load(bucket) + 1);
}

uint64_t latency__percentile(const struct latency *latency, unsigned int percent)
{
	const uint64_t min = count__of(&latency->min);
	const uint64_t max = count__of(&latency->max);
	uint64_t all = 0, seen = 0, wanted, middle;
	unsigned int i;

	for (i = 0; i < LATENCY_BUCKETS; i++)
		all += load(&latency->buckets[i]);
	if (!all)
		return 0;
	wanted = (all * percent + 99) / 100;
	for (i = 0; i < LAST; i++) {
		seen += load(&latency->buckets[i]);
		if (seen && seen >= wanted)
			break;
	}
	middle = i < LAST ? middle_of(i) : max;
	if (middle < min)
		return min;
	return middle < max ? middle : max;
}
