// SPDX-License-Identifier: GPL-2.0-only
/* Asks threads of a controller for their clocks. */
#include "thread_clock.h"

#include <err.h>
#include <pthread.h>
#include <stdlib.h>

static void thread_clock__answer(struct thread_clock *clock)
{
	if (pthread_getcpuclockid(pthread_self(), &clock->clock))
		errx(EXIT_FAILURE, "a thread has no clock of its CPU time");
	sem_post(&clock->is_known);
}

static void run_message(struct message *message)
{
	thread_clock__answer(caa_container_of(message, struct thread_clock, message));
}

static void run_work(struct work *work)
{
	thread_clock__answer(caa_container_of(work, struct thread_clock, work));
}

static void thread_clock__wait(struct thread_clock *clock)
{
	while (sem_wait(&clock->is_known))
		;
	sem_destroy(&clock->is_known);
}

void thread_clock__of_io(struct thread_clock *clock, struct io_thread *thread)
{
	sem_init(&clock->is_known, 0, 0);
	clock->message.run = run_message;
	mailbox__post(io_thread__mailbox(thread), &clock->message);
	thread_clock__wait(clock);
}

void thread_clock__of_worker(struct thread_clock *clock, struct workers *workers, uint32_t number)
{
	sem_init(&clock->is_known, 0, 0);
	clock->work.run = run_work;
	workers__hand_over_always(workers, number, &clock->work);
	thread_clock__wait(clock);
}

uint64_t thread_clock__ns(const struct thread_clock *clock)
{
	struct timespec now;

	clock_gettime(clock->clock, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}
