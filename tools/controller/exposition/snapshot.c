// SPDX-License-Identifier: GPL-2.0-only
/* Makes snapshots of targets, up or lost. */
#include "snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "tools/controller/base/schedule.h"
#include "tools/controller/metrics/plan/plan_own.h"

struct snapshot *snapshot__get(struct snapshot *snapshot)
{
	if (snapshot)
		atomic_fetch_add(&snapshot->holders, 1);
	return snapshot;
}

void snapshot__put(struct snapshot *snapshot)
{
	if (!snapshot || atomic_fetch_sub(&snapshot->holders, 1) != 1)
		return;
	target_labels__put(snapshot->labels);
	if (snapshot->plan)
		metric_plan__put(snapshot->plan);
	ended__put(snapshot->ended);
	shared_text__release(snapshot->target_labels);
	free(snapshot->points);
	free(snapshot->name);
	free(snapshot->host);
	free(snapshot->reason);
	free(snapshot);
}

/*
 * Makes a snapshot without series.  Takes the hold of @labels, which are NULL if memory ran out.
 * NULL if out of memory.
 */
static struct snapshot *snapshot__new(const struct target_settings *target,
				      struct target_labels *labels, int64_t time_ns)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot) {
		target_labels__put(labels);
		return NULL;
	}
	snapshot->labels = labels;
	atomic_init(&snapshot->holders, 1);
	snapshot->name = strdup(target->name);
	snapshot->host = strdup(target->host);
	snapshot->target_labels = shared_text__hold(target->labels);
	snapshot->time_ns = time_ns;
	if (labels && snapshot->name && snapshot->host)
		return snapshot;
	snapshot__put(snapshot);
	return NULL;
}

/* Keeps series that ended before @scrape, and hides series that came back too early. */
static void snapshot__keep_ended(struct snapshot *snapshot, const struct snapshot *before,
				 const struct target_settings *target,
				 const struct metric_scrape *scrape, struct ended_losses *losses)
{
	if (!before)
		return;
	snapshot->ended = ended__next(before->ended, before->plan, before->points, scrape, target,
				      monotonic_ns(), losses);
	ended__hide(snapshot->ended, snapshot->points);
}

struct snapshot *snapshot__of_scrape(const struct target_settings *target,
				     const struct metric_scrape *scrape,
				     const struct snapshot *before, struct ended_losses *losses)
{
	const size_t bytes = scrape->plan->series_count * sizeof(*scrape->points);
	struct snapshot *snapshot =
		snapshot__new(target, target_labels__get(scrape->labels), scrape->time_ns);

	if (!snapshot)
		return NULL;
	snapshot->points = malloc(bytes ?: 1);
	if (!snapshot->points) {
		snapshot__put(snapshot);
		return NULL;
	}
	memcpy(snapshot->points, scrape->points, bytes);
	snapshot->plan = metric_plan__get(scrape->plan);
	snapshot->fresh_until_ns = scrape->fresh_until_ns;
	snapshot__keep_ended(snapshot, before, target, scrape, losses);
	return snapshot;
}

struct snapshot *snapshot__of_loss(const struct target_settings *target, int64_t time_ns,
				   const char *reason)
{
	struct snapshot *snapshot =
		snapshot__new(target, target_labels__new(target, &plan_up__of_pages), time_ns);

	/* If memory runs out, the reason is unknown. */
	if (snapshot && reason)
		snapshot->reason = strdup(reason);
	return snapshot;
}

size_t snapshot__series(const struct snapshot *snapshot)
{
	return snapshot && snapshot->plan ? snapshot->plan->series_count : 0;
}

bool snapshot__is_called(const struct snapshot *snapshot, const char *name)
{
	return !strcmp(snapshot->name, name) || !strcmp(snapshot->host, name);
}

/*
 * Also compares times: if the worker lags, the news that the target is lost is still in its queue,
 * after values.
 */
bool snapshot__is_up(const struct snapshot *snapshot, uint64_t now_ns)
{
	return snapshot->plan && (!snapshot->fresh_until_ns || now_ns <= snapshot->fresh_until_ns);
}

const char *snapshot__why_lost(const struct snapshot *snapshot)
{
	if (snapshot->reason)
		return snapshot->reason;
	return snapshot->plan ? "its values are too old" : "it has not been read so far";
}
