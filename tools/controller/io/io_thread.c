// SPDX-License-Identifier: GPL-2.0-only
/* The loops of I/O threads. */
#include "io_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "tools/controller/base/count.h"
#include "tools/controller/base/schedule.h"

/* That are taken at a time. */
#define EVENTS 64
/*
 * A sleep of up to so long is the timeout of one system call, which the kernel may end late by
 * a thousandth of it; a longer one arms the clock, which is exact and takes two more calls.
 */
#define SLEEP_NS 1000000ULL

struct io_thread {
	struct io_thread_parts parts;
	char name[THREAD_NAME_MAX];
	struct credit_taker taker; /* found by it */
	struct mailbox mailbox;
	struct message wake_up; /* credits were granted */
	struct message end;
	struct timers *timers;
	int clock; /* timerfd */
	uint64_t armed_ns; /* UINT64_MAX: it is not */
	bool has_no_pwait2; /* the kernel */
	TAILQ_HEAD(, io_watch) again; /* with more to do */
	unsigned int again_count;
	int epoll; /* of the mailbox, the clock, the completion channels, and watches */
	count_t targets; /* adopted, and not released */
	struct work_batch work; /* handed over in this turn */
	bool has_ended; /* of the thread */
	bool is_running; /* of its owner */
	pthread_t pthread;
};

static void run_wake_up(struct message *message)
{
	struct io_thread *thread = caa_container_of(message, struct io_thread, wake_up);

	flow__wake_up(&thread->taker);
}

static void on_wake(struct credit_taker *taker)
{
	struct io_thread *thread = caa_container_of(taker, struct io_thread, taker);

	mailbox__post(&thread->mailbox, &thread->wake_up);
}

static void run_end(struct message *message)
{
	struct io_thread *thread = caa_container_of(message, struct io_thread, end);

	thread->has_ended = true;
}

/*
 * Arms the clock for the next timer.  It stays armed if the timer is later than that: when the
 * clock rings too early, no timer expires.
 */
static void io_thread__arm(struct io_thread *thread, uint64_t next_ns)
{
	const struct itimerspec next = {
		.it_value.tv_sec = next_ns / 1000000000,
		/* All zeros would disarm it; a timer for 0 is that for 1 ns. */
		.it_value.tv_nsec = next_ns % 1000000000 ?: 1,
	};

	if (next_ns >= thread->armed_ns)
		return;
	thread->armed_ns = next_ns;
	timerfd_settime(thread->clock, TFD_TIMER_ABSTIME, &next, NULL);
}

static void io_thread__on_time(struct io_thread *thread)
{
	uint64_t count;

	/* Not readable any more; armed again, if necessary, before the thread sleeps. */
	if (read(thread->clock, &count, sizeof(count)) > 0)
		thread->armed_ns = UINT64_MAX;
}

/* Not of the mailbox and the clock. */
static void io_thread__complete(struct io_thread *thread, void *ready)
{
	struct io_watch *watch = ready;

	if (ready == &thread->mailbox || ready == &thread->clock)
		return;
	if (ready == thread->parts.set)
		dart_endpoint_set__on_completion(thread->parts.set, thread->parts.number,
						 thread->parts.completed);
	else if (watch->events && !watch->is_again)
		watch->ready(watch);
}

void io_thread__again(struct io_thread *thread, struct io_watch *watch)
{
	if (watch->is_again)
		return;
	watch->is_again = true;
	TAILQ_INSERT_TAIL(&thread->again, watch, place);
	thread->again_count++;
}

static void io_thread__not_again(struct io_thread *thread, struct io_watch *watch)
{
	if (!watch->is_again)
		return;
	watch->is_again = false;
	TAILQ_REMOVE(&thread->again, watch, place);
	thread->again_count--;
}

/* Each watch with more to do now gets one turn. */
static void io_thread__go_on(struct io_thread *thread)
{
	unsigned int count = thread->again_count;
	struct io_watch *watch;

	while (count-- && (watch = TAILQ_FIRST(&thread->again))) {
		io_thread__not_again(thread, watch);
		watch->ready(watch);
	}
}

/* Until a descriptor is ready, or the next timer expires: returns as epoll_wait(). */
static int io_thread__sleep(struct io_thread *thread, struct epoll_event *events)
{
	const uint64_t next_ns = timers__next_ns(thread->timers);
	struct timespec timeout = {};
	uint64_t now_ns;
	int n;

	if (thread->again_count || !next_ns)
		return epoll_wait(thread->epoll, events, EVENTS, 0);
	now_ns = next_ns == UINT64_MAX ? 0 : monotonic_ns();
	if (next_ns <= now_ns)
		return epoll_wait(thread->epoll, events, EVENTS, 0);
	if (next_ns - now_ns <= SLEEP_NS && !thread->has_no_pwait2) {
		timeout.tv_nsec = next_ns - now_ns;
		n = epoll_pwait2(thread->epoll, events, EVENTS, &timeout, NULL);
		if (n >= 0 || errno == EINTR)
			return n;
		/* Before Linux 5.11, or where a filter refuses it. */
		thread->has_no_pwait2 = true;
	}
	io_thread__arm(thread, next_ns);
	return epoll_wait(thread->epoll, events, EVENTS, -1);
}

