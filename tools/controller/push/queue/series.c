// SPDX-License-Identifier: GPL-2.0-only
/* Collects the points of a target: see series.h. */
#include "series.h"

#include <stdlib.h>
#include <string.h>

#include "rewrite.h"
#include "thin.h"
#include "tools/controller/push/formats/format.h"

#define SERIES_FEW 2

struct series {
	struct metric_plan *scraped; /* the plan of the last scrape, held; NULL before the first */
	struct metric_rewriter *rewriter; /* by which it was rewritten, held; NULL: by none */
	struct rewrite sent; /* the series of that plan as the receiver gets them */
	/*
	 * Of each series of the plan, in ns: the time of the last sample; or the negative time of
	 * its end if no sample was sent since; 0: no sample was sent.
	 */
	int64_t *last_ns;
	bool has_ended; /* every series has its marker, or needs no marker */
	int64_t scrape_ns; /* time of the last scrape */
	struct block *open; /* NULL: none */
	uint64_t opened_ns;
	uint64_t added_ns; /* the last scrape */
	struct rate_share share;
	struct thin thin; /* of the plan that is sent */
	bool keeps_changes;
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
	while (!(has_room = try_reserve(rules, cost)) && atomic_load(&rules->waits))
		pthread_cond_wait(&rules->room_is_made, &rules->lock);
	pthread_mutex_unlock(&rules->lock);
	return has_room;
}

struct series *series__new(void)
{
	return calloc(1, sizeof(struct series));
}

void series__keep_changes(struct series *series)
{
	series->keeps_changes = true;
}

void series__limit(struct series *series, struct series_rules *rules)
{
	rate_limit__join(&rules->limit, &series->share);
}

void series_rules__set_rewriter(struct series_rules *rules, struct metric_rewriter *rewriter)
{
	struct metric_rewriter *before;

	pthread_mutex_lock(&rules->lock);
	before = atomic_load(&rules->rewriter);
	atomic_store(&rules->rewriter, rewriter ? rewriter->hold(rewriter) : NULL);
	pthread_mutex_unlock(&rules->lock);
	if (before)
		before->release(before);
}

static void hand_over(struct series *series, struct series_rules *rules)
{
	if (series->open)
		rules->take(rules->data, series->open);
	series->open = NULL;
}

static void remember_end(struct series_rules *rules, uint64_t key, int64_t time_ns)
{
	ended__add(&rules->ended, key, time_ns, time_ns - SERIES_OLD_NS);
}

/* Series of the plan so far that do not go on may come back. */
static void remember_gone(const struct series *series, struct series_rules *rules,
			  const bool *remains)
{
	uint32_t i;

	if (!rules->has_markers)
		return;
	for (i = 0; i < series->sent.plan->series_count; i++)
		if (series->last_ns[i] && !remains[i])
			remember_end(rules, rewrite__series_key(&series->sent, i),
				     llabs(series->last_ns[i]));
}

/*
 * Remembers the ends for a target that is made again: of a few series one by one, such as up and
 * dart_up, which end later than the others; of many series the latest end, for all of them.
 */
static void remember_ends(struct series *series, struct series_rules *rules)
{
	static const bool none[SERIES_FEW];
	int64_t latest_ns = 0;
	uint32_t i;

	if (!rules->has_markers || !series->sent.plan || !series->sent.labels)
		return;
	if (series->sent.plan->series_count <= SERIES_FEW) {
		remember_gone(series, rules, none);
		return;
	}
	for (i = 0; i < series->sent.plan->series_count; i++)
		if (llabs(series->last_ns[i]) > latest_ns)
			latest_ns = llabs(series->last_ns[i]);
	if (latest_ns)
		remember_end(rules, series->sent.key, latest_ns);
}

static void forget(struct series *series, struct series_rules *rules)
{
	remember_ends(series, rules);
	rewrite__clear(&series->sent);
	thin__close(&series->thin);
	if (series->scraped)
		metric_plan__put(series->scraped);
	if (series->rewriter)
		series->rewriter->release(series->rewriter);
	free(series->last_ns);
	series->scraped = NULL;
	series->rewriter = NULL;
	series->last_ns = NULL;
	series->has_ended = false;
}

