// SPDX-License-Identifier: GPL-2.0-only
/* Messages between threads. */
#include "mailbox.h"

#include <sys/eventfd.h>

/* Number of messages that run before the thread looks at other events again. */
#define BATCH 64

int mailbox__open(struct mailbox *mailbox)
{
	/* No bound: each user of the mailbox owns only a few messages. */
	return queue__open(&mailbox->queue, SIZE_MAX);
}

void mailbox__close(struct mailbox *mailbox)
{
	queue__close(&mailbox->queue);
}

void mailbox__post(struct mailbox *mailbox, struct message *message)
{
	queue__put_always(&mailbox->queue, &message->item, 1);
}

int mailbox__fd(const struct mailbox *mailbox)
{
	return mailbox->queue.wake;
}

/* False if more messages may wait. */
static bool mailbox__run_batch(struct mailbox *mailbox)
{
	struct queue_item *item;
	struct message *message;

	for (int i = 0; i < BATCH; i++) {
		/* Another thread is posting and may be preempted: read the rest later. */
		if (!queue__try_take(&mailbox->queue, &item))
			return false;
		if (!item)
			return true;
		queue__release(&mailbox->queue, item->cost);
		message = caa_container_of(item, struct message, item);
		message->run(message);
	}
	return false;
}

void mailbox__read(struct mailbox *mailbox)
{
	eventfd_t count;

	eventfd_read(mailbox->queue.wake, &count);
	/* Threads write to the descriptor only when they post to an empty queue. */
	if (!mailbox__run_batch(mailbox))
		eventfd_write(mailbox->queue.wake, 1);
}

void mailbox__run(struct mailbox *mailbox)
{
	mailbox__run_batch(mailbox);
}
