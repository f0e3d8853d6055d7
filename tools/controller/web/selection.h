/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a plan that a plot shows: series of a family, added up in groups. */
#ifndef CONTROLLER_SELECTION_H
#define CONTROLLER_SELECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/controller/metrics/metric/metric.h"

/* Limit for a selection; further groups are left out. */
#define SELECTION_GROUPS_MAX 4096

/* Whether values or their rates per second are shown. */
enum selection_rate {
	SELECTION_RATE_BY_TYPE, /* rates of counters and histograms */
	SELECTION_RATE_NEVER,
	SELECTION_RATE_ALWAYS, /* rates even if the type is unknown */
};

/* The caller owns the texts. */
struct selection_query {
	const char *family;
	/* Selects series whose label @label equals @value; both NULL select all series. */
	const char *label, *value;
	/*
	 * Names of labels, separated by ','.  Series that agree in these labels form a group; ""
	 * puts all series into one group.  NULL makes each series a group.
	 */
	const char *by;
	enum selection_rate rate;
};

/* How points become values. */
struct point_rule {
	bool is_rate;
	/*
	 * For a counter that its host updates this rarely: if it has not grown within a shorter
	 * time, its rate stays the same.
	 */
	int64_t hold_us;
	double rate_max; /* limit of the rate, for growth that the host counted late; 0: no limit */
};

struct selection {
	struct point_rule rule;
	uint32_t count; /* number of series */
	uint32_t *series; /* indexes in the plan, in ascending order */
	uint32_t *group_of; /* group of each series */
	uint32_t group_count;
	char **groups; /* labels, as in metric_series.text, in the order of appearance */
};

/*
 * Makes an empty selection if the plan does not contain such series.  Returns 0 or -ENOMEM.  The
 * selection may be cleared in both cases.
 */
int selection__make(const struct metric_plan *plan, const struct selection_query *query,
		    struct selection *selection);
void selection__clear(struct selection *selection);

/* Returns NULL if the plan does not contain the family. */
const struct metric_family *metric_plan__find(const struct metric_plan *plan, const char *family);

/* State after the points of a series so far; zeros before the first point. */
struct point_state {
	double value;
	int64_t time_us; /* 0 before the first point */
	double rate;
	bool has_rate;
};

/* Returns the rule for the values of a family, by its type. */
struct point_rule point_rule__of(const struct metric_family *family);

/*
 * Takes a point and sets @result to its value, or to the rate since the previous point.  A counter
 * that falls has begun again with 0.  A point that is not newer leaves the rate unchanged.  Returns
 * false if there is no result yet, or the point is a gap.
 */
bool point_state__take(struct point_state *state, const struct point_rule *rule, int64_t time_us,
		       double value, double *result);

/*
 * The queries of the page, as JSON: [{"family": NAME, "by": "a,b", "label": NAME, "value": TEXT,
 * "rate": true or false}, ...], where only "family" is mandatory.  See struct selection_query.
 */
#define WEB_QUERIES_MAX 128
#define WEB_QUERY_BYTES_MAX (24U << 10)

struct web_queries {
	json_t *json; /* owns the texts */
	size_t count;
	struct selection_query *queries;
};

/* @text may be NULL.  Returns 0, -EINVAL if it is malformed, or -ENOMEM. */
int web_queries__parse(const char *text, struct web_queries *queries);
void web_queries__clear(struct web_queries *queries);

#endif /* CONTROLLER_SELECTION_H */
