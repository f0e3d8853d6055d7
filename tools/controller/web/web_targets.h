/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The targets that the page shows, and the memory of their history.  The share of a target is its
 * share of all series, so that all histories reach equally far back if the intervals are equal.
 *
 * Changes of states and summaries are numbered.  A stream of the overview sends the changes with
 * greater numbers than it has sent so far.
 */
#ifndef CONTROLLER_WEB_TARGETS_H
#define CONTROLLER_WEB_TARGETS_H

#include "web_target.h"

struct web_targets;

/*
 * Returns NULL if out of memory.  @interval_ns applies to targets that set none; @is_replay: see
 * web.h.
 */
struct web_targets *web_targets__new(size_t history_bytes, uint64_t interval_ns, bool is_replay);
/* Call this when no stream is left. */
void web_targets__free(struct web_targets *targets);

/* These do the work of the operations in struct metric_output_operations. */
void web_targets__add(struct web_targets *targets, const struct target_settings *settings);
void web_targets__remove(struct web_targets *targets, const struct target_settings *settings);
void web_targets__take(struct web_targets *targets, const struct target_settings *settings,
		       const struct metric_scrape *scrape);
void web_targets__lose(struct web_targets *targets, const struct target_settings *settings,
		       const char *reason);
/* Calls web_target__check() for each target. */
void web_targets__check(struct web_targets *targets);

/* Returns a reference, which the caller puts; NULL if there is no such target. */
struct web_target *web_targets__find(struct web_targets *targets, const char *name);
/* Returns all targets, sorted by index.  The caller releases the list.  NULL if out of memory. */
struct web_target **web_targets__list(struct web_targets *targets, size_t *count);
void web_targets__release(struct web_target **list, size_t count);

/* Returns the number of the latest change. */
uint64_t web_targets__change(struct web_targets *targets);
/* Returns a number that increases when targets are added or removed. */
uint64_t web_targets__generation(struct web_targets *targets);

/* The stream is woken after each change, and at least every few seconds. */
void web_targets__add_stream(struct web_targets *targets, struct http_stream_link *link);
void web_targets__remove_stream(struct web_targets *targets, struct http_stream_link *link);

/* Returns the bytes and the number of points of all histories. */
size_t web_targets__history_bytes(struct web_targets *targets, uint64_t *points);

#endif /* CONTROLLER_WEB_TARGETS_H */
