/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An adapter in virtual time, with a cache of queue pairs (ZERO, sections 6.3 and 7).  The pair
 * that was not used for longest leaves the cache.  A pair that is not in the cache is fetched from
 * memory, and the adapter stands still meanwhile: real ones serve other pairs, so this is the
 * costlier end of what they may do.
 */
#ifndef PAPERS_ADAPTER_H
#define PAPERS_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct adapter_pair {
	TAILQ_ENTRY(adapter_pair) place; /* in adapter.cache, if is_cached */
	bool is_cached;
};

struct adapter {
	TAILQ_HEAD(, adapter_pair) cache; /* the last one was used last */
	struct adapter_pair *pairs;
	uint32_t room; /* of the cache; 0: all pairs are in it */
	uint32_t cached;
	uint64_t fetch_ns;
	uint64_t free_ns; /* it fetches until then */
	uint64_t fetches;
};

/* An adapter of @pairs queue pairs.  Exits the program if out of memory. */
void adapter__init(struct adapter *adapter, uint32_t pairs, uint32_t room, uint64_t fetch_ns);
void adapter__free(struct adapter *adapter);
/* A message of @pair arrives at @now_ns.  Returns when the adapter has seen to it. */
uint64_t adapter__use(struct adapter *adapter, uint32_t pair, uint64_t now_ns);

#endif /* PAPERS_ADAPTER_H */
