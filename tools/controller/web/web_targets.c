// SPDX-License-Identifier: GPL-2.0-only
/* All targets that the page shows: see web_targets.h. */
#include <stdlib.h>
#include <string.h>

#include <libdart/clock.h>

#include "web_targets.h"

/* Streams without news send a sign of life after so many checks. */
#define QUIET_CHECKS_MAX 40

struct web_targets {
	size_t history_bytes;
	uint64_t interval_ns;
	bool is_replay;
	atomic_size_t series; /* number of series of all targets */
	atomic_uint_fast64_t change;

	/* Taken before the lock of a target. */
	pthread_mutex_t lock;
	struct web_target *by_index[SETTINGS_TARGETS_MAX];
	size_t end; /* greatest index + 1 */
	uint64_t generation;
	struct http_stream_link *streams;
	unsigned int quiet_checks;
};

struct web_targets *web_targets__new(size_t history_bytes, uint64_t interval_ns, bool is_replay)
{
	struct web_targets *targets = calloc(1, sizeof(*targets));

	if (!targets)
		return NULL;
	targets->history_bytes = history_bytes;
	targets->interval_ns = interval_ns;
	targets->is_replay = is_replay;
	pthread_mutex_init(&targets->lock, NULL);
	return targets;
}

void web_targets__free(struct web_targets *targets)
{
	size_t i;

	if (!targets)
		return;
	for (i = 0; i < targets->end; i++)
		if (targets->by_index[i])
			web_target__put(targets->by_index[i]);
	pthread_mutex_destroy(&targets->lock);
	free(targets);
}

/* The caller holds the lock. */
static void wake_streams(struct web_targets *targets)
{
	struct http_stream_link *link;

	targets->quiet_checks = 0;
	for (link = targets->streams; link; link = link->next)
		http_stream__wake(link->stream);
}

void web_targets__add(struct web_targets *targets, const struct target_settings *settings)
{
	/* Without memory the page does not show the target. */
	struct web_target *target = web_target__new(settings, targets->interval_ns);

	pthread_mutex_lock(&targets->lock);
	targets->by_index[settings->index] = target;
	if (settings->index >= targets->end)
		targets->end = settings->index + 1;
	targets->generation++;
	wake_streams(targets);
	pthread_mutex_unlock(&targets->lock);
}

void web_targets__remove(struct web_targets *targets, const struct target_settings *settings)
{
	struct web_target *target;

	pthread_mutex_lock(&targets->lock);
	target = targets->by_index[settings->index];
	targets->by_index[settings->index] = NULL;
	targets->generation++;
	wake_streams(targets);
	pthread_mutex_unlock(&targets->lock);
	if (!target)
		return;
	if (target->plan)
		targets->series -= target->plan->series_count;
	web_target__end(target);
	web_target__put(target);
}

static size_t share_of(const struct web_targets *targets, size_t series)
{
	size_t all = targets->series;

	if (!series || series >= all)
		return targets->history_bytes;
	return (double)targets->history_bytes * series / all;
}

/* A worker uses a target without the lock, because the target stays from added() to removed(). */
void web_targets__take(struct web_targets *targets, const struct target_settings *settings,
		       const struct metric_scrape *scrape)
{
	struct web_target *target = targets->by_index[settings->index];
	size_t before;

	if (!target)
		return;
	/* No other thread sets the plan. */
	before = target->plan ? target->plan->series_count : 0;
	targets->series += scrape->plan->series_count - before;
	web_target__take(target, scrape, share_of(targets, scrape->plan->series_count));
}

void web_targets__lose(struct web_targets *targets, const struct target_settings *settings,
		       const char *reason)
{
	struct web_target *target = targets->by_index[settings->index];

	if (!target)
		return;
	web_target__lose(target, reason);
	pthread_mutex_lock(&target->lock);
	target->changed = ++targets->change;
	pthread_mutex_unlock(&target->lock);
	pthread_mutex_lock(&targets->lock);
	wake_streams(targets);
	pthread_mutex_unlock(&targets->lock);
}

void web_targets__check(struct web_targets *targets)
{
	int64_t now_ns = dart_clock__ns(CLOCK_MONOTONIC);
	bool has_changed = false;
	struct web_target **list;
	size_t count, i, series;

	list = web_targets__list(targets, &count);
	for (i = 0; list && i < count; i++) {
		pthread_mutex_lock(&list[i]->lock);
		series = list[i]->plan ? list[i]->plan->series_count : 0;
		pthread_mutex_unlock(&list[i]->lock);
		if (!web_target__check(list[i], now_ns, share_of(targets, series),
				       targets->is_replay))
			continue;
		has_changed = true;
		pthread_mutex_lock(&list[i]->lock);
		list[i]->changed = ++targets->change;
		pthread_mutex_unlock(&list[i]->lock);
	}
	web_targets__release(list, list ? count : 0);
	pthread_mutex_lock(&targets->lock);
	if (has_changed || ++targets->quiet_checks >= QUIET_CHECKS_MAX)
		wake_streams(targets);
	pthread_mutex_unlock(&targets->lock);
}

struct web_target *web_targets__find(struct web_targets *targets, const char *name)
{
	struct web_target *target = NULL;
	size_t i;

	pthread_mutex_lock(&targets->lock);
	for (i = 0; i < targets->end && !target; i++)
		if (targets->by_index[i] && !strcmp(targets->by_index[i]->name, name))
			target = web_target__get(targets->by_index[i]);
	pthread_mutex_unlock(&targets->lock);
	return target;
}

struct web_target **web_targets__list(struct web_targets *targets, size_t *count)
{
	struct web_target **list;
	size_t i;

	*count = 0;
	pthread_mutex_lock(&targets->lock);
	list = calloc(targets->end ?: 1, sizeof(*list));
	for (i = 0; list && i < targets->end; i++)
		if (targets->by_index[i])
			list[(*count)++] = web_target__get(targets->by_index[i]);
	pthread_mutex_unlock(&targets->lock);
	return list;
}

void web_targets__release(struct web_target **list, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		web_target__put(list[i]);
	free(list);
}

uint64_t web_targets__change(struct web_targets *targets)
{
	return targets->change;
}

uint64_t web_targets__generation(struct web_targets *targets)
{
	uint64_t generation;

	pthread_mutex_lock(&targets->lock);
	generation = targets->generation;
	pthread_mutex_unlock(&targets->lock);
	return generation;
}

void web_targets__add_stream(struct web_targets *targets, struct http_stream_link *link)
{
	pthread_mutex_lock(&targets->lock);
	link->next = targets->streams;
	targets->streams = link;
	pthread_mutex_unlock(&targets->lock);
}

void web_targets__remove_stream(struct web_targets *targets, struct http_stream_link *link)
{
	pthread_mutex_lock(&targets->lock);
	http_stream_link__remove(link, &targets->streams);
	pthread_mutex_unlock(&targets->lock);
}

size_t web_targets__history_bytes(struct web_targets *targets, uint64_t *points)
{
	struct web_target **list;
	size_t count, i, bytes = 0;

	*points = 0;
	list = web_targets__list(targets, &count);
	for (i = 0; list && i < count; i++) {
		pthread_mutex_lock(&list[i]->lock);
		bytes += history__bytes(list[i]->history);
		*points += history__points(list[i]->history);
		pthread_mutex_unlock(&list[i]->lock);
	}
	web_targets__release(list, list ? count : 0);
	return bytes;
}
