// SPDX-License-Identifier: GPL-2.0-only
/* The state of a target for the page: see web_target.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/clock.h>

#include "web_target.h"

#define SECOND_NS 1000000000LL
/*
 * A target is stale once its scrape is late by half an interval, or by this, whichever is longer.
 */
#define LATENESS_NS (SECOND_NS / 4)
/* Longest silence of a stream: see web_stream.h. */
#define QUIET_NS (10 * SECOND_NS)

const char *web_state__name(enum web_state state)
{
	static const char *const names[] = {
		[WEB_LOADING] = "loading",
		[WEB_UP] = "up",
		[WEB_STALE] = "stale",
		[WEB_LOST] = "lost",
	};

	return names[state];
}

struct web_target *web_target__new(const struct target_settings *settings, uint64_t interval_ns)
{
	struct web_target *target = calloc(1, sizeof(*target));

	if (!target)
		return NULL;
	atomic_init(&target->references, 1);
	pthread_mutex_init(&target->lock, NULL);
	target->index = settings->index;
	target->interval_ns = settings->interval_ns ?: interval_ns;
	target->name = strdup(settings->name);
	target->history = history__new();
	if (target->name && target->history)
		return target;
	web_target__put(target);
	return NULL;
}

struct web_target *web_target__get(struct web_target *target)
{
	atomic_fetch_add_explicit(&target->references, 1, memory_order_relaxed);
	return target;
}

void web_target__put(struct web_target *target)
{
	if (atomic_fetch_sub_explicit(&target->references, 1, memory_order_acq_rel) != 1)
		return;
	if (target->plan)
		metric_plan__put(target->plan);
	free(target->points);
	free(target->reason);
	history__free(target->history);
	web_summary__clear(&target->summary);
	pthread_mutex_destroy(&target->lock);
	free(target->name);
	free(target);
}

/* The caller holds the lock. */
static void wake_streams(struct web_target *target)
{
	struct http_stream_link *link;

	if (!target->streams)
		return;
	target->woken_ns = dart_clock__ns(CLOCK_MONOTONIC);
	for (link = target->streams; link; link = link->next)
		http_stream__wake(link->stream);
}

/* Returns false if there is no memory for the newest points. */
static bool set_points(struct web_target *target, const struct metric_scrape *scrape)
{
	struct metric_point *points;

	if (scrape->plan != target->plan) {
		points = reallocarray(target->points, scrape->plan->series_count ?: 1,
				      sizeof(*points));
		if (!points)
			return false;
		target->points = points;
		if (target->plan)
			metric_plan__put(target->plan);
		target->plan = metric_plan__get(scrape->plan);
		target->plan_number++;
	}
	memcpy(target->points, scrape->points,
	       scrape->plan->series_count * sizeof(*target->points));
	target->time_ns = scrape->time_ns;
	return true;
}

void web_target__take(struct web_target *target, const struct metric_scrape *scrape,
		      size_t history_bytes)
{
	pthread_mutex_lock(&target->lock);
	if (set_points(target, scrape)) {
		target->scrapes++;
		target->arrived_ns = dart_clock__ns(CLOCK_MONOTONIC);
		target->state = WEB_UP;
		free(target->reason);
		target->reason = NULL;
	}
	target->is_history_lost = history__append(target->history, scrape);
	history__trim(target->history, history_bytes, scrape->time_ns / 1000 - WEB_HISTORY_US);
	wake_streams(target);
	pthread_mutex_unlock(&target->lock);
}

void web_target__lose(struct web_target *target, const char *reason)
{
	pthread_mutex_lock(&target->lock);
	target->state = WEB_LOST;
	free(target->reason);
	target->reason = strdup(reason);
	wake_streams(target);
	pthread_mutex_unlock(&target->lock);
}

void web_target__end(struct web_target *target)
{
	pthread_mutex_lock(&target->lock);
	target->is_gone = true;
	wake_streams(target);
	pthread_mutex_unlock(&target->lock);
}

static bool is_late(const struct web_target *target, int64_t now_ns)
{
	int64_t lateness_ns = target->interval_ns / 2;

	if (lateness_ns < LATENESS_NS)
		lateness_ns = LATENESS_NS;
	return now_ns - target->arrived_ns > (int64_t)target->interval_ns + lateness_ns;
}

bool web_target__check(struct web_target *target, int64_t now_ns, size_t history_bytes,
		       bool is_replay)
{
	bool has_changed = false;
	int64_t gone_ns;

	pthread_mutex_lock(&target->lock);
	gone_ns = is_replay ? 0 : now_ns - target->arrived_ns;
	if (!is_replay && target->state == WEB_UP && is_late(target, now_ns)) {
		target->state = WEB_STALE;
		has_changed = true;
		wake_streams(target);
	}
	if (target->scrapes != target->summarised &&
	    now_ns - target->summarised_ns >= SECOND_NS * 9 / 10) {
		target->summarised = target->scrapes;
		target->summarised_ns = now_ns;
		has_changed = !web_summary__take(&target->summary, target->plan, target->points) ||
			      has_changed;
	}
	if (now_ns - target->woken_ns > QUIET_NS)
		wake_streams(target);
	/* New targets may share the memory. */
	if (target->state != WEB_UP)
		history__trim(target->history, history_bytes,
			      (target->time_ns + gone_ns) / 1000 - WEB_HISTORY_US);
	pthread_mutex_unlock(&target->lock);
	return has_changed;
}

void web_target__add_stream(struct web_target *target, struct http_stream_link *link)
{
	pthread_mutex_lock(&target->lock);
	link->next = target->streams;
	target->streams = link;
	pthread_mutex_unlock(&target->lock);
}

void http_stream_link__remove(struct http_stream_link *link, struct http_stream_link **at)
{
	while (*at && *at != link)
		at = &(*at)->next;
	if (*at)
		*at = link->next;
}

void web_target__remove_stream(struct web_target *target, struct http_stream_link *link)
{
	pthread_mutex_lock(&target->lock);
	http_stream_link__remove(link, &target->streams);
	pthread_mutex_unlock(&target->lock);
}
