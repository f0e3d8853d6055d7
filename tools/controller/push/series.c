// SPDX-License-Identifier: GPL-2.0-only
/* Collects the points of a target: see series.h. */
#include "series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "remote_write.h"

struct series {
	struct label_set *labels;
	struct metric_plan *plan;	/* of the last scrape; NULL: none so far */
	/* Of each series of it: the time of its last sample, in ns; 0: it has none. */
	int64_t *last_ns;
	bool has_ended;			/* all have their marker, or need none */
	struct block *open;		/* NULL: none */
	uint64_t opened_ns;
	uint64_t added_ns;		/* the last scrape */
};

static void wake_waiting(struct series_rules *rules)
{
	pthread_mutex_lock(&rules->lock);
	pthread_cond_broadcast(&rules->room_is_made);
	pthread_mutex_unlock(&rules->lock);
}

void series_rules__set_waits(struct series_rules *rules, bool waits)
{
	atomic_store(&rules->waits, waits);
	wake_waiting(rules);
}

void series_rules__give_back(struct series_rules *rules, uint64_t bytes)
{
	atomic_fetch_sub(&rules->bytes, bytes);
	if (atomic_load(&rules->waits))
		wake_waiting(rules);
}

static bool try_reserve(struct series_rules *rules, uint64_t cost)
{
	if (atomic_fetch_add(&rules->bytes, cost) + cost <= rules->bound)
		return true;
	atomic_fetch_sub(&rules->bytes, cost);
	return false;
}

/* Markers come from the control loop, too, which waits for nothing: they are beyond the bound. */
static bool reserve(struct series_rules *rules, uint64_t cost, bool is_marker)
{
	bool has_room = try_reserve(rules, cost);

	if (has_room || !atomic_load(&rules->waits) || cost > rules->bound / 2)
		return has_room;
	if (is_marker) {
		atomic_fetch_add(&rules->bytes, cost);
		return true;
	}
	pthread_mutex_lock(&rules->lock);
	while (!(has_room = try_reserve(rules, cost)) &&
	       atomic_load(&rules->waits))
		pthread_cond_wait(&rules->room_is_made, &rules->lock);
	pthread_mutex_unlock(&rules->lock);
	return has_room;
}

struct series *series__new(void)
{
	return calloc(1, sizeof(struct series));
}

static void hand_over(struct series *series, struct series_rules *rules)
{
	if (series->open)
		rules->take(rules->data, series->open);
	series->open = NULL;
}

static void forget(struct series *series)
{
	label_set__release(series->labels);
	if (series->plan)
		metric_plan__put(series->plan);
	free(series->last_ns);
	series->labels = NULL;
	series->plan = NULL;
	series->last_ns = NULL;
	series->has_ended = false;
}

void series__free(struct series *series, struct series_rules *rules)
{
	if (!series)
		return;
	hand_over(series, rules);
	forget(series);
	free(series);
}

/* Takes memory for a row of @plan, and a block if there is none; false if there is no room. */
static bool take_room(struct series *series, struct series_rules *rules,
		      struct metric_plan *plan, bool is_marker,
		      struct metric_point **row)
{
	const size_t bytes = block__row_bytes(plan);
	const uint64_t cost = bytes + (series->open ? 0 : sizeof(struct block));

	if (!reserve(rules, cost, is_marker))
		return false;
	*row = malloc(bytes);
	if (*row && !series->open)
		series->open = block__new(plan, series->labels);
	if (*row && series->open)
		return true;
	free(*row);
	atomic_fetch_sub(&rules->bytes, cost);
	return false;
}

/* Is the point after the last sample of its series, as the receiver sees times? */
static bool is_new(const struct series *series,
		   const struct series_rules *rules, uint32_t i,
		   const struct metric_point *point)
{
	return point->time_ns > 0 &&
	       point->time_ns / rules->precision_ns >
		       series->last_ns[i] / rules->precision_ns;
}