/* Takes memory for a row of @plan, and opens a block if needed; false if there is no room. */
static bool take_room(struct series *series, struct series_rules *rules, struct metric_plan *plan,
		      bool is_marker, struct metric_point **row)
{
	const size_t bytes = block__row_bytes(plan);
	const uint64_t cost = bytes + (series->open ? 0 : sizeof(struct block));

	if (!reserve(rules, cost, is_marker))
		return false;
	*row = malloc(bytes);
	if (*row && !series->open)
		series->open = block__new(plan, series->sent.labels);
	if (*row && series->open)
		return true;
	free(*row);
	atomic_fetch_sub(&rules->bytes, cost);
	return false;
}

enum point_kind {
	POINT_NONE,
	POINT_NEW,
	POINT_REPEATED,
	POINT_OLDER,
};

/* Is the point after the last sample of its series, as the receiver sees times? */
static enum point_kind kind_of(const struct series *series, const struct series_rules *rules,
			       uint32_t i, const struct metric_point *point)
{
	const int64_t last = llabs(series->last_ns[i]) / rules->precision_ns;

	if (point->time_ns <= 0)
		return POINT_NONE;
	/* A row was READ before, unless the scrape is before the last sample, too. */
	if (point->time_ns / rules->precision_ns <= last && last)
		return series->scrape_ns / rules->precision_ns < last ? POINT_OLDER :
									POINT_REPEATED;
	return point->time_ns < series->scrape_ns - SERIES_OLD_NS ? POINT_OLDER : POINT_NEW;
}

/* The samples of a scrape that is not sent. */
static uint64_t count_new(const struct series *series, const struct series_rules *rules,
			  const struct metric_point *points, const uint32_t *from)
{
	uint64_t samples = 0;
	uint32_t i;

	for (i = 0; i < series->sent.plan->series_count; i++)
		samples += kind_of(series, rules, i, points + (from ? from[i] : i)) == POINT_NEW;
	return samples;
}

/* A row that is too old is counted once, until the host writes it again. */
static void skip_old(struct series *series, uint32_t i, int64_t time_ns)
{
	if (time_ns > llabs(series->last_ns[i]))
		series->last_ns[i] = series->last_ns[i] > 0 ? time_ns : -time_ns;
}

/*
 * Fills @row with the points that are sent; @from has their places, or is NULL: the order of the
 * plan.  Returns the number of points of @row with a time.
 */
static uint64_t fill_row(struct series *series, struct series_rules *rules,
			 const struct metric_point *points, const uint32_t *from,
			 struct metric_point *row)
{
	uint64_t counts[POINT_OLDER + 1] = {};
	const struct metric_point *point;
	enum point_kind kind;
	uint32_t i;

	for (i = 0; i < series->sent.plan->series_count; i++) {
		point = points + (from ? from[i] : i);
		row[i] = *point;
		kind = kind_of(series, rules, i, point);
		counts[kind]++;
		if (kind == POINT_NEW)
			series->last_ns[i] = point->time_ns;
		else
			row[i].time_ns = 0;
		if (kind == POINT_OLDER)
			skip_old(series, i, point->time_ns);
	}
	if (counts[POINT_REPEATED])
		atomic_fetch_add(&rules->repeated, counts[POINT_REPEATED]);
	if (counts[POINT_OLDER])
		atomic_fetch_add(&rules->older, counts[POINT_OLDER]);
	return counts[POINT_NEW];
}

/* A series that keeps each change has no means. */
static enum receiver_gauges gauges_of(const struct series *series, const struct series_rules *rules)
{
	return series->keeps_changes ? RECEIVER_GAUGES_LAST : rules->gauges;
}

