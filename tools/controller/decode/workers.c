// SPDX-License-Identifier: GPL-2.0-only
/* Worker threads, each with a queue: see workers.h. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "workers.h"

/* Work that is taken from a queue at a time, so that a worker waits once for its memory. */
#define AHEAD 8

struct worker {
	struct queue queue;
	struct work end; /* queued last: ends the thread */
	atomic_uint_least64_t dropped; /* scrapes */
	pthread_t thread;
};

struct workers {
	unsigned int count; /* workers that were started */
	struct worker workers[];
};

/* Sleeps until there is work, and takes up to AHEAD of it; returns how much. */
static unsigned int worker__take(struct worker *worker, struct work *works[static AHEAD])
{
	struct queue_item *item = queue__wait(&worker->queue);
	unsigned int count = 0;

	do {
		works[count++] = caa_container_of(item, struct work, item);
		queue__release(&worker->queue, item->cost);
	} while (count < AHEAD && queue__try_take(&worker->queue, &item) && item);
	return count;
}

static void ask_ahead(struct work *const works[], unsigned int count)
{
	unsigned int step, i;

	for (step = 0; step < WORK_STEPS; step++)
		for (i = 0; i < count; i++)
			if (works[i]->ahead)
				works[i]->ahead(works[i], step);
}

static void *worker__run(void *data)
{
	struct worker *worker = data;
	struct work *works[AHEAD];
	unsigned int i, count;

	for (;;) {
		count = worker__take(worker, works);
		ask_ahead(works, count);
		for (i = 0; i < count; i++) {
			if (works[i] == &worker->end)
				return NULL;
			works[i]->run(works[i]);
		}
	}
}

static void print_name(char name[static THREAD_NAME_MAX], unsigned int number)
{
	snprintf(name, THREAD_NAME_MAX, "worker %u", number);
}

static int worker__start(struct worker *worker, unsigned int number)
{
	char name[THREAD_NAME_MAX];
	int err;

	print_name(name, number);
	err = queue__open(&worker->queue, WORKERS_QUEUE_MAX) ?:
		      thread__start(&worker->thread, name, worker__run, worker);
	if (err)
		queue__close(&worker->queue);
	return err;
}

int workers__start(unsigned int count, struct workers **workersp)
{
	struct workers *workers;
	int err;

	workers = calloc(1, sizeof(*workers) + count * sizeof(*workers->workers));
	if (!workers)
		return -ENOMEM;
	for (; workers->count < count; workers->count++) {
		err = worker__start(&workers->workers[workers->count], workers->count);
		if (err) {
			workers__stop(workers);
			return err;
		}
	}
	*workersp = workers;
	return 0;
}

bool workers__hand_over(struct workers *workers, size_t place, struct work *work,
			struct work_batch *batch)
{
	const size_t number = place % workers->count;
	bool was_empty;

	if (!queue__put_quietly(&workers->workers[number].queue, &work->item, 1, &was_empty))
		return false;
	if (was_empty) {
		batch->workers = workers;
		batch->asleep |= 1ULL << number;
	}
	return true;
}

void work_batch__end(struct work_batch *batch)
{
	for (; batch->asleep; batch->asleep &= batch->asleep - 1)
		queue__wake(&batch->workers->workers[__builtin_ctzll(batch->asleep)].queue);
}

void workers__hand_over_always(struct workers *workers, size_t place, struct work *work)
{
	queue__put_always(&workers->workers[place % workers->count].queue, &work->item, 1);
}

unsigned int workers__count(const struct workers *workers)
{
	return workers->count;
}

void workers__count_dropped(struct workers *workers, size_t place)
{
	atomic_fetch_add(&workers->workers[place % workers->count].dropped, 1);
}

void workers__look(const struct workers *workers, unsigned int number,
		   struct thread_figures *figures)
{
	const struct worker *worker = &workers->workers[number];

	*figures = (struct thread_figures){
		.cpu_ns = thread__cpu_ns(worker->thread),
		.is_worker = true,
		.queued = queue__used(&worker->queue),
		.dropped = atomic_load(&worker->dropped),
	};
	print_name(figures->name, number);
}

void workers__stop(struct workers *workers)
{
	struct worker *worker;
	unsigned int i;

	if (!workers)
		return;
	for (i = 0; i < workers->count; i++) {
		worker = &workers->workers[i];
		queue__put_always(&worker->queue, &worker->end.item, 1);
	}
	for (i = 0; i < workers->count; i++) {
		worker = &workers->workers[i];
		pthread_join(worker->thread, NULL);
		queue__close(&worker->queue);
	}
	free(workers);
}