/* There is no room for the points of a scrape. */
static void drop_row(const struct series *series, struct series_rules *rules,
		     const struct metric_point *points)
{
	uint64_t samples = 0;
	uint32_t i;

	for (i = 0; i < series->plan->series_count; i++)
		samples += is_new(series, rules, i, points + i);
	atomic_fetch_add(&rules->dropped, samples);
}

/* Returns how many points of @row have a time. */
static uint64_t fill_row(struct series *series, struct series_rules *rules,
			 const struct metric_point *points,
			 struct metric_point *row)
{
	uint64_t samples = 0, repeated = 0;
	uint32_t i;

	for (i = 0; i < series->plan->series_count; i++) {
		row[i] = points[i];
		if (is_new(series, rules, i, points + i)) {
			series->last_ns[i] = points[i].time_ns;
			samples++;
		} else {
			row[i].time_ns = 0;
			repeated += points[i].time_ns > 0;
		}
	}
	if (repeated)
		atomic_fetch_add(&rules->repeated, repeated);
	return samples;
}

/* Did the receiver get samples of it, and does it not go on? */
static bool needs_marker(const struct series *series, const bool *remains,
			 uint32_t i)
{
	return series->last_ns[i] && !(remains && remains[i]);
}

static void drop_markers(const struct series *series,
			 struct series_rules *rules, const bool *remains)
{
	uint64_t samples = 0;
	uint32_t i;

	for (i = 0; i < series->plan->series_count; i++)
		samples += needs_marker(series, remains, i);
	atomic_fetch_add(&rules->dropped, samples);
}

/* A row that says at @time_ns that series have ended: all, or those that do not remain. */
static uint64_t fill_markers(const struct series *series,
			     const struct series_rules *rules,
			     const bool *remains, int64_t time_ns,
			     struct metric_point *row)
{
	static const uint64_t stale = REMOTE_WRITE_STALE;
	uint64_t samples = 0;
	int64_t after_ns;
	uint32_t i;

	for (i = 0; i < series->plan->series_count; i++) {
		row[i].time_ns = 0;
		if (!needs_marker(series, remains, i))
			continue;
		/* Behind the last sample, as the receiver sees times. */
		after_ns = series->last_ns[i] + rules->precision_ns;
		row[i].time_ns = time_ns > after_ns ? time_ns : after_ns;
		/* Not by a register of floating point: it is a signalling NaN. */
		memcpy(&row[i].value, &stale, sizeof(stale));
		if (!remains)
			series->last_ns[i] = row[i].time_ns;
		samples++;
	}
	return samples;
}

/* @remains: of each series of the plan, whether it goes on; NULL: none does. */
static void put_markers(struct series *series, struct series_rules *rules,
			const bool *remains, int64_t time_ns)
{
	struct metric_point *row;
	uint64_t samples;

	if (!rules->has_markers)
		return;
	if (!take_room(series, rules, series->plan, true, &row)) {
		drop_markers(series, rules, remains);
		return;
	}
	samples = fill_markers(series, rules, remains, time_ns, row);
	block__add(series->open, row, samples);
	hand_over(series, rules);
}

void series__end(struct series *series, struct series_rules *rules,
		 int64_t time_ns)
{
	hand_over(series, rules);
	if (series->plan && !series->has_ended)
		put_markers(series, rules, NULL, time_ns);
	series->has_ended = true;
}

static int compare_series(const struct metric_plan *one,
			  const struct metric_series *a,
			  const struct metric_plan *other,
			  const struct metric_series *b)
{
	return strcmp(one->families[a->family].name,
		      other->families[b->family].name) ?:
		       strcmp(a->name, b->name) ?:
		       strcmp(a->text, b->text);
}

