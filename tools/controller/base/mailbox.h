/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages from any thread to the thread that owns the mailbox, which calls a function for each,
 * in the order of posting.  Posting neither waits nor allocates: a message is a member of the
 * object that it is about, and posting hands this object over to the other thread.
 */
#ifndef CONTROLLER_MAILBOX_H
#define CONTROLLER_MAILBOX_H

#include "queue.h"

/* The owner sets run().  The message is the mailbox's from posting until run() is called. */
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

/* In the thread of the mailbox: a descriptor that is readable when messages may wait. */
int mailbox__fd(const struct mailbox *mailbox);
/* Called when the descriptor is readable: runs messages, and leaves it readable for the rest. */
void mailbox__read(struct mailbox *mailbox);
/* Runs messages at any time, without a system call; the descriptor stays readable. */
void mailbox__run(struct mailbox *mailbox);

#endif /* CONTROLLER_MAILBOX_H */
