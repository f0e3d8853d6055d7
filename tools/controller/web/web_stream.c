// SPDX-License-Identifier: GPL-2.0-only
/* Events that wait for their reader: see web_stream.h. */
#include <errno.h>
#include <string.h>

#include "web_stream.h"

#define QUIET_NS 9000000000LL

void event_text__begin(struct event_text *event, const char *name)
{
	json_text__put(&event->text, "event: ");
	json_text__put(&event->text, name);
	json_text__put(&event->text, "\ndata: ");
}

void event_text__end(struct event_text *event)
{
	json_text__put(&event->text, "\n\n");
}

ssize_t event_text__read(struct event_text *event,
			 void (*make)(void *data, struct event_text *event),
			 void *data, char *buffer, size_t size)
{
	size_t left = event->text.length - event->taken;

	if (!left) {
		json_text__reset(&event->text);
		event->taken = 0;
		make(data, event);
		if (!event->text.length &&
		    web__monotonic_ns() - event->sent_ns > QUIET_NS)
			json_text__put(&event->text, ":\n\n");
		if (event->text.has_failed)
			return -ENOMEM;
		left = event->text.length;
		if (left)
			event->sent_ns = web__monotonic_ns();
	}
	if (left > size)
		left = size;
	if (left)
		memcpy(buffer, event->text.bytes + event->taken, left);
	event->taken += left;
	return left;
}
