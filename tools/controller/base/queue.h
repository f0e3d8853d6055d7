/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded queue from many threads to one.  Putting never waits: it fails if the queue is
 * full.  The consumer sleeps while the queue is empty, and the first item wakes it, so at a high
 * rate few items cost a system call.
 *
 * All writes of a thread before it puts an item are visible to the consumer of the item.
 */
#ifndef CONTROLLER_QUEUE_H
#define CONTROLLER_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <urcu/wfcqueue.h>

/* A member of the user's object, who leaves its members alone while the queue holds it. */
struct queue_item {
	struct cds_wfcq_node node;
	size_t cost;
};

struct queue {
	struct __cds_wfcq_head head; /* of the consumer */
	struct cds_wfcq_tail tail;
	atomic_size_t used; /* cost of all items that were put and not released */
	atomic_size_t bound;
	int wake; /* eventfd */
};

/*
 * Limits the cost of all items together to @bound, but accepts a single item of any cost.
 * Returns 0 or -errno.
 */
int queue__open(struct queue *queue, size_t bound);
/* In any thread.  A lower bound removes no item. */
void queue__set_bound(struct queue *queue, size_t bound);
/* In any thread: the cost of all items that were put and not released. */
size_t queue__used(const struct queue *queue);
size_t queue__bound(const struct queue *queue);
/* Call it when the queue is empty; also allowed if queue__open() failed. */
void queue__close(struct queue *queue);

/* In any thread.  False if the queue is full: the caller keeps the item. */
bool queue__put(struct queue *queue, struct queue_item *item, size_t cost);
/*
 * The same, but leaves waking to the caller: if it sets @was_empty, the caller must call
 * queue__wake().  Until then the consumer may sleep although items wait.
 */
bool queue__put_quietly(struct queue *queue, struct queue_item *item, size_t cost, bool *was_empty);
/* In any thread. */
void queue__wake(struct queue *queue);
/* In any thread.  Ignores the bound, for rare items that must not be lost. */
void queue__put_always(struct queue *queue, struct queue_item *item, size_t cost);

/* For the consumer, one thread.  Sleeps until an item comes. */
struct queue_item *queue__wait(struct queue *queue);
/* The same, but NULL if no item came for @timeout_ms; a negative timeout never ends. */
struct queue_item *queue__wait_for(struct queue *queue, int timeout_ms);
/* NULL if the queue is empty.  Waits only while another thread is in the middle of a put. */
struct queue_item *queue__take(struct queue *queue);
/*
 * Never waits: false if another thread, which may be preempted, is in the middle of putting the
 * next item.  Otherwise sets @item like queue__take().
 */
bool queue__try_take(struct queue *queue, struct queue_item **item);
/* Gives back the @cost of an item that was taken, so that others may be put. */
void queue__release(struct queue *queue, size_t cost);

#endif /* CONTROLLER_QUEUE_H */
