// SPDX-License-Identifier: GPL-2.0-only
/* Writes each change as a line of JSON and passes it to all subscribers. */
#include <stdlib.h>

#include "changes.h"
#include "clock.h"
#include "log.h"
#include "request.h"

void changes__open(struct changes *changes)
{
	TAILQ_INIT(&changes->subscribers);
}

void changes__subscribe(struct changes *changes,
			struct change_subscriber *subscriber)
{
	TAILQ_INSERT_TAIL(&changes->subscribers, subscriber, link);
}

void changes__unsubscribe(struct changes *changes,
			  struct change_subscriber *subscriber)
{
	TAILQ_REMOVE(&changes->subscribers, subscriber, link);
}

void changes__announce(const struct changes *changes, const char *event,
		       const char *object, const char *name)
{
	changes__announce_in(changes, event, object, name, NULL);
}

void changes__announce_in(const struct changes *changes, const char *event,
			  const char *object, const char *name,
			  const char *store)
{
	struct change_subscriber *subscriber, *next;
	size_t length;
	json_t *json;
	char *line;

	if (TAILQ_EMPTY(&changes->subscribers))
		return;
	json = json_pack(
		"{s:I, s:s, s:s, s:s, s:s*}", "time_ms",
		(json_int_t)(clock__nanoseconds(CLOCK_REALTIME) / 1000000),
		"event", event, "object", object, "name", name, "store", store);
	line = reply__line(json, &length);
	if (!line) {
		log__peer_error("out of memory: clients miss a change");
		return;
	}
	for (subscriber = TAILQ_FIRST(&changes->subscribers); subscriber;
	     subscriber = next) {
		next = TAILQ_NEXT(subscriber, link);
		subscriber->receive(subscriber, line, length);
	}
	free(line);
}
