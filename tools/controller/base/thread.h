/* SPDX-License-Identifier: GPL-2.0-only */
/* Starts threads that run in addition to the event loop. */
#ifndef CONTROLLER_THREAD_H
#define CONTROLLER_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Room for a name, of which ps -L shows 15 characters: a longer one is not set. */
#define THREAD_NAME_MAX 20

/* For who looks at a thread of a controller that runs. */
struct thread_figures {
	char name[THREAD_NAME_MAX];
	uint64_t cpu_ns; /* that it took so far */
	bool is_worker; /* it decodes; other threads are I/O threads */
	uint64_t targets; /* that an I/O thread has */
	uint64_t queued; /* pieces of work, most of them scrapes, that wait for a worker */
	uint64_t dropped; /* scrapes that landed while a worker was too far behind */
};

/*
 * Starts a thread called @name that calls @run(@data).  The thread blocks all signals: SIGINT
 * and SIGTERM are for the event loop, and write() to a pipe without a reader returns an error.
 * Returns 0 or -errno.
 */
static inline int thread__start(pthread_t *thread, const char *name, void *(*run)(void *data),
				void *data)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	ret = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (ret)
		return -ret;
	ret = pthread_create(thread, NULL, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ret)
		pthread_setname_np(*thread, name);
	return -ret;
}

/* The CPU time of a thread that was not joined; 0: unknown. */
static inline uint64_t thread__cpu_ns(pthread_t thread)
{
	struct timespec time;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &time))
		return 0;
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

#endif /* CONTROLLER_THREAD_H */