/* Both are in the same order: what is in both has its last time in @last_ns. */
static void match(const struct series *series, const struct metric_plan *plan,
		  int64_t *last_ns, bool *remains)
{
	const struct metric_plan *before = series->plan;
	uint32_t i = 0, j = 0;
	int order;

	while (i < before->series_count && j < plan->series_count) {
		order = compare_series(before, before->series + i, plan,
				       plan->series + j);
		if (!order) {
			last_ns[j] = series->last_ns[i];
			remains[i] = true;
		}
		i += order <= 0;
		j += order >= 0;
	}
}

/* From now on @plan: what is no longer in it has ended.  False if there is no memory. */
static bool change_plan(struct series *series, struct series_rules *rules,
			struct metric_plan *plan, int64_t time_ns)
{
	int64_t *last_ns = calloc(plan->series_count + 1, sizeof(*last_ns));
	bool *remains = NULL;

	if (series->plan)
		remains = calloc(series->plan->series_count + 1,
				 sizeof(*remains));
	if (!last_ns || (series->plan && !remains)) {
		free(last_ns);
		free(remains);
		return false;
	}
	if (series->plan) {
		hand_over(series, rules);
		match(series, plan, last_ns, remains);
		if (!series->has_ended)
			put_markers(series, rules, remains, time_ns);
		metric_plan__put(series->plan);
	}
	free(remains);
	free(series->last_ns);
	series->last_ns = last_ns;
	series->plan = metric_plan__get(plan);
	return true;
}

/* Labels beside series of @plan.  What had other ones has ended.  False without memory. */
static bool change_labels(struct series *series, struct series_rules *rules,
			  const struct target_settings *target,
			  const json_t *own, const struct metric_plan *plan,
			  int64_t time_ns)
{
	struct label_set *labels = label_set__new(target, own, plan);

	if (!labels)
		return false;
	if (series->labels && !label_set__equal(series->labels, labels)) {
		series__end(series, rules, time_ns);
		forget(series);
	}
	if (series->labels)
		label_set__release(labels);
	else
		series->labels = labels;
	return true;
}

/* False if there is no memory. */
static bool prepare(struct series *series, struct series_rules *rules,
		    const struct target_settings *target, const json_t *own,
		    const struct metric_scrape *scrape)
{
	if (series->labels && series->labels->source != target->labels &&
	    !shared_text__equal(series->labels->source, target->labels)) {
		series__end(series, rules, scrape->time_ns);
		forget(series);
	}
	return series->plan == scrape->plan ||
	       (change_labels(series, rules, target, own, scrape->plan,
			      scrape->time_ns) &&
		change_plan(series, rules, scrape->plan, scrape->time_ns));
}

/* Would the next scrape, if it comes after the same time again, come too late for it? */
static bool is_due(const struct series *series,
		   const struct series_rules *rules, uint64_t now_ns)
{
	const struct block *block = series->open;
	const uint64_t gap_ns = now_ns - series->added_ns;

	return !series->added_ns || block->scrapes == BLOCK_SCRAPES_MAX ||
	       block->samples + block->samples / block->scrapes >
		       rules->batch ||
	       now_ns + gap_ns > series->opened_ns + rules->delay_ns ||
	       atomic_load(&rules->bytes) > rules->bound / 2;
}

void series__add(struct series *series, struct series_rules *rules,
		 const struct target_settings *target, const json_t *own,
		 const struct metric_scrape *scrape, uint64_t now_ns)
{
	struct metric_point *row;

	if (!prepare(series, rules, target, own, scrape)) {
		atomic_fetch_add(&rules->dropped, scrape->plan->series_count);
		return;
	}
	if (!take_room(series, rules, scrape->plan, false, &row)) {
		drop_row(series, rules, scrape->points);
		return;
	}
	if (!series->open->scrapes)
		series->opened_ns = now_ns;
	series->has_ended = false;
	block__add(series->open, row,
		   fill_row(series, rules, scrape->points, row));
	if (is_due(series, rules, now_ns))
		hand_over(series, rules);
	series->added_ns = now_ns;
}
