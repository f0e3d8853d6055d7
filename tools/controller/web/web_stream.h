/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Server-sent events (HTML standard, section 9.2).  A stream makes events only when the reader has
 * taken the previous ones.  So a slow reader skips scrapes, and at most one batch of events waits
 * for it.  After 10 s without events the stream sends a comment, to notice readers that left.
 */
#ifndef CONTROLLER_WEB_STREAM_H
#define CONTROLLER_WEB_STREAM_H

#include "json_text.h"
#include "selection.h"
#include "web_targets.h"

/* Events that were made and not yet taken completely. */
struct event_text {
	struct json_text text;
	size_t taken;
	int64_t sent_ns; /* when the last event was made, CLOCK_MONOTONIC */
};

/*
 * Appends the head of an event.  The caller appends its data to text, on one line, and calls
 * event_text__end().
 */
void event_text__begin(struct event_text *event, const char *name);
void event_text__end(struct event_text *event);
/*
 * Copies the rest of the events, or of new events that @make appends, to @buffer.  Returns the
 * number of bytes; 0 without events; -ENOMEM ends the stream.
 */
ssize_t event_text__read(struct event_text *event,
			 void (*make)(void *data, struct event_text *event), void *data,
			 char *buffer, size_t size);

/*
 * Makes a stream of the scrapes of a target, as events:
 *
 *   state   {"state": "up", "reason": ""}
 *   groups  {"groups": [[labels of each group] of each query]}: before the points of a new plan
 *   points  {"scrape": N, "t": [MS of each query], "v": [[value of each group] of each query]}
 *   gone    {}: the target was removed
 *
 * Takes @queries and @target even if it fails.  Returns NULL if out of memory.
 */
void *live_stream__new(struct web_target *target, struct web_queries *queries);
extern const struct http_stream_operations live_stream__operations;

/*
 * Makes a stream of all hosts, as events:
 *
 *   hosts   {"hosts": [rows as of /api/hosts, without the past]}: changed hosts
 *   list    {}: hosts were added or removed
 *
 * Returns NULL if out of memory.
 */
void *overview_stream__new(struct web_targets *targets);
extern const struct http_stream_operations overview_stream__operations;

/*
 * Appends a row: [index, state, cpu, pressure, errors, MS of the newest scrape, reason].  The
 * caller holds the target's lock.
 */
void overview__print_row(const struct web_target *target, struct json_text *text);

#endif /* CONTROLLER_WEB_STREAM_H */
