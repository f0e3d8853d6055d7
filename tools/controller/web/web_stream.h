/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Server-sent events (HTML standard, section 9.2).  A stream makes the next events when the
 * ones before have been taken: a slow reader skips scrapes, and no more than one batch of
 * events waits for it.  After 10 s without events it sends a comment, so that a reader that
 * is gone is noticed.
 */
#ifndef CONTROLLER_WEB_STREAM_H
#define CONTROLLER_WEB_STREAM_H

#include "json_text.h"
#include "selection.h"
#include "web_targets.h"

/* What has been made and not yet taken. */
struct event_text {
	struct json_text text;
	size_t taken;
	int64_t sent_ns; /* CLOCK_MONOTONIC, when the last was made */
};

/* Adds the head of an event; its data follows in text, on one line, and event_text__end(). */
void event_text__begin(struct event_text *event, const char *name);
void event_text__end(struct event_text *event);
/*
 * What is left of the events, or of those that @make adds; 0: none.  -ENOMEM: the stream ends.
 */
ssize_t event_text__read(struct event_text *event,
			 void (*make)(void *data, struct event_text *event), void *data,
			 char *buffer, size_t size);

/*
 * The scrapes of a target, as events:
 *   state   {"state": "up", "reason": ""}
 *   groups  {"groups": [[labels of each group] of each query]}: before the points of a new plan
 *   points  {"scrape": N, "t": [MS of each query], "v": [[value of each group] of each query]}
 *   gone    {}: the target is scraped no more
 * Takes @queries and @target also if it fails; NULL: out of memory.
 */
void *live_stream__new(struct web_target *target, struct web_queries *queries);
extern const struct http_stream_operations live_stream__operations;

/*
 * All hosts, as events:
 *   hosts   {"hosts": [rows as of /api/hosts, without the past]}: those that have changed
 *   list    {}: hosts have come or gone
 * NULL: out of memory.
 */
void *overview_stream__new(struct web_targets *targets);
extern const struct http_stream_operations overview_stream__operations;

/*
 * A row: [index, state, cpu, pressure, errors, MS of the newest scrape, reason].  With the
 * target's lock.
 */
void overview__print_row(const struct web_target *target, struct json_text *text);

#endif /* CONTROLLER_WEB_STREAM_H */
