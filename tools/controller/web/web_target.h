/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target for the page: its newest points, its history, and its state.  Workers and the server's
 * threads hold its lock briefly, at most for a copy of the growing chunk.
 */
#ifndef CONTROLLER_WEB_TARGET_H
#define CONTROLLER_WEB_TARGET_H

#include <pthread.h>
#include <stdatomic.h>

#include "tools/controller/http/http_server.h"
#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/settings/settings.h"

#include "history.h"
#include "web_summary.h"

#define WEB_HISTORY_US (3600LL * 1000 * 1000)

enum web_state {
	WEB_LOADING, /* before the first scrape */
	WEB_UP,
	WEB_STALE, /* the next scrape is late */
	WEB_LOST, /* it cannot be scraped, see @reason */
};

struct web_target {
	atomic_uint references;
	/* These never change. */
	size_t index;
	char *name;
	uint64_t interval_ns;

	pthread_mutex_t lock;
	/* Protected by the lock. */
	enum web_state state;
	char *reason; /* or NULL */
	bool is_gone; /* it was removed */
	bool is_history_lost; /* out of memory; the history begins again */
	struct metric_plan *plan; /* plan of the points; NULL before the first scrape */
	uint64_t plan_number; /* increases with each plan */
	struct metric_point *points;
	int64_t time_ns;
	uint64_t scrapes;
	int64_t arrived_ns; /* CLOCK_MONOTONIC */
	struct history *history;
	struct web_summary summary;
	uint64_t summarised; /* number of scrapes at the last summary */
	int64_t summarised_ns; /* CLOCK_MONOTONIC */
	uint64_t changed; /* number of the last change of state or summary: see web_targets.h */
	struct http_stream_link *streams;
	int64_t woken_ns; /* when the streams were woken, CLOCK_MONOTONIC */
};

/* An element of the list of a target's streams. */
struct http_stream_link {
	struct http_stream *stream;
	struct http_stream_link *next;
};

/* Takes @link out of the list that begins at @at, if it is there. */
void http_stream_link__remove(struct http_stream_link *link, struct http_stream_link **at);

/* Returns NULL if out of memory. */
struct web_target *web_target__new(const struct target_settings *settings, uint64_t interval_ns);
struct web_target *web_target__get(struct web_target *target);
void web_target__put(struct web_target *target);

/* Called by workers. */
void web_target__take(struct web_target *target, const struct metric_scrape *scrape,
		      size_t history_bytes);
void web_target__lose(struct web_target *target, const char *reason);
/* Tells the streams that the target was removed.  Called in the control loop. */
void web_target__end(struct web_target *target);

/*
 * Called regularly: notices late scrapes, makes a summary of a newer scrape, and drops old history.
 * During a replay no target is late, and history does not age with time.  Returns true if state or
 * summary changed.
 */
bool web_target__check(struct web_target *target, int64_t now_ns, size_t history_bytes,
		       bool is_replay);

/*
 * Adds @link, which the caller owns.  Its stream is woken after each change, and every few seconds,
 * until the link is removed.
 */
void web_target__add_stream(struct web_target *target, struct http_stream_link *link);
void web_target__remove_stream(struct web_target *target, struct http_stream_link *link);

const char *web_state__name(enum web_state state);

#endif /* CONTROLLER_WEB_TARGET_H */
