// SPDX-License-Identifier: GPL-2.0-only
/* Finds series that ended between two scrapes, and keeps their last values until served. */
#include "ended.h"

#include <stdlib.h>
#include <string.h>

#include "tools/controller/metrics/plan/plan_join.h"

/* Series to keep: series that waited before, and series that ended now. */
struct kept {
	struct plan_join_item *items;
	struct metric_point *points; /* by the number of an item, like the next two */
	uint64_t *until_ns;
	bool *was_served;
	uint32_t count;
	uint32_t room;
	/* Series whose last value no page contained: */
	uint32_t unserved; /* kept */
	uint32_t skipped; /* not kept, for lack of room */
	uint32_t over; /* not kept after ENDED_WAITS_NS */
};

static const char *const loss_names[ENDED_LOSSES] = {
	[ENDED_TOO_MANY] = "too_many",	   [ENDED_NO_MEMORY] = "no_memory",
	[ENDED_AGAIN] = "ended_again",	   [ENDED_NOT_ASKED] = "not_asked",
	[ENDED_AGENT_LOST] = "agent_lost",
};

const char *ended_loss__name(enum ended_loss loss)
{
	return loss_names[loss];
}

/* NULL is allowed. */
static struct ended *ended__get(struct ended *ended)
{
	if (ended)
		atomic_fetch_add(&ended->holders, 1);
	return ended;
}

void ended__put(struct ended *ended)
{
	if (!ended || atomic_fetch_sub(&ended->holders, 1) != 1)
		return;
	if (ended->plan)
		metric_plan__put(ended->plan);
	target_labels__put(ended->labels);
	free(ended->points);
	free(ended->until_ns);
	free(ended->was_served);
	free(ended->waiting);
	free(ended);
}

static void kept__free(struct kept *kept)
{
	free(kept->items);
	free(kept->points);
	free(kept->until_ns);
	free(kept->was_served);
}

static bool kept__make(struct kept *kept, uint32_t room)
{
	*kept = (struct kept){
		.items = calloc((size_t)room + 1, sizeof(*kept->items)),
		.points = calloc((size_t)room + 1, sizeof(*kept->points)),
		.until_ns = calloc((size_t)room + 1, sizeof(*kept->until_ns)),
		.was_served = calloc((size_t)room + 1, sizeof(*kept->was_served)),
		.room = room,
	};
	return kept->items && kept->points && kept->until_ns && kept->was_served;
}

static void kept__add(struct kept *kept, const struct metric_plan *plan, uint32_t series,
		      const struct metric_point *point, uint64_t until_ns, bool was_served)
{
	if (kept->count == kept->room) {
		kept->skipped += !was_served;
		return;
	}
	kept->unserved += !was_served;
	kept->items[kept->count] = (struct plan_join_item){
		.plan = plan,
		.series = series,
		.number = kept->count,
	};
	kept->points[kept->count] = *point;
	kept->was_served[kept->count] = was_served;
	kept->until_ns[kept->count++] = until_ns;
}

/* Until when a series of @before is served. */
static uint64_t until_of(const struct ended *before, uint32_t series)
{
	const uint64_t served_ns = atomic_load(&before->served_ns);
	uint64_t until_ns = before->until_ns[series];

	if (served_ns && served_ns + ENDED_SERVED_NS < until_ns)
		until_ns = served_ns + ENDED_SERVED_NS;
	return until_ns;
}

/* Keeps series of @before, except expired ones, and served ones that came back. */
static void keep_waiting(struct kept *kept, const struct ended *before,
			 const struct metric_scrape *scrape, uint64_t now_ns)
{
	const bool were_served = atomic_load(&before->served_ns);
	uint64_t until_ns;
	bool was_served;
	uint32_t i;

	for (i = 0; i < before->plan->series_count; i++) {
		was_served = were_served || before->was_served[i];
		until_ns = until_of(before, i);
		if (until_ns <= now_ns) {
			kept->over += !was_served;
			continue;
		}
		if (was_served && plan_join__find(scrape->plan, before->plan, i) != UINT32_MAX)
			continue;
		kept__add(kept, before->plan, i, &before->points[i], until_ns, was_served);
	}
}

/*
 * Finds series of @plan that are missing from the plan of @scrape, which is sorted alike.  Returns
 * their number, and adds them to @kept unless that is NULL.
 */
static uint32_t find_ended(const struct metric_plan *plan, const struct metric_point *points,
			   const struct metric_scrape *scrape, struct kept *kept, uint64_t until_ns)
{
	const struct metric_plan *next = scrape->plan;
	uint32_t i = 0, j = 0, found = 0;
	int order;

	while (i < plan->series_count) {
		order = j == next->series_count ? -1 : plan_join__compare(plan, i, next, j);
		if (order < 0 && points[i].time_ns) {
			found++;
			if (kept)
				kept__add(kept, plan, i, &points[i], until_ns, false);
		}
		i += order <= 0;
		j += order >= 0;
	}
	return found;
}

/*
 * Sets ended->waiting to the series of @scrape that came back before their last values were served.
 * False if out of memory.
 */
static bool find_back(struct ended *ended, const struct metric_scrape *scrape)
{
	uint32_t i, found;

	ended->waiting = calloc((size_t)ended->plan->series_count + 1, sizeof(*ended->waiting));
	if (!ended->waiting)
		return false;
	for (i = 0; i < ended->plan->series_count; i++) {
		found = plan_join__find(scrape->plan, ended->plan, i);
		if (found != UINT32_MAX)
			ended->waiting[ended->waiting_count++] = found;
	}
	return true;
}

