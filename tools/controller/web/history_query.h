/* SPDX-License-Identifier: GPL-2.0-only */
/* The past of what a plot shows: groups of a selection, each as an envelope. */
#ifndef CONTROLLER_HISTORY_QUERY_H
#define CONTROLLER_HISTORY_QUERY_H

#include "envelope.h"
#include "history.h"
#include "json_text.h"
#include "selection.h"

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
int history_query__print(const struct history_view *view,
			 const struct selection_query *query,
			 const struct envelope_span *span,
			 struct json_text *text);

#endif /* CONTROLLER_HISTORY_QUERY_H */