/* Sends the points of the time that is going on. */
static void flush(struct series *series, struct series_rules *rules)
{
	struct metric_point *points, *row;

	if (!series->thin.has_points)
		return;
	points = thin__take(&series->thin, &series->sent, gauges_of(series, rules),
			    rules->every_ns, 0);
	if (!points)
		return;
	/* The control loop waits for no room: see reserve(). */
	if (take_room(series, rules, series->sent.plan, true, &row))
		block__add(series->open, row, fill_row(series, rules, points, NULL, row));
	else
		atomic_fetch_add(&rules->dropped, count_new(series, rules, points, NULL));
	free(points);
}

void series__free(struct series *series, struct series_rules *rules)
{
	if (!series)
		return;
	flush(series, rules);
	hand_over(series, rules);
	forget(series, rules);
	rate_limit__leave(&rules->limit, &series->share);
	free(series);
}

/* Did the receiver get samples of it, and does it not go on? */
static bool needs_marker(const struct series *series, const bool *remains, uint32_t i)
{
	return series->last_ns[i] > 0 && !(remains && remains[i]);
}

static void drop_markers(const struct series *series, struct series_rules *rules,
			 const bool *remains)
{
	uint64_t samples = 0;
	uint32_t i;

	for (i = 0; i < series->sent.plan->series_count; i++)
		samples += needs_marker(series, remains, i);
	atomic_fetch_add(&rules->dropped, samples);
}

/* Fills @row with markers at @time_ns for the series that do not remain. */
static uint64_t fill_markers(struct series *series, const struct series_rules *rules,
			     const bool *remains, int64_t time_ns, struct metric_point *row)
{
	static const uint64_t stale = FORMAT_STALE;
	uint64_t samples = 0;
	int64_t after_ns;
	uint32_t i;

	for (i = 0; i < series->sent.plan->series_count; i++) {
		row[i].time_ns = 0;
		if (!needs_marker(series, remains, i))
			continue;
		/* Behind the last sample, as the receiver sees times. */
		after_ns = series->last_ns[i] + rules->precision_ns;
		row[i].time_ns = time_ns > after_ns ? time_ns : after_ns;
		/* Not by a register of floating point: it is a signalling NaN. */
		memcpy(&row[i].value, &stale, sizeof(stale));
		series->last_ns[i] = -row[i].time_ns;
		samples++;
	}
	return samples;
}

/* @remains tells for each series of the plan whether it goes on; NULL: all series end. */
static void put_markers(struct series *series, struct series_rules *rules, const bool *remains,
			int64_t time_ns)
{
	struct metric_point *row;
	uint64_t samples;

	if (!rules->has_markers)
		return;
	if (!take_room(series, rules, series->sent.plan, true, &row)) {
		drop_markers(series, rules, remains);
		return;
	}
	samples = fill_markers(series, rules, remains, time_ns, row);
	block__add(series->open, row, samples);
	hand_over(series, rules);
}

void series__end(struct series *series, struct series_rules *rules, int64_t time_ns)
{
	flush(series, rules);
	hand_over(series, rules);
	if (series->sent.plan && !series->has_ended)
		put_markers(series, rules, NULL, time_ns);
	series->has_ended = true;
}

static int compare_series(const struct metric_plan *one, const struct metric_series *a,
			  const struct metric_plan *other, const struct metric_series *b)
{
	return strcmp(one->families[a->family].name, other->families[b->family].name) ?:
		       strcmp(a->name, b->name)					      ?:
		       strcmp(a->text, b->text);
}

/* Both plans are in the same order: copies the last times of common series to @last_ns. */
static void match(const struct series *series, const struct metric_plan *plan, int64_t *last_ns,
		  bool *remains)
{
	const struct metric_plan *before = series->sent.plan;
	uint32_t i = 0, j = 0;
	int order;

	while (i < before->series_count && j < plan->series_count) {
		order = compare_series(before, before->series + i, plan, plan->series + j);
		if (!order) {
			last_ns[j] = series->last_ns[i];
			remains[i] = true;
		}
		i += order <= 0;
		j += order >= 0;
	}
}

