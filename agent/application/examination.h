/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Examinations: the memory of a process is read to find out which program it is.  A process decides
 * how long that takes, because a page may lie on a file system that its owner serves, or belong to
 * a userfaultfd(2).  So a thread reads it, and the event loop only takes the result.
 *
 * A few examinations run at the same time, and fewer of one user.  A thread whose process does not
 * answer in time is *held*: its place is given to the next examination, and it goes on alone.  No
 * process of a user who holds too many threads is examined until one of them ends.
 */
#ifndef APPLICATION_EXAMINATION_H
#define APPLICATION_EXAMINATION_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "examination_queue.h"
#include "finding.h"
#include "process.h"

#define EXAMINATION_TIMEOUT_MS 2000
#define EXAMINATION_BUCKETS 1024
/* Attached processes wait until nothing has been examined for a while, at most for the bound. */
#define EXAMINATION_QUIET_MS 100
#define EXAMINATION_QUIET_MAX_MS 1000

struct examination;

/* Called from the event loop. */
struct examination_handlers {
	/*
	 * The build-id was read: returns the layout to attach, which stays until finish(), or NULL.
	 */
	const struct dart_application_layout *(*choose)(struct examination *examination);
	/* The results can be read and taken; afterwards they are freed.  The owner may be NULL. */
	void (*finish)(struct examination *examination);
	/* The process does not answer; finish() is called if it does later. */
	void (*hold)(struct examination *examination);
	/*
	 * Processes that start together are finished together: examinations that attached a process
	 * wait for others, and the owner hears before and after their finish(), which is called in
	 * the order in which the processes started: each dartd gives them the same names then.
	 * NULL: none waits.
	 */
	void (*begin)(void *owner);
	void (*end)(void *owner);
};

/* Members are the owner's to read in handlers, unless said otherwise. */
struct examination {
	TAILQ_ENTRY(examination) link; /* in the order in which they were asked for, or started */
	struct examination_queue *queue; /* of its user, in which it waits; NULL: not known yet */
	LIST_ENTRY(examination) in_bucket;
	struct examinations *examinations;
	const struct examination_handlers *handlers;
	void *owner; /* NULL after examinations__disown() */
	pid_t pid;
	uid_t user; /* the real one; (uid_t)-1 before it was looked up */
	int pidfd; /* the examination's; -1 after it was taken */
	/* The owner's: tries of this process before; why it is examined; once more, afterwards. */
	unsigned int tries;
	bool is_executed, is_wanted_again;
	bool is_held;

	/* What is asked for: a set of 1 << format, in which ANY stands for the build-id. */
	unsigned int formats;
	const struct dart_application_layout *layout; /* chosen by the build-id */
	struct application_process former; /* its memory is -1: none */

	/* The results.  The build-id is known if it was asked for, or a process is attached. */
	bool lives; /* false: the process does not execute the program of @former any more */
	int build_ret; /* of application_process__build_id() */
	struct dart_error build_why;
	struct dart_application_build_id build_id;
	struct executable_file file; /* that has the build-id; its inode is 0 if none was found */
	uint64_t start; /* of the process, in ticks since the boot; like the next two */
	pid_t parent;
	/* The parent executes the same build.  False, too, if nothing was found in the process. */
	bool is_copy_of_parent;
	struct finding findings[APPLICATION_FORMATS];

	/* Private. */
	enum {
		EXAMINATION_WAITS,
		EXAMINATION_READS,
		EXAMINATION_ATTACHES,
		EXAMINATION_IS_ATTACHED
	} step;
	uint64_t deadline; /* us, CLOCK_MONOTONIC */
	struct examiners *examiners;
	atomic_uint holders; /* struct examinations, and the thread */
	atomic_bool is_done; /* the thread has written the results of the step */
};

struct examinations {
	sd_event *loop;
	struct examiners *examiners; /* what the threads have in common */
	sd_event_source *done, *timer, *quiet;
	struct examination_queues waiting;
	struct examination_list started, attached;
	uint64_t attached_due; /* us, CLOCK_MONOTONIC: attached ones are finished at the latest */
	LIST_HEAD(, examination)
	buckets[EXAMINATION_BUCKETS]; /* all, by the number of the process */
	unsigned int running; /* threads, without the held ones */
	unsigned int held;
};

int examinations__open(struct examinations *examinations, sd_event *loop, struct dart_error *error);
/* Calls no handler. */
void examinations__close(struct examinations *examinations);

struct examination_wish {
	pid_t pid;
	int pidfd; /* taken over, also on error; -1: of the process that has the number by then */
	unsigned int tries, formats;
	bool is_executed;
	const struct application_process *former; /* may be NULL */
	const struct examination_handlers *handlers;
	void *owner;
};

/* Returns 0 or -ENOMEM; handlers are called later, from the event loop. */
int examinations__add(struct examinations *examinations, const struct examination_wish *wish);
/* The examination of @pid for @owner, which has not finished; NULL: none. */
struct examination *examinations__find(const struct examinations *examinations, pid_t pid,
				       const void *owner);
/*
 * @owner needs no results any more: examinations that wait are dropped.  The others finish without
 * an owner.
 */
void examinations__disown(struct examinations *examinations, const void *owner);

/* The sentence about a process that holds a thread; returns -ETIMEDOUT. */
int examination__explain_hold(const struct examination *examination, struct dart_error *error);
/* True if an -errno tells of too few descriptors or too little memory: it is not the process'. */
static inline bool examination__is_shortage(int ret)
{
	return ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM;
}
/*
 * The sentence about descriptors or memory of which dartd had too few, so that nothing is known of
 * the process; NULL: it had enough.
 */
const struct dart_error *examination__shortage(const struct examination *examination);

/* examination_read.c, in the thread: reads the memory of the process; attaches it with the layout. */
void examination__read(struct examination *examination);
void examination__attach(struct examination *examination);

#endif /* APPLICATION_EXAMINATION_H */
