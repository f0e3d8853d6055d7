/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory that the scrapes of one table land in: a few slots in turn.  While a worker
 * decodes one slot, the next READs land in another.
 *
 * The ring owns the scraper, and with it the table and the plan.  It is counted: the control
 * loop holds it as long as this table is scraped, and each scrape that a worker has yet to
 * decode holds it, so the table may change, or the target be lost, meanwhile.  Only the
 * thread whose turn it is, the control loop or an I/O thread, touches the ring and the READs
 * of the scraper; a worker touches the scrape that it was handed and the samples of the
 * scraper, whose target always has the same worker.
 */
#ifndef CONTROLLER_RING_H
#define CONTROLLER_RING_H

#include <stdatomic.h>

#include "sample.h"
#include "scraper.h"
#include "tap.h"
#include "workers.h"

/*
 * One slot to READ into, one that is decoded and two that wait for that.  Large scrapes,
 * whose memory counts, have BUDGET_LANDINGS slots: none waits.
 */
#define RING_SLOTS 4
#define RING_SLOT_LARGE (1 << 20) /* bytes */

struct decoder;

/* A slot; while it is handed over, the worker's. */
struct scrape {
	struct work work;
	struct ring *ring;
	struct decoder *decoder;
	struct sample_head head;
	const void *landing;
	uint64_t end_ns; /* of a replay: when its values were decoded; 0: they are now */
	atomic_bool is_handed_over;
};

struct ring {
	struct scraper *scraper;
	struct tap_table table; /* of the worker, once a scrape is handed over */
	atomic_uint holders;
	void *memory;
	size_t slot_size;
	unsigned int count; /* of slots */
	unsigned int current; /* where READs land */
	struct scrape slots[RING_SLOTS];
};

/*
 * Takes ownership of @scraper, also on failure.  The caller is the first holder.  NULL if
 * out of memory.
 */
struct ring *ring__new(struct scraper *scraper);

/* The size of ring->memory, which is to be registered, in bytes. */
size_t ring__size(const struct ring *ring);

/* The slot where READs land now. */
struct scrape *ring__current(struct ring *ring);
/* READs land in another slot from now on; false if workers have all others. */
bool ring__turn(struct ring *ring);

void ring__hold(struct ring *ring);
/* The last holder frees it, in any thread.  NULL is allowed. */
void ring__release(struct ring *ring);

#endif /* CONTROLLER_RING_H */
