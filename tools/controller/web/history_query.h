/* SPDX-License-Identifier: GPL-2.0-only */
/* The past of what a plot shows: groups of a selection, each as an envelope. */
#ifndef CONTROLLER_HISTORY_QUERY_H
#define CONTROLLER_HISTORY_QUERY_H

#include "history.h"
#include "json_text.h"
#include "selection.h"

/*
 * The envelope of a curve: the time from @from_us to @to_us in buckets of equal width, with the
 * least, the greatest and the mean value in each, so that no spike is averaged away.
 */
#define ENVELOPE_BUCKETS_MAX 4000

struct envelope_bucket {
	double least, greatest, sum;
	uint32_t count; /* 0: it is empty */
};

/* The times of several curves with the same buckets. */
struct envelope_span {
	int64_t from_us, to_us; /* to_us > from_us; that itself is in the last bucket */
	uint32_t bucket_count; /* at least 1 */
};

/* Buckets of all groups together: 16 MiB. */
#define HISTORY_QUERY_BUCKETS_MAX (1U << 19)

/*
 * Appends an object to @text:
 *   {"from": MS, "to": MS, "rate": true if values are rates, "cut": true if there are more groups,
 *    "t": [MS of the newest point of any group in each bucket that has points],
 *    "groups": [{"labels": "a=\"b\"", "min": [...], "max": [...], "mean": [...]}]}
 * with null where a group has none.  Without "max" and "mean" all three are equal.  Returns
 * 0, or -ENOMEM.
 */
int history_query__print(const struct history_view *view, const struct selection_query *query,
			 const struct envelope_span *span, struct json_text *text);

#endif /* CONTROLLER_HISTORY_QUERY_H */
