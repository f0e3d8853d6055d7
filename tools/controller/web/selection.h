/* SPDX-License-Identifier: GPL-2.0-only */
/* What a plot shows of a plan: series of a family, added up in groups. */
#ifndef CONTROLLER_SELECTION_H
#define CONTROLLER_SELECTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/controller/metrics/metric/metric.h"

/* Of a selection: more is cut off. */
#define SELECTION_GROUPS_MAX 4096

/* Values, or their rates per second. */
enum selection_rate {
	SELECTION_RATE_BY_TYPE, /* of counters and histograms */
	SELECTION_RATE_NEVER,
	SELECTION_RATE_ALWAYS, /* also of those whose type is not known */
};

/* Texts are the caller's. */
struct selection_query {
	const char *family;
	/* The label @label has the value @value; both NULL: any series. */
	const char *label, *value;
	/*
	 * Names of labels with ',' between them: series with equal values of these are a
	 * group, "" puts all into one.  NULL: each series is one.
	 */
	const char *by;
	enum selection_rate rate;
};

/* How a value is made of points. */
struct point_rule {
	bool is_rate;
	/*
	 * Of a counter that its host brings up to date so rarely: that it has not grown for
	 * a shorter time tells nothing, and its rate stays.
	 */
	int64_t hold_us;
	double rate_max; /* 0: none; growth that was counted late is no faster */
};

struct selection {
	struct point_rule rule;
	uint32_t count; /* series */
	uint32_t *series; /* their indexes in the plan, which grow */
	uint32_t *group_of; /* of each of them */
	uint32_t group_count;
	char **groups; /* labels, as in metric_series.text; the first found first */
};

/*
 * An empty selection if the plan has no such series.  Returns 0 or -ENOMEM; the selection
 * may be cleared in any case.
 */
int selection__make(const struct metric_plan *plan, const struct selection_query *query,
		    struct selection *selection);
void selection__clear(struct selection *selection);

/* NULL: there is none. */
const struct metric_family *metric_plan__find(const struct metric_plan *plan, const char *family);
/* "" if the series has no such label. */
const char *metric_series__label(const struct metric_series *series, const char *name,
				 size_t length);

/* What the points before left; zeros before the first. */
struct point_state {
	double value;
	int64_t time_us; /* 0: none was there */
	double rate;
	bool has_rate;
};

/* Of the values of a family by its type. */
struct point_rule point_rule__of(const struct metric_family *family);

/*
 * Takes a point and sets @result: the value, or of a rate that since the point before.
 * A counter that falls has begun again with 0.  A point that is not newer leaves the rate
 * as it was.  False: there is no result yet, or the point is a gap.
 */
bool point_state__take(struct point_state *state, const struct point_rule *rule, int64_t time_us,
		       double value, double *result);

/*
 * What the page asks for, as JSON: [{"family": NAME, "by": "a,b", "label": NAME, "value": TEXT,
 * "rate": true or false}, ...], in which only "family" must be.  See struct selection_query.
 */
#define WEB_QUERIES_MAX 128
#define WEB_QUERY_BYTES_MAX (24U << 10)

struct web_queries {
	json_t *json; /* holds the texts */
	size_t count;
	struct selection_query *queries;
};

/* @text may be NULL.  Returns 0, -EINVAL if it is none, or -ENOMEM. */
int web_queries__parse(const char *text, struct web_queries *queries);
void web_queries__clear(struct web_queries *queries);

#endif /* CONTROLLER_SELECTION_H */
