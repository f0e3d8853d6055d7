// SPDX-License-Identifier: GPL-2.0-only
/* Allocates the slots in which scrapes land, and uses them in turn. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libdart/prefetch.h>

#include "budget.h"
#include "ring.h"

/* Keeps two slots from sharing a cache line. */
#define SLOT_ALIGNMENT 64

static size_t round_up(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

struct ring *ring__new(struct scraper *scraper)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	unsigned int i;

	if (!ring) {
		scraper__free(scraper);
		return NULL;
	}
	ring->scraper = scraper;
	atomic_init(&ring->holders, 1);
	ring->slot_size = round_up(scraper__landing_size(scraper), SLOT_ALIGNMENT);
	ring->count = ring->slot_size > RING_SLOT_LARGE ? BUDGET_LANDINGS : RING_SLOTS;
	ring->memory = aligned_alloc(sysconf(_SC_PAGESIZE), ring__size(ring));
	if (!ring->memory) {
		ring__release(ring);
		return NULL;
	}
	memset(ring->memory, 0, ring__size(ring));
	for (i = 0; i < ring->count; i++) {
		ring->slots[i].ring = ring;
		ring->slots[i].landing = (char *)ring->memory + i * ring->slot_size;
	}
	return ring;
}

size_t ring__size(const struct ring *ring)
{
	return round_up(ring->count * ring->slot_size, sysconf(_SC_PAGESIZE));
}

void ring__ahead(const struct ring *ring, unsigned int step)
{
	const struct scraper *scraper;

	if (!step) {
		dart_prefetch(ring, offsetof(struct ring, slots));
		return;
	}
	scraper = ring->scraper;
	if (step == 1) {
		dart_prefetch(&ring->slots[ring->current], sizeof(*ring->slots));
		dart_prefetch(scraper, offsetof(struct scraper, samples));
	} else if (step == 2) {
		dart_prefetch(scraper->reads, scraper->read_count * sizeof(*scraper->reads));
	}
}

struct scrape *ring__current(struct ring *ring)
{
	return &ring->slots[ring->current];
}

bool ring__turn(struct ring *ring)
{
	unsigned int i, slot;

	for (i = 1; i < ring->count; i++) {
		slot = (ring->current + i) % ring->count;
		if (atomic_load(&ring->slots[slot].is_handed_over))
			continue;
		ring->current = slot;
		scraper__land_at(ring->scraper, slot * ring->slot_size);
		return true;
	}
	return false;
}

void ring__fill(struct ring *ring, const void *landing)
{
	memcpy((char *)ring->memory + ring->current * ring->slot_size, landing,
	       scraper__landing_size(ring->scraper));
}

void ring__hold(struct ring *ring)
{
	atomic_fetch_add(&ring->holders, 1);
}

void ring__release(struct ring *ring)
{
	if (!ring || atomic_fetch_sub(&ring->holders, 1) != 1)
		return;
	free(ring->memory);
	free(ring->table.bytes);
	scraper__free(ring->scraper);
	free(ring);
}
