/* SPDX-License-Identifier: GPL-2.0-only */
/* Starts threads that run in addition to the event loop. */
#ifndef CONTROLLER_THREAD_H
#define CONTROLLER_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

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
	/* ps -L shows the name, at most 15 characters. */
	if (!ret)
		pthread_setname_np(*thread, name);
	return -ret;
}

#endif /* CONTROLLER_THREAD_H */
