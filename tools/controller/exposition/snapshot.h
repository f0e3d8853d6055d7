/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a target that pages show: its last scrape, or that it is lost, and the reason.  A
 * snapshot is reference-counted and does not change, so that a maker prints a page of it without
 * delaying the worker that replaces it.
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
	struct metric_plan *plan; /* held; NULL: the target is lost, or was not scraped yet */
	struct metric_point *points;
	struct ended *ended; /* series to serve once more; NULL: none */
	uint64_t fresh_until_ns; /* CLOCK_MONOTONIC: later the target is lost; 0: never */
	int64_t time_ns; /* when the target was scraped or lost; 0: not known */
	char *reason; /* why it is lost; NULL: not lost, or not known */
	struct shared_text *target_labels; /* held; as given by its settings */
};

/*
 * Makes a snapshot of @scrape.  @before is the last snapshot of the target, or NULL: series that
 * ended since then are served once more, or added to @losses.  The caller becomes the first holder.
 * NULL if out of memory.
 */
struct snapshot *snapshot__of_scrape(const struct target_settings *target,
				     const struct metric_scrape *scrape,
				     const struct snapshot *before, struct ended_losses *losses);
/*
 * Makes a snapshot without series; @reason may be NULL.  The caller becomes the first holder.  NULL
 * if out of memory.
 */
struct snapshot *snapshot__of_loss(const struct target_settings *target, int64_t time_ns,
				   const char *reason);

/* In any thread; NULL is allowed. */
struct snapshot *snapshot__get(struct snapshot *snapshot);
void snapshot__put(struct snapshot *snapshot);

/* The number of series; 0 for NULL. */
size_t snapshot__series(const struct snapshot *snapshot);
/* True if @name is the name of the target, or of its host. */
bool snapshot__is_called(const struct snapshot *snapshot, const char *name);
/* True if its values are fresh at @now_ns of CLOCK_MONOTONIC. */
bool snapshot__is_up(const struct snapshot *snapshot, uint64_t now_ns);
/* The end of a sentence that says why the target, which is not up, is lost. */
const char *snapshot__why_lost(const struct snapshot *snapshot);

#endif /* CONTROLLER_SNAPSHOT_H */
