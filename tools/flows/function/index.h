/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects by a key that strangers choose, with a fixed number of chains: an index never grows, so
 * that no packet waits for that.  The hash has a secret seed.
 */
#ifndef FLOWS_INDEX_H
#define FLOWS_INDEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

struct index_link {
	struct index_link *next;
	uint64_t hash;
};

struct index {
	struct index_link **chains;
	uint32_t mask;
	uint64_t seed;
};

/* For about @most objects.  Returns 0 or -1. */
static inline int index__open(struct index *index, uint64_t most)
{
	uint64_t chains = 16;

	while (chains < most)
		chains *= 2;
	index->mask = chains - 1;
	index->chains = calloc(chains, sizeof(struct index_link *));
	if (!index->chains ||
	    getrandom(&index->seed, sizeof(index->seed), 0) != sizeof(index->seed))
		return -1;
	return 0;
}

static inline void index__close(struct index *index)
{
	free(index->chains);
}

static inline uint64_t index__hash(const struct index *index, const void *key, size_t length)
{
	return XXH3_64bits_withSeed(key, length, index->seed);
}

/* The first object of the chain that objects with this hash are in. */
static inline struct index_link *index__chain(const struct index *index, uint64_t hash)
{
	return index->chains[hash & index->mask];
}

static inline void index__add(struct index *index, struct index_link *link, uint64_t hash)
{
	struct index_link **chain = &index->chains[hash & index->mask];

	link->hash = hash;
	link->next = *chain;
	*chain = link;
}

static inline void index__remove(struct index *index, const struct index_link *link)
{
	struct index_link **place = &index->chains[link->hash & index->mask];

	while (*place != link)
		place = &(*place)->next;
	*place = link->next;
}

#endif /* FLOWS_INDEX_H */
