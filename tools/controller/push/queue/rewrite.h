/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan as an output sends it: the series that the rules of the output keep, and the labels that
 * these rules leave to all of them.  It is made once for each plan of a target, so a scrape only
 * reads its points in another order, and fewer of them.
 */
#ifndef CONTROLLER_REWRITE_H
#define CONTROLLER_REWRITE_H

#include "tools/controller/metrics/metric/metric.h"
#include "tools/controller/push/formats/label_set.h"

struct rewrite {
	struct metric_plan *plan; /* held */
	struct label_set *labels; /* held */
	/* The place in the scrape of each series of the plan; NULL: the same place. */
	uint32_t *from;
	/*
	 * Identifies all labels of the target and the output: series of two plans of this output
	 * are the same for the receiver if, and only if, key, name and text are equal, unless the
	 * rules have changed.
	 */
	uint64_t key;
	/* Series of each scrape that equal others now, or that have no valid name any more. */
	uint32_t equal;
};

/*
 * Makes @rewrite for @scrape of @target; @own are the labels of the output, or NULL.  Without a
 * rewriter the plan stays as it is.  Returns false if out of memory; then nothing is held.
 */
bool rewrite__make(struct rewrite *rewrite, struct metric_rewriter *rewriter,
		   const struct target_settings *target, const json_t *own,
		   const struct metric_scrape *scrape);
/* Releases what it holds; zeros are allowed. */
void rewrite__clear(struct rewrite *rewrite);

/* Identifies a series of the plan, as the receiver sees it, within the output. */
uint64_t rewrite__series_key(const struct rewrite *rewrite, uint32_t series);

/* The place in a scrape of a series of the plan. */
static inline uint32_t rewrite__from(const struct rewrite *rewrite, uint32_t series)
{
	return rewrite->from ? rewrite->from[series] : series;
}

#endif /* CONTROLLER_REWRITE_H */