/* Looks up the ends of series of @plan that the previous plan lacked. */
static void find_ends(const struct series *series, struct series_rules *rules,
		      const struct metric_plan *plan, int64_t *last_ns)
{
	const int64_t all_ns = ended__find(&rules->ended, series->sent.key);
	int64_t ended_ns;
	uint32_t i;

	for (i = 0; rules->has_markers && i < plan->series_count; i++) {
		if (last_ns[i])
			continue;
		ended_ns = ended__find(&rules->ended, rewrite__series_key(&series->sent, i));
		last_ns[i] = -(ended_ns > all_ns ? ended_ns : all_ns);
	}
}

/* Changes to the plan of @next: series that it lacks have ended.  False if out of memory. */
static bool change_plan(struct series *series, struct series_rules *rules, struct rewrite *next,
			int64_t time_ns)
{
	const struct metric_plan *plan = next->plan;
	int64_t *last_ns = calloc(plan->series_count + 1, sizeof(*last_ns));
	struct thin thin = {};
	bool *remains = NULL;

	if (series->sent.plan)
		remains = calloc(series->sent.plan->series_count + 1, sizeof(*remains));
	if (!last_ns || (series->sent.plan && !remains) ||
	    (rules->every_ns && !thin__open(&thin, plan->series_count))) {
		free(last_ns);
		free(remains);
		return false;
	}
	if (series->sent.plan) {
		flush(series, rules);
		hand_over(series, rules);
		match(series, plan, last_ns, remains);
		if (!series->has_ended)
			put_markers(series, rules, remains, time_ns);
		remember_gone(series, rules, remains);
		rewrite__clear(&series->sent);
	}
	thin__follow(&thin, &series->thin);
	thin__close(&series->thin);
	series->thin = thin;
	series->sent = *next;
	find_ends(series, rules, plan, last_ns);
	free(remains);
	free(series->last_ns);
	series->last_ns = last_ns;
	return true;
}

static struct metric_rewriter *hold_rewriter(struct series_rules *rules)
{
	struct metric_rewriter *rewriter;

	pthread_mutex_lock(&rules->lock);
	rewriter = atomic_load(&rules->rewriter);
	if (rewriter)
		rewriter->hold(rewriter);
	pthread_mutex_unlock(&rules->lock);
	return rewriter;
}

/*
 * Rewrites the plan of @scrape.  Series with other labels have ended, and so have series that the
 * new plan lacks.  False if out of memory.
 */
static bool change(struct series *series, struct series_rules *rules,
		   const struct target_settings *target, const json_t *own,
		   const struct metric_scrape *scrape)
{
	struct metric_rewriter *rewriter = hold_rewriter(rules);
	struct rewrite next;
	bool is_made = rewrite__make(&next, rewriter, target, own, scrape);

	if (is_made && series->sent.labels) {
		if (!label_set__equal(series->sent.labels, next.labels)) {
			series__end(series, rules, scrape->time_ns);
			forget(series, rules);
		} else {
			label_set__release(next.labels);
			next.labels = label_set__hold(series->sent.labels);
		}
	}
	if (is_made && !change_plan(series, rules, &next, scrape->time_ns)) {
		rewrite__clear(&next);
		is_made = false;
	}
	if (!is_made) {
		if (rewriter)
			rewriter->release(rewriter);
		return false;
	}
	if (series->scraped)
		metric_plan__put(series->scraped);
	if (series->rewriter)
		series->rewriter->release(series->rewriter);
	series->scraped = metric_plan__get(scrape->plan);
	series->rewriter = rewriter;
	return true;
}

/* False if there is no memory. */
static bool prepare(struct series *series, struct series_rules *rules,
		    const struct target_settings *target, const json_t *own,
		    const struct metric_scrape *scrape)
{
	if (series->sent.labels && series->sent.labels->source != target->labels &&
	    !shared_text__equal(series->sent.labels->source, target->labels)) {
		series__end(series, rules, scrape->time_ns);
		forget(series, rules);
	}
	/* The hold of the series keeps another rewriter from getting the same address. */
	return (series->scraped == scrape->plan &&
		series->rewriter == atomic_load(&rules->rewriter)) ||
	       change(series, rules, target, own, scrape);
}

