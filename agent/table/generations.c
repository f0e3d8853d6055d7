// SPDX-License-Identifier: GPL-2.0-only
/* Remembers when some generations of the table were published. */
#include "agent/base/lease.h"
#include "generations.h"

/* A lease counts from the beginning of a microsecond. */
#define LEASE_NS (LEASE_MS * INT64_C(1000000) - 1000)

void generations__publish(struct generations *generations, uint64_t generation,
			  bool is_rewritten, int64_t now_ns)
{
	uint32_t last = generations->samples_total - 1, next;

	generations->now = generation;
	if (is_rewritten) {
		generations->rewritten = generation;
		generations->samples_total = 0;
	} else if (generations->samples_total &&
		   now_ns - generations->samples[last % GENERATIONS_SAMPLES].published <
			   LEASE_NS / GENERATIONS_SAMPLES) {
		return;
	}
	next = generations->samples_total++ % GENERATIONS_SAMPLES;
	generations->samples[next].generation = generation;
	generations->samples[next].published = now_ns;
}

/*
 * A generation was replaced when the next one was published.  If the next one is not older than a
 * generation that was published less than a lease ago, the replacement is not older either, and
 * leases on removed entries began with it.
 */
bool generations__can_use(const struct generations *generations,
			  uint64_t generation, int64_t now_ns)
{
	uint32_t i;

	if (generation == generations->now)
		return true;
	if (generation > generations->now || generation < generations->rewritten)
		return false;
	for (i = 0; i < GENERATIONS_SAMPLES && i < generations->samples_total; i++)
		if (generation + 1 >= generations->samples[i].generation &&
		    now_ns - generations->samples[i].published < LEASE_NS)
			return true;
	return false;
}
