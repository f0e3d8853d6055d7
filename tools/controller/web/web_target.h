/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A target as the page sees it: its newest points, its past, and its state.  Workers and
 * the server's thread hold its lock for short whiles: the longest is a copy of the chunk
 * that grows.
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
	WEB_LOADING, /* no scrape yet */
	WEB_UP,
	WEB_STALE, /* the next scrape is late */
	WEB_LOST, /* it cannot be scraped: reason */
};

struct web_target {
	atomic_uint references;
	/* These never change. */
	size_t index;
	char *name;
	uint64_t interval_ns;

	pthread_mutex_t lock;
	/* Under the lock. */
	enum web_state state;
	char *reason; /* NULL: none */
	bool is_gone; /* it is not scraped any more */
	bool is_history_lost; /* out of memory; it begins again */
	struct metric_plan *plan; /* of the points; NULL: none yet */
	uint64_t plan_number; /* grows with each plan */
	struct metric_point *points;
	int64_t time_ns;
	uint64_t scrapes;
	int64_t arrived_ns; /* CLOCK_MONOTONIC */
	struct history *history;
	struct web_summary summary;
	uint64_t summarised; /* scrapes at the last summary */
	int64_t summarised_ns; /* CLOCK_MONOTONIC */
	uint64_t changed; /* when state or summary did: see web_targets.h */
	struct http_stream_link *streams;
	int64_t woken_ns; /* CLOCK_MONOTONIC, when the streams were */
};

/* An element of the list of a target's streams. */
struct http_stream_link {
	struct http_stream *stream;
	struct http_stream_link *next;
};

/* NULL: out of memory. */
struct web_target *web_target__new(const struct target_settings *settings, uint64_t interval_ns);
struct web_target *web_target__get(struct web_target *target);
void web_target__put(struct web_target *target);

/* In a worker. */
void web_target__take(struct web_target *target, const struct metric_scrape *scrape,
		      size_t history_bytes);
void web_target__lose(struct web_target *target, const char *reason);
/* In the control loop: it ends. */
void web_target__end(struct web_target *target);

/*
 * From time to time: notices that scrapes are late, makes a summary if there is a newer
 * scrape, and drops what is too old.  Of a replay nothing is late, or becomes old, as time goes
 * on.  True: state or summary have changed.
 */
bool web_target__check(struct web_target *target, int64_t now_ns, size_t history_bytes,
		       bool is_replay);

/*
 * @link is the caller's; its stream is woken when something changes, and every few seconds,
 * until it is removed.
 */
void web_target__add_stream(struct web_target *target, struct http_stream_link *link);
void web_target__remove_stream(struct web_target *target, struct http_stream_link *link);

const char *web_state__name(enum web_state state);
int64_t web__monotonic_ns(void);

#endif /* CONTROLLER_WEB_TARGET_H */