/* Copies the kept series.  NULL if no series is kept, or without memory. */
static struct ended *ended__new(struct kept *kept, const struct metric_scrape *scrape,
				const struct target_settings *target)
{
	struct ended *ended = kept->count ? calloc(1, sizeof(*ended)) : NULL;
	uint32_t i, count;

	if (!ended)
		return NULL;
	atomic_init(&ended->holders, 1);
	if (plan_join__new(kept->items, kept->count, &ended->plan)) {
		ended->plan = NULL;
		goto err_ended;
	}
	count = ended->plan->series_count;
	ended->points = calloc((size_t)count + 1, sizeof(*ended->points));
	ended->until_ns = calloc((size_t)count + 1, sizeof(*ended->until_ns));
	ended->was_served = calloc((size_t)count + 1, sizeof(*ended->was_served));
	ended->labels = target_labels__new(target, ended->plan);
	if (!ended->points || !ended->until_ns || !ended->was_served || !ended->labels ||
	    !find_back(ended, scrape))
		goto err_ended;
	for (i = 0; i < count; i++) {
		ended->points[i] = kept->points[kept->items[i].number];
		ended->until_ns[i] = kept->until_ns[kept->items[i].number];
		ended->was_served[i] = kept->was_served[kept->items[i].number];
		if (ended->until_ns[i] > ended->all_until_ns)
			ended->all_until_ns = ended->until_ns[i];
	}
	return ended;

err_ended:
	ended__put(ended);
	return NULL;
}

/* True if @before can be served with the next scrape, too, without a change. */
static bool stays(const struct ended *before, bool is_same_plan, uint64_t now_ns)
{
	const uint64_t served_ns = atomic_load(&before->served_ns);

	if (!is_same_plan || now_ns >= before->all_until_ns)
		return false;
	return !served_ns || (!before->waiting_count && now_ns < served_ns + ENDED_SERVED_NS);
}

static void count(struct ended_losses *losses, enum ended_loss loss, uint32_t series)
{
	if (series)
		atomic_fetch_add(&losses->series[loss], series);
}

/* The number of series whose last value no page contained so far. */
static uint32_t ended__unserved(const struct ended *ended)
{
	uint32_t unserved = 0, i;

	if (!ended || atomic_load(&ended->served_ns))
		return 0;
	for (i = 0; i < ended->plan->series_count; i++)
		unserved += !ended->was_served[i];
	return unserved;
}

void ended__lose(const struct ended *ended, struct ended_losses *losses)
{
	count(losses, ENDED_AGENT_LOST, ended__unserved(ended));
}

/* Counts series of @plan that came back, were hidden by ended__hide(), and ended again. */
static uint32_t count_again(const struct ended *before, const struct metric_plan *plan,
			    const struct metric_point *points, const struct metric_scrape *scrape)
{
	uint32_t again = 0, i, series;

	for (i = 0; i < before->waiting_count; i++) {
		series = before->waiting[i];
		again += !points[series].time_ns &&
			 plan_join__find(scrape->plan, plan, series) == UINT32_MAX;
	}
	return again;
}

struct ended *ended__next(struct ended *before, const struct metric_plan *plan,
			  const struct metric_point *points, const struct metric_scrape *scrape,
			  const struct target_settings *target, uint64_t now_ns,
			  struct ended_losses *losses)
{
	const bool is_same_plan = plan == scrape->plan;
	uint32_t found = 0, waited = 0, skipped;
	struct ended *ended = NULL;
	struct kept kept;

	if (before && stays(before, is_same_plan, now_ns))
		return ended__get(before);
	if (plan && !is_same_plan)
		found = find_ended(plan, points, scrape, NULL, 0);
	if (before && plan && !is_same_plan)
		count(losses, ENDED_AGAIN, count_again(before, plan, points, scrape));
	if (before)
		waited = before->plan->series_count;
	if (!found && !waited)
		return NULL;
	/* Series that ended now are added first, so that the older ones are dropped. */
	skipped = found + waited > ENDED_SERIES_MAX ? found + waited - ENDED_SERIES_MAX : 0;
	if (kept__make(&kept, found + waited - skipped)) {
		if (found)
			find_ended(plan, points, scrape, &kept, now_ns + ENDED_WAITS_NS);
		if (before)
			keep_waiting(&kept, before, scrape, now_ns);
		ended = ended__new(&kept, scrape, target);
		count(losses, ENDED_TOO_MANY, kept.skipped);
		count(losses, ENDED_NOT_ASKED, kept.over);
		if (!ended)
			count(losses, ENDED_NO_MEMORY, kept.unserved);
	} else {
		count(losses, ENDED_NO_MEMORY, found + ended__unserved(before));
	}
	kept__free(&kept);
	return ended;
}

void ended__hide(const struct ended *ended, struct metric_point *points)
{
	uint32_t i;

	if (!ended || atomic_load(&ended->served_ns))
		return;
	for (i = 0; i < ended->waiting_count; i++)
		points[ended->waiting[i]].time_ns = 0;
}

void ended__serve(struct ended *ended, uint64_t now_ns)
{
	uint64_t none = 0;

	if (ended)
		atomic_compare_exchange_strong(&ended->served_ns, &none, now_ns);
}
