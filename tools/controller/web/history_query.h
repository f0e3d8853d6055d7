/* SPDX-License-Identifier: GPL-2.0-only */
/* The past of a plot's curves: groups of a selection, each as an envelope. */
#ifndef CONTROLLER_HISTORY_QUERY_H
#define CONTROLLER_HISTORY_QUERY_H

#include "history.h"
#include "json_text.h"
#include "selection.h"

/*
 * The envelope of a curve divides the time from @from_us to @to_us into buckets of equal width, and
 * gives the least, the greatest and the mean value of each, so that no spike is averaged away.
 */
#define ENVELOPE_BUCKETS_MAX 4000

struct envelope_bucket {
	double least, greatest, sum;
	uint32_t count; /* 0 if the bucket is empty */
};

/* The times of several curves that share their buckets. */
struct envelope_span {
	int64_t from_us, to_us; /* to_us > from_us; to_us itself belongs to the last bucket */
	uint32_t bucket_count; /* at least 1 */
};

/* Limit for the buckets of all groups together: 16 MiB. */
#define HISTORY_QUERY_BUCKETS_MAX (1U << 19)

/*
 * Appends an object to @text:
 *
 *   {"from": MS, "to": MS, "rate": true if values are rates, "cut": true if there are more groups,
 *    "t": [MS of the newest point of any group in each bucket with points],
 *    "groups": [{"labels": "a=\"b\"", "min": [...], "max": [...], "mean": [...]}]}
 *
 * with null for buckets without a point of the group.  If "max" and "mean" are missing, all three
 * are equal.  Returns 0 or -ENOMEM.
 */
int history_query__print(const struct history_view *view, const struct selection_query *query,
			 const struct envelope_span *span, struct json_text *text);

#endif /* CONTROLLER_HISTORY_QUERY_H */
