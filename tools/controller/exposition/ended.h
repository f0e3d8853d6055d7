/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the last values of series that ended, such as the series of a service that ran out of
 * memory: a reader that asks every 15 s would miss the last seconds of the service.  Each last
 * value is served once more, with its own time, to all readers that ask within ENDED_SERVED_NS of
 * the first one, so that a second reader gets it, too.  It waits for a first reader for
 * ENDED_WAITS_NS.
 *
 * If a series comes back before its last value was served, its new values are left out until then,
 * because a page contains each series once.
 *
 * At most ENDED_SERIES_MAX series of a target wait; beyond that the ones that ended first are
 * dropped.  Last values that no page contained are counted by reason.
 */
#ifndef CONTROLLER_ENDED_H
#define CONTROLLER_ENDED_H

#include <stdatomic.h>

#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/metric/metric.h"

#define ENDED_SERVED_NS 60000000000ULL
#define ENDED_WAITS_NS 600000000000ULL
#define ENDED_SERIES_MAX 20000

/* Why no page contained the last value of a series. */
enum ended_loss {
	ENDED_TOO_MANY, /* ENDED_SERIES_MAX series ended later */
	ENDED_NO_MEMORY,
	ENDED_AGAIN, /* the series ended again while its earlier last value waited */
	ENDED_NOT_ASKED, /* no reader asked for ENDED_WAITS_NS */
	ENDED_AGENT_LOST, /* the agent was lost, and pages contain no values of lost agents */
	ENDED_LOSSES
};

/* Numbers of series, of all targets. */
struct ended_losses {
	_Atomic uint64_t series[ENDED_LOSSES];
};

/* The value of a label, such as "too_many". */
const char *ended_loss__name(enum ended_loss loss);

/* The ended series of a target; reference-counted, and constant except served_ns. */
struct ended {
	atomic_uint holders;
	struct metric_plan *plan; /* held; of the ended series only */
	struct metric_point *points; /* the last value of each series */
	uint64_t *until_ns; /* CLOCK_MONOTONIC: until when each series is served */
	bool *was_served; /* for each series: a page contained it during an earlier scrape */
	uint64_t all_until_ns; /* the latest of until_ns */
	struct target_labels *labels; /* held */
	_Atomic uint64_t served_ns; /* when a page first contained them; 0: not yet */
	/* Series of the scrape's plan that came back, and are hidden until served_ns is set. */
	uint32_t *waiting;
	uint32_t waiting_count;
};

void ended__put(struct ended *ended);

/*
 * Returns the ended series to serve together with @scrape of @target at @now_ns; the caller becomes
 * a holder.  @before are the ended series that were served with the previous scrape, which had
 * @plan and @points; all three may be NULL.  Returns NULL if no series ended, or without memory.
 * Adds series whose last values will not be served to @losses.
 */
struct ended *ended__next(struct ended *before, const struct metric_plan *plan,
			  const struct metric_point *points, const struct metric_scrape *scrape,
			  const struct target_settings *target, uint64_t now_ns,
			  struct ended_losses *losses);
/* Counts @ended, which may be NULL, as lost with its target: no page will serve it. */
void ended__lose(const struct ended *ended, struct ended_losses *losses);
/* Removes the series that wait from @points, the points of the scrape of ended__next(). */
void ended__hide(const struct ended *ended, struct metric_point *points);
/* Call it when a page contains @ended, which may be NULL. */
void ended__serve(struct ended *ended, uint64_t now_ns);

#endif /* CONTROLLER_ENDED_H */
