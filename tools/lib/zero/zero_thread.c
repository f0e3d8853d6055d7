// SPDX-License-Identifier: LGPL-2.1-or-later
/* The threads of the library, and their descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "zero_internal.h"

/*
 * Closes the descriptors of this thread's table before it ends: the kernel closes them after it
 * says that the thread has ended.
 */
static void close_all(void)
{
	syscall(SYS_close_range, 0, UINT_MAX, 0);
}

/* Gives this thread a table of descriptors with nothing but /dev/null where messages go. */
static int leave_descriptors(void)
{
	int i;

	if (syscall(SYS_close_range, 0, UINT_MAX, CLOSE_RANGE_UNSHARE))
		return -errno;
	for (i = 0; i <= STDERR_FILENO; i++)
		if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			break; /* a root directory without devices */
	return 0;
}

void dart_zero__wake(struct dart_zero *zero)
{
	zero->is_woken = true;
	pthread_cond_signal(&zero->woken);
}

/*
 * The second thread shares the descriptors of the first: it turns what the program says by memory
 * into an event, since the program has no descriptor that it could write to.
 */
static void *pass_wakes(void *started)
{
	struct dart_zero *zero = started;
	bool is_ending = false;

	while (!is_ending) {
		pthread_mutex_lock(&zero->lock);
		while (!zero->is_woken)
			pthread_cond_wait(&zero->woken, &zero->lock);
		zero->is_woken = false;
		is_ending = zero->is_ending;
		pthread_mutex_unlock(&zero->lock);
		eventfd_write(zero->wake, 1);
	}
	return NULL;
}

/* What the thread gets; it lies on the stack of the one that waits for the beginning. */
struct beginning {
	struct dart_zero *zero;
	int (*share)(struct dart_zero *zero);
};

static void *run(void *started)
{
	const struct beginning beginning = *(struct beginning *)started;
	struct dart_zero *zero = beginning.zero;
	pthread_t passer;
	int ret = leave_descriptors();

	if (!ret) {
		zero->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		ret = zero->wake < 0 ? -errno : beginning.share(zero);
	}
	if (!ret && !zero->is_fixed) {
		ret = -pthread_create(&passer, NULL, pass_wakes, zero);
		if (ret) {
			dart_zero__unshare(zero);
			close_all();
		}
	}
	zero->result = ret;
	sem_post(&zero->has_begun);
	if (ret)
		return NULL;
	if (zero->may_register && !zero->may_register(zero))
		return NULL;
	dart_zero__register(zero);
	if (!zero->is_fixed)
		pthread_join(passer, NULL);
	/* Without memory for it the memfd stays under the values. */
	dart_zero__unshare(zero);
	close_all();
	return NULL;
}

static void forget_descriptors(struct dart_zero *zero)
{
	zero->fd = zero->wake = zero->inotify = zero->connection = zero->proof = -1;
}

int dart_zero__start_thread(struct dart_zero *zero, int (*share)(struct dart_zero *zero))
{
	struct beginning beginning = { zero, share };
	sigset_t all, before;
	int ret;

	sem_init(&zero->has_begun, 0, 0);
	zero->is_woken = false;
	/* Signals of the program are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = -pthread_create(&zero->thread, NULL, run, &beginning);
	if (!ret) {
		while (sem_wait(&zero->has_begun))
			;
		ret = zero->result;
		if (ret) {
			pthread_join(zero->thread, NULL);
			forget_descriptors(zero);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sem_destroy(&zero->has_begun);
	return ret;
}

void dart_zero__forget_thread(struct dart_zero *zero)
{
	forget_descriptors(zero);
	pthread_cond_init(&zero->woken, NULL);
	pthread_cond_init(&zero->has_ended, NULL);
	zero->is_started = zero->is_ending = false;
}

void dart_zero__end_thread(struct dart_zero *zero)
{
	zero->is_started = false;
	zero->is_ending = true;
	dart_zero__wake(zero);
	pthread_mutex_unlock(&zero->lock);
	pthread_join(zero->thread, NULL);
	pthread_mutex_lock(&zero->lock);
	zero->is_ending = false;
	forget_descriptors(zero);
	pthread_cond_broadcast(&zero->has_ended);
}
