/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Closes file descriptors in a thread when dartd stops.  The last descriptor of an
 * eBPF link waits until no task can run the program any more (synchronize_rcu_tasks,
 * 100 ms and more for each link), which needs neither the processor nor other parts
 * of dartd.
 */
#ifndef BACKGROUND_CLOSE_H
#define BACKGROUND_CLOSE_H

#include <pthread.h>
#include <stdbool.h>

#define BACKGROUND_CLOSE_MAX 64

struct background_close {
	int fds[BACKGROUND_CLOSE_MAX];
	int count;
	pthread_t thread;
	bool is_running;
};

/*
 * Duplicates @fd, so that its owner closes it without waiting.  Without a free
 * descriptor the owner waits.
 */
void background_close__add(struct background_close *closing, int fd);
/* Closes the duplicates; without a thread, before it returns. */
void background_close__start(struct background_close *closing);
/* Waits until all are closed. */
void background_close__wait(struct background_close *closing);

#endif /* BACKGROUND_CLOSE_H */
