/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The targets that the page shows, and the memory of their past: each has the share of it
 * that it has of all series, so that the past of all goes back equally far if their
 * intervals are equal.
 *
 * Changes of states and summaries are numbered: a stream of the overview sends what has a
 * greater number than it has sent.
 */
#ifndef CONTROLLER_WEB_TARGETS_H
#define CONTROLLER_WEB_TARGETS_H

#include "web_target.h"

struct web_targets;

/* NULL: out of memory.  @interval_ns: of targets without an own one; @is_replay: see web.h. */
struct web_targets *web_targets__new(size_t history_bytes, uint64_t interval_ns, bool is_replay);
/* No stream is left. */
void web_targets__free(struct web_targets *targets);

/* As those of struct metric_output_operations. */
void web_targets__add(struct web_targets *targets, const struct target_settings *settings);
void web_targets__remove(struct web_targets *targets, const struct target_settings *settings);
void web_targets__take(struct web_targets *targets, const struct target_settings *settings,
		       const struct metric_scrape *scrape);
void web_targets__lose(struct web_targets *targets, const struct target_settings *settings,
		       const char *reason);
/* Calls web_target__check() of each. */
void web_targets__check(struct web_targets *targets);

/* To be put; NULL: there is none. */
struct web_target *web_targets__find(struct web_targets *targets, const char *name);
/* All, by their index.  To be released; NULL: out of memory. */
struct web_target **web_targets__list(struct web_targets *targets, size_t *count);
void web_targets__release(struct web_target **list, size_t count);

/* That of the latest change. */
uint64_t web_targets__change(struct web_targets *targets);
/* Grows when targets come or go. */
uint64_t web_targets__generation(struct web_targets *targets);

/* Woken when something changes, and also if nothing does, at least every few seconds. */
void web_targets__add_stream(struct web_targets *targets, struct http_stream_link *link);
void web_targets__remove_stream(struct web_targets *targets, struct http_stream_link *link);

/* Of the past of all targets. */
size_t web_targets__history_bytes(struct web_targets *targets, uint64_t *points);

#endif /* CONTROLLER_WEB_TARGETS_H */
