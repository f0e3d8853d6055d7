/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that do the work of I/O threads and of the control loop that takes time.  These
 * hand it over and never wait for it.
 *
 * All work at one place, such as that of one target, is done by the same thread, in the
 * order in which it was handed over.
 */
#ifndef CONTROLLER_WORKERS_H
#define CONTROLLER_WORKERS_H

#include <stdint.h>

#include "tools/controller/base/queue.h"

/*
 * Of one worker: more than a scrape of each of 10,000 targets, which may all land at the
 * same moment.  A worker that is further behind does not catch up.
 */
#define WORKERS_QUEUE_MAX 16384

/* Owned by the worker from being handed over until it calls run(), once. */
struct work {
	struct queue_item item;
	void (*run)(struct work *work); /* in the worker */
};

struct workers;

/* Returns 0 or -errno. */
int workers__start(unsigned int count, struct workers **workers);

/*
 * What one thread has handed over since it last woke workers: a thread that hands over much
 * wakes each worker once for all of it.  Zeros are an empty batch.
 */
struct work_batch {
	struct workers *workers;
	uint64_t asleep; /* a bit for each worker that may be; SETTINGS_WORKERS_MAX of them */
};

/*
 * False if the queue of the worker is full: @work stays the caller's.  The worker begins at
 * work_batch__end() at the latest, which the thread must call before it sleeps.
 */
bool workers__hand_over(struct workers *workers, size_t place, struct work *work,
			struct work_batch *batch);
void work_batch__end(struct work_batch *batch);
/* Beyond the bound, for what is rare and must not be lost. */
void workers__hand_over_always(struct workers *workers, size_t place, struct work *work);

/*
 * Returns when all work is done and the threads have ended.  Nothing may be handed over
 * meanwhile.  @workers may be NULL.
 */
void workers__stop(struct workers *workers);

#endif /* CONTROLLER_WORKERS_H */
