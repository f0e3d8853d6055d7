/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is shown of a target at one time: its last scrape, or that it is lost and why.  It is
 * counted, and does not change, so that a page is made of it without delaying the worker that
 * brings the next one.
 */
#ifndef CONTROLLER_SNAPSHOT_H
#define CONTROLLER_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ended.h"
#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/metric/metric.h"

struct snapshot {
	atomic_uint holders;
	struct target_labels *labels; /* held */
	char *name;
	char *host;
	struct metric_plan *plan; /* NULL: it is lost, or was not scraped yet */
	struct metric_point *points;
	struct ended *ended; /* series to be served once more; NULL: none */
	uint64_t fresh_until_ns; /* CLOCK_MONOTONIC: then it is lost; 0: never */
	int64_t time_ns; /* when it was up, or was lost; 0: not known */
	char *reason; /* why it is lost; NULL: it is not, or not known */
	struct shared_text *target_labels;
};

/*
 * Of @scrape, after @before, the last one of the target or NULL: series that have ended since are
 * served once more, or added to @losses.  The caller is the first holder.  NULL if out of memory.
 */
struct snapshot *snapshot__of_scrape(const struct target_settings *target,
				     const struct metric_scrape *scrape,
				     const struct snapshot *before, struct ended_losses *losses);
/* Without series; @reason may be NULL.  The caller is the first holder.  NULL if out of memory. */
struct snapshot *snapshot__of_loss(const struct target_settings *target, int64_t time_ns,
				   const char *reason);

/* In any thread; NULL is allowed. */
struct snapshot *snapshot__get(struct snapshot *snapshot);
void snapshot__put(struct snapshot *snapshot);

/* NULL is allowed: none. */
size_t snapshot__series(const struct snapshot *snapshot);
/* @name is that of the target, or of its host. */
bool snapshot__is_called(const struct snapshot *snapshot, const char *name);
/* Are its values fresh at @now_ns of CLOCK_MONOTONIC? */
bool snapshot__is_up(const struct snapshot *snapshot, uint64_t now_ns);
/* Why a target that is not up is lost: the end of a sentence. */
const char *snapshot__why_lost(const struct snapshot *snapshot);

#endif /* CONTROLLER_SNAPSHOT_H */
