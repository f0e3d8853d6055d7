// SPDX-License-Identifier: GPL-2.0-only
/* Starts threads that handle no signal. */
#include <signal.h>
#include <stddef.h>

#include "thread.h"

int thread__start(pthread_t *thread, const char *name, void *(*run)(void *data),
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
