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

	if (!latency->count || ns < latency->min)
		latency->min = ns;
	if (ns > latency->max)
		latency->max = ns;
	latency->count++;
	latency->buckets[shift * 128 + (ns >> shift)]++;
}

uint64_t latency__percentile(const struct latency *latency,
			     unsigned int percent)
{
	uint64_t wanted = (latency->count * percent + 99) / 100;
	uint64_t seen = 0, top;
	unsigned int i, shift;

	for (i = 0; i < LATENCY_BUCKETS; i++) {
		seen += latency->buckets[i];
		if (!seen || seen < wanted)
			continue;
		shift = i < 256 ? 0 : i / 128 - 1;
		top = ((uint64_t)(i - shift * 128 + 1) << shift) - 1;
		return top < latency->max ? top : latency->max;
	}
	return 0;
}
