/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that do the slow work of I/O threads and of the control loop, which hand it over and
 * never wait for it.
 *
 * One thread does all work of a place, such as a target, in the order in which it was handed over.
 */
#ifndef CONTROLLER_WORKERS_H
#define CONTROLLER_WORKERS_H

#include <stdint.h>

#include "tools/controller/base/queue.h"
#include "tools/controller/base/thread.h"

/*
 * Length of one worker's queue: more than a scrape of each of 10,000 targets, which may all land at
 * the same moment. A worker with a longer backlog would never catch up.
 */
#define WORKERS_QUEUE_MAX 16384

/* The worker owns it from the hand-over until it calls run(), once. */
struct work {
	struct queue_item item;
	void (*run)(struct work *work); /* called in the worker */
	/*
	 * NULL, or asks for the memory that run() will need, by dart_prefetch().  Called in the worker
	 * before several pieces of work run: of all of them with 0, then with 1, and so on below
	 * WORK_STEPS.  It may read the memory that the steps before asked for.
	 */
	void (*ahead)(const struct work *work, unsigned int step);
};

#define WORK_STEPS 4

struct workers;

/* Returns 0 or -errno. */
int workers__start(unsigned int count, struct workers **workers);

/*
 * The workers that one thread must wake: a thread that hands over many pieces of work wakes each
 * worker once for all of them. A zeroed batch is empty.
 */
struct work_batch {
	struct workers *workers;
	uint64_t asleep; /* one bit for each worker that may sleep; SETTINGS_WORKERS_MAX bits */
};

/*
 * Returns false if the queue of the worker is full: @work stays the caller's. The worker starts at
 * work_batch__end() at the latest, which the thread must call before it sleeps.
 */
bool workers__hand_over(struct workers *workers, size_t place, struct work *work,
			struct work_batch *batch);
void work_batch__end(struct work_batch *batch);
/* Hands over beyond the bound of the queue, for rare work that must not be lost. */
void workers__hand_over_always(struct workers *workers, size_t place, struct work *work);

/* In any thread: a scrape of @place was dropped, because the worker is behind. */
void workers__count_dropped(struct workers *workers, size_t place);
unsigned int workers__count(const struct workers *workers);
/* Of a worker that runs, below workers__count(). */
void workers__look(const struct workers *workers, unsigned int number,
		   struct thread_figures *figures);

/*
 * Returns when all work is done and the threads have ended. No work may be handed over meanwhile.
 * @workers may be NULL.
 */
void workers__stop(struct workers *workers);

#endif /* CONTROLLER_WORKERS_H */
