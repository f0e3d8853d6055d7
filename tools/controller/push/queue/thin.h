/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One point of each series for all scrapes of a period: for an output that gets fewer samples than
 * there are scrapes.  Periods are multiples of their length since 1970, so that outputs of several
 * controllers agree.  A period ends with the first scrape after it, whose points belong to it.
 *
 * A point has the time of the last point of its series in the period.  A counter has the last
 * value, and so have series of no type and buckets; a gauge has the last value, the mean, the least
 * or the greatest, by the setting.
 */
#ifndef CONTROLLER_THIN_H
#define CONTROLLER_THIN_H

#include "rewrite.h"
#include "tools/controller/settings/receiver_settings.h"

/* Of one series. */
struct thin_sum {
	double value; /* the last, least or greatest value, or the sum */
	int64_t time_ns; /* of the last point; 0 before the first */
	uint32_t count; /* points since thin__take() */
};

/* Zeros: nothing is thinned. */
struct thin {
	struct thin_sum *sums; /* by series of the plan */
	uint32_t count;
	int64_t period; /* the last that ended */
	bool has_points; /* since thin__take() */
	bool has_changed; /* a value, since thin__take() */
};

/* For a plan of @count series; empty.  False if out of memory. */
bool thin__open(struct thin *thin, uint32_t count);
/* Takes over the period of another plan of the same target. */
void thin__follow(struct thin *thin, const struct thin *before);
void thin__close(struct thin *thin);

/* Adds the points of a scrape, which are in the order of the plan before @rewrite. */
void thin__add(struct thin *thin, const struct rewrite *rewrite, const struct metric_point *points,
	       enum receiver_gauges gauges);
/* Does the scrape at @time_ns end a period of @every_ns? */
bool thin__is_due(const struct thin *thin, uint64_t every_ns, int64_t time_ns);
/*
 * Ends the period of @time_ns; 0: the one that is going on.  Returns a point of each series, in the
 * order of the plan, which the caller frees; series without a point since the last call have no
 * time.  NULL if out of memory: then the period goes on.
 */
struct metric_point *thin__take(struct thin *thin, const struct rewrite *rewrite,
				enum receiver_gauges gauges, uint64_t every_ns, int64_t time_ns);

#endif /* CONTROLLER_THIN_H */
