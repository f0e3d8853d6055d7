/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records that dartd gathers by itself, and the thread that gathers them.  Records of one
 * interval are gathered in one pass, which asks the programs for many of them at a time.
 */
#ifndef GATHERING_H
#define GATHERING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <libdart/error.h>

#include "asker.h"
#include "oom_watch.h"
#include "record.h"

/* The thread or a caller calls these with the lock of the gathering held. */
struct gathering_handlers {
	/* The object of record @id ended. */
	void (*on_gone)(void *owner, uint32_t id);
	/* The list of network namespaces changed since it was last read. */
	void (*on_namespaces)(void *owner);
};

struct gathering {
	/* Held by the one thread that waits for @lock; taken before it. */
	pthread_mutex_t turn;
	/* Taken by the thread for each batch of questions; guards all members, and records. */
	pthread_mutex_t lock;
	pthread_t thread;
	struct asker asker;
	TAILQ_HEAD(, gatherer) gatherers;
	int timer; /* when the next pass is due that is not deferrable */
	int end; /* an eventfd that tells the thread to end */
	struct oom_watch oom_watch; /* closed until the first record of a cgroup needs it */
	bool has_tried_watch; /* for the owner's thread alone */
	uint64_t early; /* ns, CLOCK_MONOTONIC: no early pass before this time */
	const struct gathering_handlers *handlers;
	void *owner;
};

/* Starts the thread. */
int gathering__open(struct gathering *gathering, uint32_t cpus,
		    const struct gathering_handlers *handlers, void *owner,
		    struct dart_error *error);
/* Ends the thread.  All records must be removed before. */
void gathering__close(struct gathering *gathering);

/*
 * Gathers placed @record now and then every @interval_ms.  @is_deferrable: an idle CPU remains idle,
 * and gathers when it runs for another reason.  -ENODEV: the object of the record ended.  After an
 * error @record has no place.
 */
int gathering__add(struct gathering *gathering, struct record *record, uint32_t interval_ms,
		   bool is_deferrable);
/*
 * From now on all cgroups are gathered at once, too, when the kernel kills a process for memory,
 * because its cgroup may end before the next pass.  Logs why if that is impossible.
 */
void gathering__watch_kills(struct gathering *gathering);
/* Waits for the batch that is running; the caller frees the record. */
void gathering__remove(struct gathering *gathering, struct record *record);

/*
 * Finds the kind of the per-CPU counters of a device, which the kernel tells since Linux 6.7.
 * -EOPNOTSUPP: the device counts nothing per CPU, or only its driver knows the kind; -ENODEV: the
 * device does not exist.
 */
int gathering__statistics(struct gathering *gathering, uint32_t netns, uint32_t ifindex,
			  enum gather_statistics *statistics);

/*
 * Lists the inodes of all network namespaces; the caller frees @inodes.  @is_watched: from now on
 * the owner hears of changes, within a second while there are records; false ends that.
 */
int gathering__namespaces(struct gathering *gathering, bool is_watched, uint32_t **inodes,
			  uint32_t *count);

#endif /* GATHERING_H */
