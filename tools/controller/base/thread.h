/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads beside the event loop. */
#ifndef CONTROLLER_THREAD_H
#define CONTROLLER_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

/*
 * Starts a thread called @name that runs @run(@data).  No signal is handled there: SIGINT
 * and SIGTERM are for the event loop, and a pipe without a reader is an error of write().
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
	/* For ps -L; 15 characters of it. */
	if (!ret)
		pthread_setname_np(*thread, name);
	return -ret;
}

#endif /* CONTROLLER_THREAD_H */
