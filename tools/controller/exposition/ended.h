/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The last values of series that have ended, such as those of a service that ran out of memory:
 * who asks each 15 s would not see what has happened in the last of them.  Each is served
 * once more, with the time that it has: to everybody who asks within ENDED_SERVED_NS of the
 * first, so that a second reader gets it, too, and no longer than ENDED_WAITS_NS if nobody asks.
 *
 * A series that is back before its last value was served waits for that: its first
 * values are left out until then, because a page has each series once.
 *
 * At most ENDED_SERIES_MAX series of a target wait; then those that ended first are dropped.  A
 * series that ends without having been served is counted, with the reason.
 */
#ifndef CONTROLLER_ENDED_H
#define CONTROLLER_ENDED_H

#include <stdatomic.h>

#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/metric/metric.h"

#define ENDED_SERVED_NS 60000000000ULL
#define ENDED_WAITS_NS 600000000000ULL
#define ENDED_SERIES_MAX 20000

/* Why no page has had the last value of a series. */
enum ended_loss {
	ENDED_TOO_MANY, /* ENDED_SERIES_MAX ended later */
	ENDED_NO_MEMORY,
	ENDED_AGAIN, /* while an earlier last value of the same series waited */
	ENDED_NOT_ASKED, /* for ENDED_WAITS_NS */
	ENDED_AGENT_LOST, /* which has no values then */
	ENDED_LOSSES
};

/* Series of all targets.  All zeros: none. */
struct ended_losses {
	_Atomic uint64_t series[ENDED_LOSSES];
};

/* The value of a label, as "too_many". */
const char *ended_loss__name(enum ended_loss loss);

/* Those of a target; immutable, but for when they are served, and counted. */
struct ended {
	atomic_uint holders;
	struct metric_plan *plan; /* held; of these series only */
	struct metric_point *points;
	uint64_t *until_ns; /* CLOCK_MONOTONIC: of each, how long it is served */
	bool *was_served; /* each, beside an earlier scrape */
	uint64_t all_until_ns; /* the latest of them */
	struct target_labels *labels; /* held */
	_Atomic uint64_t served_ns; /* first by a page; 0: by none so far */
	/* Series of the plan of the scrape that wait for their last values to be served. */
	uint32_t *waiting;
	uint32_t waiting_count;
};

/* NULL is allowed. */
struct ended *ended__get(struct ended *ended);
void ended__put(struct ended *ended);

/*
 * What is to be served beside @scrape of @target, at @now_ns, after @before was beside a
 * scrape with @plan and @points, which may be NULL like @before.  The caller is a holder.  NULL:
 * nothing, or there is no memory for it.  Series that will not be served are added to @losses.
 */
struct ended *ended__next(struct ended *before, const struct metric_plan *plan,
			  const struct metric_point *points, const struct metric_scrape *scrape,
			  const struct target_settings *target, uint64_t now_ns,
			  struct ended_losses *losses);
/* Nothing of @ended, which may be NULL, is served from now on: its target is lost or gone. */
void ended__lose(const struct ended *ended, struct ended_losses *losses);
/* Leaves series out of @points, of the plan of that scrape, that wait. */
void ended__hide(const struct ended *ended, struct metric_point *points);
/* A page has them. */
void ended__serve(struct ended *ended, uint64_t now_ns);

#endif /* CONTROLLER_ENDED_H */
