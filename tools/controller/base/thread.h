/* SPDX-License-Identifier: GPL-2.0-only */
/* Threads beside the event loop. */
#ifndef CONTROLLER_THREAD_H
#define CONTROLLER_THREAD_H

#include <pthread.h>

/*
 * Starts a thread called @name that runs @run(@data).  No signal is handled there: SIGINT
 * and SIGTERM are for the event loop, and a pipe without a reader is an error of write().
 * Returns 0 or -errno.
 */
int thread__start(pthread_t *thread, const char *name, void *(*run)(void *data),
		  void *data);

#endif /* CONTROLLER_THREAD_H */