/* Would the next scrape, if it comes after the same time again, come too late for it? */
static bool is_due(const struct series *series, const struct series_rules *rules, uint64_t now_ns)
{
	const struct block *block = series->open;
	const uint64_t gap_ns = now_ns - series->added_ns;

	return !series->added_ns || block->scrapes == BLOCK_SCRAPES_MAX ||
	       block->scrapes >= rules->batch ||
	       (rules->block_bytes &&
		block->bytes + block->bytes / block->scrapes > rules->block_bytes) ||
	       now_ns + gap_ns > series->opened_ns + rules->delay_ns ||
	       atomic_load(&rules->bytes) > rules->bound / 2;
}

/* Sends points of a scrape; @from has their places, or is NULL: the order of the plan. */
static void send_points(struct series *series, struct series_rules *rules,
			const struct target_settings *target, const struct metric_point *points,
			const uint32_t *from, uint64_t now_ns)
{
	const bool is_limited = !atomic_load(&rules->waits);
	struct metric_point *row;
	uint64_t samples;

	rate_limit__note(&rules->limit, target->name, series->sent.plan->series_count);
	if (is_limited && !rate_limit__admits(&rules->limit, &series->share, now_ns)) {
		rate_limit__drop(&rules->limit, &series->share, target->name,
				 count_new(series, rules, points, from));
		return;
	}
	if (!take_room(series, rules, series->sent.plan, false, &row)) {
		atomic_fetch_add(&rules->dropped, count_new(series, rules, points, from));
		return;
	}
	if (!series->open->scrapes)
		series->opened_ns = now_ns;
	samples = fill_row(series, rules, points, from, row);
	if (is_limited)
		rate_limit__charge(&rules->limit, &series->share, samples, now_ns);
	block__add(series->open, row, samples);
	if (is_due(series, rules, now_ns))
		hand_over(series, rules);
	series->added_ns = now_ns;
}

/* For an output that gets fewer samples than there are scrapes. */
static void thin_scrape(struct series *series, struct series_rules *rules,
			const struct target_settings *target, const struct metric_scrape *scrape,
			uint64_t now_ns)
{
	const enum receiver_gauges gauges = gauges_of(series, rules);
	struct thin *thin = &series->thin;
	struct metric_point *points;

	thin__add(thin, &series->sent, scrape->points, gauges);
	if (!thin__is_due(thin, rules->every_ns, scrape->time_ns) &&
	    !(series->keeps_changes && thin->has_changed))
		return;
	points = thin__take(thin, &series->sent, gauges, rules->every_ns, scrape->time_ns);
	if (points)
		send_points(series, rules, target, points, NULL, now_ns);
	free(points);
}

void series__add(struct series *series, struct series_rules *rules,
		 const struct target_settings *target, const json_t *own,
		 const struct metric_scrape *scrape, uint64_t now_ns)
{
	if (!prepare(series, rules, target, own, scrape)) {
		atomic_fetch_add(&rules->dropped, scrape->plan->series_count);
		return;
	}
	/* The clock was set back.  Without markers a receiver takes samples in any order. */
	if (scrape->time_ns < series->scrape_ns && !rules->has_markers)
		memset(series->last_ns, 0,
		       series->sent.plan->series_count * sizeof(*series->last_ns));
	series->scrape_ns = scrape->time_ns;
	if (series->sent.equal)
		atomic_fetch_add(&rules->equal, series->sent.equal);
	series->has_ended = false;
	if (!series->sent.plan->series_count)
		return;
	if (rules->every_ns)
		thin_scrape(series, rules, target, scrape, now_ns);
	else
		send_points(series, rules, target, scrape->points, series->sent.from, now_ns);
}
