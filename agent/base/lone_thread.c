// SPDX-License-Identifier: GPL-2.0-only
/* Starts detached threads: see lone_thread.h. */
#include "lone_thread.h"

#include <pthread.h>
#include <signal.h>

int lone_thread__start(void *(*run)(void *argument), void *argument, size_t stack)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int ret = pthread_attr_init(&attributes);

	if (ret)
		return -ret;
	pthread_attr_setstacksize(&attributes, stack);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* Only the main loop of dartd takes signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&thread, &attributes, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -ret;
}
