/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded queue from many threads to one.  Putting never waits: it fails if the queue is
 * full.  The thread that takes sleeps while the queue is empty, and the first item wakes
 * it, so at a high rate few items cost a system call.
 *
 * What a thread wrote before it put an item is visible to the thread that takes it.
 */
#ifndef CONTROLLER_QUEUE_H
#define CONTROLLER_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <urcu/wfcqueue.h>

/* Belongs to the queue while it is in there; its owner leaves the members alone. */
struct queue_item {
	struct cds_wfcq_node node;
	size_t cost;
};

struct queue {
	struct __cds_wfcq_head head; /* of the thread that takes */
	struct cds_wfcq_tail tail;
	atomic_size_t used; /* cost of the items that are not released yet */
	atomic_size_t bound;
	int wake; /* eventfd */
};

/*
 * The cost of all items is at most @bound; a single one may cost more.  Returns 0 or
 * -errno.
 */
int queue__open(struct queue *queue, size_t bound);
/* In any thread; what is in the queue stays. */
void queue__set_bound(struct queue *queue, size_t bound);
/* In any thread: the cost of what is in the queue, or was taken and is not released. */
size_t queue__used(const struct queue *queue);
size_t queue__bound(const struct queue *queue);
/* The queue is empty; also if queue__open() failed. */
void queue__close(struct queue *queue);

/* In any thread.  False if there is no room: the item stays the caller's. */
bool queue__put(struct queue *queue, struct queue_item *item, size_t cost);
/*
 * The same, but nothing is woken: if @was_empty, queue__wake() is due, until when the thread
 * that takes may sleep beside this item and all that are put meanwhile.
 */
bool queue__put_quietly(struct queue *queue, struct queue_item *item, size_t cost, bool *was_empty);
/* In any thread. */
void queue__wake(struct queue *queue);
/* Beyond the bound, for what is rare and must not be lost. */
void queue__put_always(struct queue *queue, struct queue_item *item, size_t cost);

/* In one thread.  queue__wait() sleeps until there is an item. */
struct queue_item *queue__wait(struct queue *queue);
/* The same, but NULL if there is none for @timeout_ms; negative: it waits for ever. */
struct queue_item *queue__wait_for(struct queue *queue, int timeout_ms);
/* NULL if there is none.  Waits for a thread that is about to put the next one. */
struct queue_item *queue__take(struct queue *queue);
/*
 * Never waits: false if a thread is about to put the next one, which may have been
 * preempted.  Otherwise @item is that or NULL, as for queue__take().
 */
bool queue__try_take(struct queue *queue, struct queue_item **item);
/* Makes room again: @cost of an item that was taken. */
void queue__release(struct queue *queue, size_t cost);

#endif /* CONTROLLER_QUEUE_H */