/*
 * Sleeps until there is a message, a completion that makes events, a descriptor is ready, or
 * a timer expires.
 */
static void io_thread__wait(struct io_thread *thread)
{
	struct epoll_event events[EVENTS];
	int i, n;

	n = io_thread__sleep(thread, events);
	/*
	 * Completions first: completions of freed endpoints make room for others, and a watch is
	 * freed only after a message of this thread allowed it.
	 */
	for (i = 0; i < n; i++)
		io_thread__complete(thread, events[i].data.ptr);
	for (i = 0; i < n; i++) {
		if (events[i].data.ptr == &thread->mailbox)
			mailbox__read(&thread->mailbox);
		else if (events[i].data.ptr == &thread->clock)
			io_thread__on_time(thread);
	}
	io_thread__go_on(thread);
}

/* Takes completions without a system call; false if no READs are in flight. */
static bool io_thread__poll(struct io_thread *thread)
{
	if (!thread->parts.polls ||
	    !dart_endpoint_set__poll(thread->parts.set, thread->parts.number,
				     thread->parts.completed))
		return false;
	mailbox__run(&thread->mailbox);
	return true;
}

static void *io_thread__run(void *data)
{
	struct io_thread *thread = data;

	/* That of other threads, 50 us, would be added to each short sleep. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	while (!thread->has_ended) {
		if (!io_thread__poll(thread))
			io_thread__wait(thread);
		timers__run(thread->timers, monotonic_ns());
		work_batch__end(&thread->work);
	}
	return NULL;
}

static int io_thread__add(struct io_thread *thread, int fd, void *data)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = data };

	return epoll_ctl(thread->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int io_thread__watch(struct io_thread *thread, struct io_watch *watch, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };
	int operation = EPOLL_CTL_MOD;

	if (!events)
		io_thread__not_again(thread, watch);
	if (watch->events && (fd != watch->fd || !events)) {
		epoll_ctl(thread->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
		watch->events = 0;
	}
	if (events == watch->events)
		return 0;
	if (!watch->events)
		operation = EPOLL_CTL_ADD;
	if (epoll_ctl(thread->epoll, operation, fd, &event))
		return -errno;
	watch->fd = fd;
	watch->events = events;
	return 0;
}

static int io_thread__open(struct io_thread *thread)
{
	int err;

	err = timers__new(NULL, &thread->timers);
	if (err)
		return err;
	thread->clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	thread->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (thread->clock < 0 || thread->epoll < 0)
		return -errno;
	err = io_thread__add(thread, mailbox__fd(&thread->mailbox), &thread->mailbox) ?:
		      io_thread__add(thread, thread->clock, &thread->clock);
	if (!err && thread->parts.set && !thread->parts.polls)
		err = io_thread__add(thread,
				     dart_endpoint_set__completion_fd(thread->parts.set,
								      thread->parts.number),
				     thread->parts.set);
	if (err)
		return err;
	return thread__start(&thread->pthread, thread->name, io_thread__run, thread);
}

int io_thread__start(const struct io_thread_parts *parts, struct io_thread **threadp)
{
	struct io_thread *thread = calloc(1, sizeof(*thread));
	int err;

	if (!thread)
		return -ENOMEM;
	thread->parts = *parts;
	snprintf(thread->name, sizeof(thread->name), "%s", parts->name);
	thread->clock = -1;
	thread->armed_ns = UINT64_MAX;
	thread->epoll = -1;
	TAILQ_INIT(&thread->again);
	thread->wake_up.run = run_wake_up;
	thread->end.run = run_end;
	credit_taker__init(&thread->taker, parts->credits, on_wake);
	err = mailbox__open(&thread->mailbox) ?: io_thread__open(thread);
	thread->is_running = !err;
	if (err)
		io_thread__free(thread);
	else
		*threadp = thread;
	return err;
}

void io_thread__stop(struct io_thread *thread)
{
	if (!thread || !thread->is_running)
		return;
	mailbox__post(&thread->mailbox, &thread->end);
	pthread_join(thread->pthread, NULL);
	thread->is_running = false;
}

void io_thread__free(struct io_thread *thread)
{
	if (!thread)
		return;
	if (thread->epoll >= 0)
		close(thread->epoll);
	if (thread->clock >= 0)
		close(thread->clock);
	timers__free(thread->timers);
	mailbox__close(&thread->mailbox);
	free(thread);
}

void io_thread__look(const struct io_thread *thread, struct thread_figures *figures)
{
	*figures = (struct thread_figures){
		.cpu_ns = thread__cpu_ns(thread->pthread),
		.targets = count__of(&thread->targets),
	};
	snprintf(figures->name, sizeof(figures->name), "%s", thread->name);
}

void io_thread__count(struct io_thread *thread, int more)
{
	count__add(&thread->targets, more);
}

uint32_t io_thread__number(const struct io_thread *thread)
{
	return thread->parts.number;
}

struct mailbox *io_thread__mailbox(struct io_thread *thread)
{
	return &thread->mailbox;
}

struct timers *io_thread__timers(struct io_thread *thread)
{
	return thread->timers;
}

struct work_batch *io_thread__work(struct io_thread *thread)
{
	return &thread->work;
}

struct credit_taker *io_thread__taker(struct io_thread *thread)
{
	return &thread->taker;
}
