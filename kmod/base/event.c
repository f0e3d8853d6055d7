// SPDX-License-Identifier: GPL-2.0-only
/* Events of a region: the module queues them, read() takes them. */
#include "event.h"

#include <linux/uaccess.h>

void dart_events_init(struct dart_events *events)
{
	spin_lock_init(&events->lock);
	INIT_LIST_HEAD(&events->pending);
	init_waitqueue_head(&events->wait);
}

void dart_event_init(struct dart_event *event, u32 type)
{
	INIT_LIST_HEAD(&event->link);
	event->type = type;
	event->id = 0;
}

void dart_event_tell(struct dart_events *events, struct dart_event *event)
{
	unsigned long flags;

	spin_lock_irqsave(&events->lock, flags);
	if (list_empty(&event->link))
		list_add_tail(&event->link, &events->pending);
	spin_unlock_irqrestore(&events->lock, flags);
	wake_up_interruptible(&events->wait);
}

void dart_event_cancel(struct dart_events *events, struct dart_event *event)
{
	unsigned long flags;

	spin_lock_irqsave(&events->lock, flags);
	list_del_init(&event->link);
	spin_unlock_irqrestore(&events->lock, flags);
}

static bool has_pending(struct dart_events *events)
{
	return !list_empty_careful(&events->pending);
}

/* Takes the first event; false if the queue is empty. */
static bool take(struct dart_events *events, struct dart_zero_event *taken)
{
	struct dart_event *event;
	unsigned long flags;

	spin_lock_irqsave(&events->lock, flags);
	event = list_first_entry_or_null(&events->pending, struct dart_event, link);
	if (event) {
		list_del_init(&event->link);
		taken->type = event->type;
		taken->id = event->id;
	}
	spin_unlock_irqrestore(&events->lock, flags);
	return event;
}

ssize_t dart_events_read(struct dart_events *events, char __user *user, size_t size, bool may_wait)
{
	struct dart_zero_event event;
	size_t done = 0;
	int ret;

	if (size < sizeof(event))
		return -EINVAL;
	while (size - done >= sizeof(event)) {
		/* Try @user first, because a taken event is not queued again. */
		if (clear_user(user + done, sizeof(event)))
			return done ?: -EFAULT;
		if (!take(events, &event)) {
			if (done)
				break;
			if (!may_wait)
				return -EAGAIN;
			ret = wait_event_interruptible(events->wait, has_pending(events));
			if (ret)
				return ret;
			continue;
		}
		if (copy_to_user(user + done, &event, sizeof(event)))
			return done ?: -EFAULT;
		done += sizeof(event);
	}
	return done;
}

__poll_t dart_events_poll(struct dart_events *events, struct file *file, poll_table *table)
{
	poll_wait(file, &events->wait, table);
	return has_pending(events) ? EPOLLIN | EPOLLRDNORM : 0;
}
