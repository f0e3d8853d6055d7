/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Examinations that have not begun, in a queue for each user: a user whose threads all run costs
 * nothing while others' processes are examined, however many wait.  Users take turns.
 */
#ifndef APPLICATION_EXAMINATION_QUEUE_H
#define APPLICATION_EXAMINATION_QUEUE_H

#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

struct examination;

TAILQ_HEAD(examination_list, examination);

#define EXAMINATION_QUEUE_BUCKETS 256

struct examination_queue {
	TAILQ_ENTRY(examination_queue) link;
	LIST_ENTRY(examination_queue) in_bucket;
	uid_t user;
	struct examination_list list;
};

struct examination_queues {
	struct examination_list unknown; /* processes whose user was not looked up */
	TAILQ_HEAD(, examination_queue) users; /* the user whose turn is next comes first */
	LIST_HEAD(, examination_queue) buckets[EXAMINATION_QUEUE_BUCKETS]; /* all, by the user */
	unsigned int count; /* of all examinations */
};

void examination_queues__init(struct examination_queues *queues);
/* Adds an examination of an unknown user. */
void examination_queues__add(struct examination_queues *queues, struct examination *examination);
/* Moves it to the queue of its user, which is known now.  Returns 0 or -ENOMEM. */
int examination_queues__sort(struct examination_queues *queues, struct examination *examination);
void examination_queues__remove(struct examination_queues *queues, struct examination *examination);
/*
 * The next examination whose user @may_begin, or NULL.  The user's next turn comes after all others'.
 */
struct examination *examination_queues__next(struct examination_queues *queues,
					     bool (*may_begin)(void *userdata, uid_t user),
					     void *userdata);
/* Any examination; NULL: none waits. */
struct examination *examination_queues__any(const struct examination_queues *queues);
/* Calls @drop with each examination of @owner, which it removes. */
void examination_queues__drop(struct examination_queues *queues, const void *owner,
			      void (*drop)(struct examination *examination));

#endif /* APPLICATION_EXAMINATION_QUEUE_H */
