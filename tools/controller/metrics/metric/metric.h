/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics: the values of samples as other programs know them.  A *family* has a name, a
 * type and a text that explains it; its *series* differ in labels; a *point* is the value
 * of a series at a time.
 *
 * A *plan* lists the families and series of a target's table.  It is made when the table
 * changes, or the rows that its entries have, is immutable and counted, and contains
 * nothing of the target itself: labels such as "instance" are added by outputs.
 */
#ifndef CONTROLLER_METRIC_H
#define CONTROLLER_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/controller/settings/settings.h"

struct sample;

enum metric_type {
	METRIC_COUNTER, /* only grows, or begins again */
	METRIC_GAUGE,
	METRIC_UNTYPED, /* "unknown" in OpenMetrics */
	METRIC_HISTOGRAM, /* its series are cumulated buckets with the label "le" */
};

/* Both as UTF-8; names of series are [a-zA-Z_][a-zA-Z0-9_]*, and those of targets any. */
struct metric_label {
	const char *name;
	const char *value; /* not "" */
};

struct metric_series {
	uint32_t family; /* index */
	uint32_t label_count;
	const char *name; /* of samples: the family's, or with "_bucket" */
	const struct metric_label *labels; /* in the order of strcmp() of their names */
	/* a="b",c="d" with escapes as in the text formats; "" without labels */
	const char *text;
};

struct metric_family {
	const char *name; /* as in Prometheus: that of a counter ends with "_total" */
	const char *help;
	const char *unit; /* base unit at the end of the name, such as "seconds"; or "" */
	enum metric_type type;
	uint32_t first_series; /* series of a family lie side by side */
	uint32_t series_count;
};

struct metric_plan {
	/* In the order of strcmp() of their names. */
	const struct metric_family *families;
	uint32_t family_count;
	/* By family, then in the order of strcmp() of name and text. No two are equal. */
	const struct metric_series *series;
	uint32_t series_count;
	/*
	 * The indices of all series in the order of text formats: that of the series, but in a
	 * histogram the buckets of one set of labels lie side by side, the least first.  NULL:
	 * that of the series.
	 */
	const uint32_t *listing;
	/* The names of all labels, each once, in the order of strcmp(). */
	const char *const *label_names;
	uint32_t label_name_count;
	/* Series that are left out: equal to another one, or too many. */
	uint32_t dropped_count;
};

struct metric_point {
	double value;
	/*
	 * CLOCK_REALTIME of the controller, ns: when the host gathered the value, or else when it
	 * was READ; 0: the series has no point in this scrape, because its row was torn, or
	 * what it counts is not there now.
	 */
	int64_t time_ns;
};

/* In any thread.  metric_plan__get() returns @plan. */
struct metric_plan *metric_plan__get(struct metric_plan *plan);
void metric_plan__put(struct metric_plan *plan);

struct target_labels;

/* What an output gets of a scrape. */
struct metric_scrape {
	struct metric_plan *plan; /* the output may hold it */
	const struct metric_point *points; /* of each series; valid during the call */
	/* That of the scrape before, which ended with this one; NULL: the same, or none. */
	const struct metric_plan *previous;
	/* Of the target, for series of the plan, see target_labels.h; the output may hold them. */
	struct target_labels *labels;
	int64_t time_ns; /* CLOCK_REALTIME of the controller when the READ began */
	/* CLOCK_MONOTONIC: without another scrape until then the host is lost; 0: never. */
	uint64_t fresh_until_ns;
};

struct metric_output;

/*
 * Called by several workers at a time, but for each target by one of them, in order.
 * Nothing blocks: an output that is behind drops and counts.
 */
struct metric_output_operations {
	void (*scrape)(struct metric_output *output, const struct target_settings *target,
		       const struct metric_scrape *scrape);
	/*
	 * The host is lost: all series of @plan, the last one's, have ended at @time_ns; @reason
	 * is a sentence.
	 */
	void (*lost)(struct metric_output *output, const struct target_settings *target,
		     const struct metric_plan *plan, int64_t time_ns, const char *reason);
	/* It cannot be scraped now; its series go on until it is lost.  May be NULL. */
	void (*failed)(struct metric_output *output, const struct target_settings *target,
		       const char *reason);
	/*
	 * After each scrape, and for each interval while it is lost or was never scraped:
	 * @scrape has the plan of plan_up.h, whose series say whether it is up, and no labels.  Its
	 * times are CLOCK_REALTIME of the controller.  May be NULL.
	 */
	void (*up)(struct metric_output *output, const struct target_settings *target,
		   const struct metric_scrape *scrape);
	/* In the control loop, as those of struct sink_operations; may be NULL. */
	void (*added)(struct metric_output *output, const struct target_settings *target);
	void (*removed)(struct metric_output *output, const struct target_settings *target);
	/* No call is under way or follows. */
	void (*free)(struct metric_output *output);
};

/* Begins the structure of each output. */
struct metric_output {
	const struct metric_output_operations *operations;
};

#endif /* CONTROLLER_METRIC_H */
