// SPDX-License-Identifier: GPL-2.0-only
/* Collects times in buckets and computes percentiles. */
#include "latency.h"

/* Below 256 ns, buckets are 1 ns wide; each power of two above has 128. */
static unsigned int shift_of(uint64_t ns)
{
	return ns < 256 ? 0 : 56 - __builtin_clzll(ns);
}

void latency__add(struct latency *latency, uint64_t ns)
{
	unsigned int shift = shift_of(ns);

	_Atomic uint32_t *bucket = &latency->buckets[shift * 128 + (ns >> shift)];

	if (!count__of(&latency->count) || ns < count__of(&latency->min))
		count__set(&latency->min, ns);
	if (ns > count__of(&latency->max))
		count__set(&latency->max, ns);
	count__add(&latency->count, 1);
	atomic_store_explicit(
		bucket,
		atomic_load_explicit(bucket, memory_order_relaxed) + 1,
		memory_order_relaxed);
}

uint64_t latency__percentile(const struct latency *latency,
			     unsigned int percent)
{
	uint64_t wanted = (count__of(&latency->count) * percent + 99) / 100;
	const uint64_t max = count__of(&latency->max);
	uint64_t seen = 0, top;
	unsigned int i, shift;

	for (i = 0; i < LATENCY_BUCKETS; i++) {
		seen += atomic_load_explicit(&latency->buckets[i],
					     memory_order_relaxed);
		if (!seen || seen < wanted)
			continue;
		shift = i < 256 ? 0 : i / 128 - 1;
		top = ((uint64_t)(i - shift * 128 + 1) << shift) - 1;
		return top < max ? top : max;
	}
	return 0;
}
