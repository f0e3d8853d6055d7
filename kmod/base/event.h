/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DART_ZERO_EVENT_H
#define DART_ZERO_EVENT_H

#include <linux/list.h>
#include <linux/poll.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <linux/dart_zero.h>

/* The events that a region returns from read(). */
struct dart_events {
	spinlock_t lock;		/* guards the list and its links */
	struct list_head pending;
	wait_queue_head_t wait;
};

/*
 * Embedded in the object that ends or changes, so that telling needs no memory.  It is in the queue
 * at most once.
 */
struct dart_event {
	struct list_head link;
	u32 type;		/* enum dart_zero_event_type */
	u32 id;
};

void dart_events_init(struct dart_events *events);
void dart_event_init(struct dart_event *event, u32 type);

/* Any context. */
void dart_event_tell(struct dart_events *events, struct dart_event *event);
/* To call before @event is freed. */
void dart_event_cancel(struct dart_events *events, struct dart_event *event);

/* read() and poll() of the file. */
ssize_t dart_events_read(struct dart_events *events, char __user *user, size_t size, bool may_wait);
__poll_t dart_events_poll(struct dart_events *events, struct file *file, poll_table *table);

#endif /* DART_ZERO_EVENT_H */
