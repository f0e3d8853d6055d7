/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages from any thread to one: each is a function that runs there, in the order in
 * which they were posted.  Nothing waits, and nothing is allocated: a message belongs to the
 * object that it is about, which is in the hands of the other thread from then on.
 */
#ifndef CONTROLLER_MAILBOX_H
#define CONTROLLER_MAILBOX_H

#include <stdbool.h>

#include "queue.h"

/* Of its owner, who sets run(), and again once it runs. */
struct message {
	struct queue_item item;
	void (*run)(struct message *message);
};

struct mailbox {
	struct queue queue;
};

/* Returns 0 or -errno. */
int mailbox__open(struct mailbox *mailbox);
/* Drops messages that have not run; also if mailbox__open() failed. */
void mailbox__close(struct mailbox *mailbox);

/* In any thread. */
void mailbox__post(struct mailbox *mailbox, struct message *message);

/* In the thread of the mailbox: readable when there may be messages. */
int mailbox__fd(const struct mailbox *mailbox);
/* Runs them. */
void mailbox__read(struct mailbox *mailbox);
/* The same without a system call, at any time; the descriptor stays readable. */
void mailbox__run(struct mailbox *mailbox);

#endif /* CONTROLLER_MAILBOX_H */
