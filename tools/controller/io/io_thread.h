/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that READs from the targets that it was handed.  It posts, takes completions and
 * runs timers, and never allocates, formats, registers memory or waits for another thread.
 *
 * One kind waits for events of completion queues, which costs a wake-up for each batch and
 * spares the CPU.  Another polls the completion queues, without any system call, as long
 * as READs are in flight; for the next scrape it sleeps, because a CPU that looks at empty
 * queues until a timer expires makes no scrape faster.  A third kind READs nothing: it waits
 * for the descriptors of targets that are called.
 */
#ifndef CONTROLLER_IO_THREAD_H
#define CONTROLLER_IO_THREAD_H

#include <sys/queue.h>

#include <libdart/rdma/endpoint_set.h>

#include "tools/controller/base/mailbox.h"
#include "tools/controller/base/thread.h"
#include "tools/controller/base/timers.h"
#include "tools/controller/decode/workers.h"
#include "tools/controller/flow/flow.h"

struct io_thread;

struct io_thread_parts {
	const char *name;
	struct dart_endpoint_set *set; /* NULL: no READs */
	uint32_t number; /* there */
	bool polls;
	dart_endpoint_completion_handler *completed; /* of READs */
	struct credit_pool *credits; /* of its team */
};

/* Returns 0 or -errno. */
int io_thread__start(const struct io_thread_parts *parts, struct io_thread **thread);
/*
 * Returns after the end of the thread.  Messages that did not run, and targets, belong to the
 * caller.  NULL is allowed.
 */
void io_thread__stop(struct io_thread *thread);
/* The thread stopped, and nobody uses its timers any more.  NULL is allowed. */
void io_thread__free(struct io_thread *thread);

/* Of a thread that runs. */
void io_thread__look(const struct io_thread *thread, struct thread_figures *figures);
/* Its number in the set of endpoints. */
uint32_t io_thread__number(const struct io_thread *thread);
/* In the thread: it adopted a target (1), or released it (-1). */
void io_thread__count(struct io_thread *thread, int more);
/* Messages run in the thread. */
struct mailbox *io_thread__mailbox(struct io_thread *thread);
/* For use in the thread. */
struct timers *io_thread__timers(struct io_thread *thread);
/* The object that the thread wakes after its work, before it sleeps. */
struct work_batch *io_thread__work(struct io_thread *thread);
/* The taker that flows of the thread are opened with. */
struct credit_taker *io_thread__taker(struct io_thread *thread);

/* A descriptor that the thread waits for; belongs to its user, in zeroed memory. */
struct io_watch {
	void (*ready)(struct io_watch *watch); /* of its user */
	int fd;
	uint32_t events; /* of epoll_ctl(2); 0: not watched */
	bool is_again;
	TAILQ_ENTRY(io_watch) place; /* among the watches with more to do */
};

/*
 * In the thread, or after its end.  Watches @fd for @events instead of the previous descriptor;
 * ready() is called as long as there are such events.  If @events is 0, ready() is not called any
 * more, and @fd does not matter.  Returns 0 or -errno.
 */
int io_thread__watch(struct io_thread *thread, struct io_watch *watch, int fd, uint32_t events);
/*
 * In the thread, from ready() of @watch, which is watched: calls ready() again after the turns of
 * all others, whatever the descriptor says.
 */
void io_thread__again(struct io_thread *thread, struct io_watch *watch);

#endif /* CONTROLLER_IO_THREAD_H */
