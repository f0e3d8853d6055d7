/* SPDX-License-Identifier: GPL-2.0-only */
/* The clock of the CPU time of a controller's thread, which is asked for it by its own means. */
#ifndef BENCH_THREAD_CLOCK_H
#define BENCH_THREAD_CLOCK_H

#include <semaphore.h>
#include <time.h>

#include "tools/controller/decode/workers.h"
#include "tools/controller/io/io_thread.h"

/* Belongs to its user, and must not move. */
struct thread_clock {
	struct message message; /* to an I/O thread */
	struct work work; /* of a worker */
	clockid_t clock;
	sem_t is_known;
};

/* Wait until the thread answers, and end the program if it cannot. */
void thread_clock__of_io(struct thread_clock *clock, struct io_thread *thread);
void thread_clock__of_worker(struct thread_clock *clock, struct workers *workers, uint32_t number);

/* As long as the thread runs. */
uint64_t thread_clock__ns(const struct thread_clock *clock);

#endif /* BENCH_THREAD_CLOCK_H */
