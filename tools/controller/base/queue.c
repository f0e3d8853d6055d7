// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wait-free concurrent queue of liburcu, with a bound and an eventfd: see queue.h.
 *
 * liburcu synchronizes its own accesses.  Users rely on the order of accesses to @used, which
 * ThreadSanitizer understands: a release before an item is put, an acquire after it is taken.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "queue.h"

int queue__open(struct queue *queue, size_t bound)
{
	__cds_wfcq_init(&queue->head, &queue->tail);
	atomic_init(&queue->used, 0);
	atomic_init(&queue->bound, bound);
	queue->wake = eventfd(0, EFD_CLOEXEC);
	return queue->wake < 0 ? -errno : 0;
}

void queue__set_bound(struct queue *queue, size_t bound)
{
	atomic_store(&queue->bound, bound);
}

size_t queue__used(const struct queue *queue)
{
	return atomic_load(&queue->used);
}

size_t queue__bound(const struct queue *queue)
{
	return atomic_load(&queue->bound);
}

void queue__close(struct queue *queue)
{
	if (queue->wake >= 0)
		close(queue->wake);
}

/* True if the queue was empty: then the caller must wake the consumer, for later items, too. */
static bool queue__append(struct queue *queue, struct queue_item *item)
{
	cds_wfcq_node_init(&item->node);
	return !cds_wfcq_enqueue(&queue->head, &queue->tail, &item->node);
}

void queue__wake(struct queue *queue)
{
	eventfd_write(queue->wake, 1);
}

bool queue__put_quietly(struct queue *queue, struct queue_item *item, size_t cost, bool *was_empty)
{
	const size_t bound = atomic_load(&queue->bound);
	size_t used = atomic_load(&queue->used);

	item->cost = cost;
	do {
		if (used && (used >= bound || cost > bound - used))
			return false;
	} while (!atomic_compare_exchange_weak(&queue->used, &used, used + cost));
	*was_empty = queue__append(queue, item);
	return true;
}

bool queue__put(struct queue *queue, struct queue_item *item, size_t cost)
{
	bool was_empty;

	if (!queue__put_quietly(queue, item, cost, &was_empty))
		return false;
	if (was_empty)
		queue__wake(queue);
	return true;
}

void queue__put_always(struct queue *queue, struct queue_item *item, size_t cost)
{
	item->cost = cost;
	atomic_fetch_add(&queue->used, cost);
	if (queue__append(queue, item))
		queue__wake(queue);
}

static struct queue_item *item_of(struct queue *queue, struct cds_wfcq_node *node)
{
	if (!node)
		return NULL;
	(void)atomic_load(&queue->used);
	return caa_container_of(node, struct queue_item, node);
}

struct queue_item *queue__take(struct queue *queue)
{
	return item_of(queue, __cds_wfcq_dequeue_blocking(&queue->head, &queue->tail));
}

bool queue__try_take(struct queue *queue, struct queue_item **item)
{
	struct cds_wfcq_node *node;

	node = __cds_wfcq_dequeue_nonblocking(&queue->head, &queue->tail);
	if (node == CDS_WFCQ_WOULDBLOCK)
		return false;
	*item = item_of(queue, node);
	return true;
}

struct queue_item *queue__wait(struct queue *queue)
{
	struct queue_item *item;
	eventfd_t count;

	while (!(item = queue__take(queue)))
		eventfd_read(queue->wake, &count);
	return item;
}

struct queue_item *queue__wait_for(struct queue *queue, int timeout_ms)
{
	struct pollfd wake = { .fd = queue->wake, .events = POLLIN };
	struct queue_item *item;
	eventfd_t count;

	for (;;) {
		item = queue__take(queue);
		if (item || !poll(&wake, 1, timeout_ms))
			return item;
		if (wake.revents)
			eventfd_read(queue->wake, &count);
	}
}

void queue__release(struct queue *queue, size_t cost)
{
	atomic_fetch_sub(&queue->used, cost);
}
