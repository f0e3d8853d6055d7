/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory in which the scrapes of one table land: a few slots, used in turn. While a worker
 * decodes one slot, the next READs land in another.
 *
 * The ring owns the scraper, and with it the table and the plan. It counts its holders: the control
 * loop holds the ring as long as it scrapes this table, and each scrape that a worker has yet to
 * decode holds it, so the table may change, or the target be lost, meanwhile. Only the thread whose
 * turn it is, the control loop or an I/O thread, touches the ring and the READs of the scraper; a
 * worker touches the scrape that was handed to it and the samples of the scraper, whose target
 * always uses the same worker.
 */
#ifndef CONTROLLER_RING_H
#define CONTROLLER_RING_H

#include <stdatomic.h>

#include "sample.h"
#include "scraper.h"
#include "tap.h"
#include "workers.h"

/*
 * One slot for READs, one that a worker decodes, and two that wait for the worker. Large scrapes,
 * whose memory counts, use BUDGET_LANDINGS slots: none waits.
 */
#define RING_SLOTS 4
#define RING_SLOT_LARGE (1 << 20) /* bytes */

struct decoder;

/* A slot; the worker owns it while it is handed over. */
struct scrape {
	struct work work;
	struct ring *ring;
	struct decoder *decoder;
	struct sample_head head;
	const void *landing;
	/* Replays only: when the recording controller decoded the values; otherwise 0. */
	uint64_t end_ns;
	atomic_bool is_handed_over;
};

struct ring {
	struct scraper *scraper;
	bool is_partial; /* of entries alone that were just added */
	bool lacks_header; /* of the table, which does not follow their values */
	struct tap_table table; /* the worker's once a scrape is handed over */
	atomic_uint holders;
	void *memory;
	size_t slot_size;
	unsigned int count; /* number of slots */
	unsigned int current; /* the slot where READs land */
	struct scrape slots[RING_SLOTS];
};

/*
 * Takes ownership of @scraper, also on failure.  The caller is the first holder.  NULL if
 * out of memory.
 */
struct ring *ring__new(struct scraper *scraper);

/* Returns the size of ring->memory, which the caller registers, in bytes. */
size_t ring__size(const struct ring *ring);

/*
 * Asks for memory that a scrape needs, but for the bytes that land: with 0, 1 and 2, as ahead() of
 * a timer does.
 */
void ring__ahead(const struct ring *ring, unsigned int step);

/* Returns the slot where READs land now. */
struct scrape *ring__current(struct ring *ring);
/* Lets the next READs land in another slot; false if the workers still use all others. */
bool ring__turn(struct ring *ring);

/* Copies the bytes at @landing, which landed elsewhere, to that slot. */
void ring__fill(struct ring *ring, const void *landing);

void ring__hold(struct ring *ring);
/* Drops one hold; the last holder frees the ring, in any thread. Ignores NULL. */
void ring__release(struct ring *ring);

#endif /* CONTROLLER_RING_H */
