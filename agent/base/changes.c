// SPDX-License-Identifier: GPL-2.0-only
/* Writes each change as a line of JSON and passes it to all subscribers. */
#include <stdbool.h>
#include <stdlib.h>

#include <libdart/clock.h>

#include "changes.h"
#include "log.h"
#include "request.h"

void changes__open(struct changes *changes)
{
	TAILQ_INIT(&changes->subscribers);
}

void changes__subscribe(struct changes *changes, struct change_subscriber *subscriber)
{
	TAILQ_INSERT_TAIL(&changes->subscribers, subscriber, link);
}

void changes__unsubscribe(struct changes *changes, struct change_subscriber *subscriber)
{
	TAILQ_REMOVE(&changes->subscribers, subscriber, link);
}

/* Gives the change to each subscriber that wants no line; true if others are left. */
static bool changes__give_notice(const struct changes *changes, const char *event,
				 const char *object, const char *name)
{
	struct change_subscriber *subscriber, *next;
	bool are_left = false;

	for (subscriber = TAILQ_FIRST(&changes->subscribers); subscriber; subscriber = next) {
		next = TAILQ_NEXT(subscriber, link);
		if (subscriber->receive)
			are_left = true;
		if (subscriber->notice)
			subscriber->notice(subscriber, event, object, name);
	}
	return are_left;
}

static void changes__send(const struct changes *changes, const char *line, size_t length)
{
	struct change_subscriber *subscriber, *next;

	for (subscriber = TAILQ_FIRST(&changes->subscribers); subscriber; subscriber = next) {
		next = TAILQ_NEXT(subscriber, link);
		if (subscriber->receive)
			subscriber->receive(subscriber, line, length);
	}
}

void changes__announce(const struct changes *changes, const char *event,
		       const char *object, const char *name)
{
	changes__announce_in(changes, event, object, name, "store", NULL);
}

void changes__announce_in(const struct changes *changes, const char *event, const char *object,
			  const char *name, const char *kind, const char *whole)
{
	size_t length;
	json_t *json;
	char *line;

	if (!changes__give_notice(changes, event, object, name))
		return;
	json = json_pack("{s:I, s:s, s:s, s:s, s:s*}", "time_ms",
			 (json_int_t)(dart_clock__ns(CLOCK_REALTIME) / 1000000), "event", event,
			 "object", object, "name", name, kind, whole);
	line = reply__line(json, &length);
	if (!line) {
		log__peer_error("out of memory: clients miss a change");
		return;
	}
	changes__send(changes, line, length);
	free(line);
}
