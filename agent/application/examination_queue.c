// SPDX-License-Identifier: GPL-2.0-only
/* Queues of examinations: see examination_queue.h. */
#include "examination_queue.h"

#include <errno.h>
#include <stdlib.h>

#include "examination.h"

void examination_queues__init(struct examination_queues *queues)
{
	*queues = (struct examination_queues){};
	TAILQ_INIT(&queues->unknown);
	TAILQ_INIT(&queues->users);
}

void examination_queues__add(struct examination_queues *queues, struct examination *examination)
{
	examination->queue = NULL;
	TAILQ_INSERT_TAIL(&queues->unknown, examination, link);
	queues->count++;
}

static struct examination_queue *queue_of(struct examination_queues *queues, uid_t user)
{
	struct examination_queue *queue;

	LIST_FOREACH(queue, &queues->buckets[user % EXAMINATION_QUEUE_BUCKETS], in_bucket)
		if (queue->user == user)
			return queue;
	queue = malloc(sizeof(*queue));
	if (!queue)
		return NULL;
	queue->user = user;
	TAILQ_INIT(&queue->list);
	TAILQ_INSERT_TAIL(&queues->users, queue, link);
	LIST_INSERT_HEAD(&queues->buckets[user % EXAMINATION_QUEUE_BUCKETS], queue, in_bucket);
	return queue;
}

int examination_queues__sort(struct examination_queues *queues, struct examination *examination)
{
	struct examination_queue *queue = queue_of(queues, examination->user);

	if (!queue)
		return -ENOMEM;
	TAILQ_REMOVE(&queues->unknown, examination, link);
	TAILQ_INSERT_TAIL(&queue->list, examination, link);
	examination->queue = queue;
	return 0;
}

void examination_queues__remove(struct examination_queues *queues, struct examination *examination)
{
	struct examination_queue *queue = examination->queue;

	TAILQ_REMOVE(queue ? &queue->list : &queues->unknown, examination, link);
	queues->count--;
	if (!queue || !TAILQ_EMPTY(&queue->list))
		return;
	TAILQ_REMOVE(&queues->users, queue, link);
	LIST_REMOVE(queue, in_bucket);
	free(queue);
}

struct examination *examination_queues__next(struct examination_queues *queues,
					     bool (*may_begin)(void *userdata, uid_t user),
					     void *userdata)
{
	struct examination_queue *queue;

	TAILQ_FOREACH(queue, &queues->users, link)
		if (may_begin(userdata, queue->user))
			break;
	if (!queue)
		return NULL;
	TAILQ_REMOVE(&queues->users, queue, link);
	TAILQ_INSERT_TAIL(&queues->users, queue, link);
	return TAILQ_FIRST(&queue->list);
}

struct examination *examination_queues__any(const struct examination_queues *queues)
{
	const struct examination_queue *queue = TAILQ_FIRST(&queues->users);

	return queue ? TAILQ_FIRST(&queue->list) : TAILQ_FIRST(&queues->unknown);
}

static void drop_of(struct examination_list *list, const void *owner,
		    void (*drop)(struct examination *examination))
{
	struct examination *examination, *next;

	for (examination = TAILQ_FIRST(list); examination; examination = next) {
		next = TAILQ_NEXT(examination, link);
		if (examination->owner == owner)
			drop(examination);
	}
}

void examination_queues__drop(struct examination_queues *queues, const void *owner,
			      void (*drop)(struct examination *examination))
{
	struct examination_queue *queue, *next;

	drop_of(&queues->unknown, owner, drop);
	for (queue = TAILQ_FIRST(&queues->users); queue; queue = next) {
		next = TAILQ_NEXT(queue, link);
		drop_of(&queue->list, owner, drop);
	}
}
