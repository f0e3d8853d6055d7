/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metrics: the values of samples in the form that other programs use. A *family* consists of a
 * name, a type and a text that explains it; its *series* differ in labels; a *point* is the value
 * of a series at a time.
 *
 * A *plan* lists the families and series of a target's table. A new plan is made when the table
 * changes, or the set of rows of an entry; a plan is immutable and counted, and contains nothing
 * about the target itself: outputs add labels such as "instance".
 */
#ifndef CONTROLLER_METRIC_H
#define CONTROLLER_METRIC_H

#include <stdint.h>

#include "tools/controller/settings/settings.h"

struct sample;

enum metric_type {
	METRIC_COUNTER, /* only grows, or starts again */
	METRIC_GAUGE,
	METRIC_UNTYPED, /* "unknown" in OpenMetrics */
	METRIC_HISTOGRAM, /* series are cumulated buckets with the label "le" */
};

/*
 * Both texts are UTF-8; names of series labels match [a-zA-Z_][a-zA-Z0-9_]*, names of target labels
 * are arbitrary.
 */
struct metric_label {
	const char *name;
	const char *value; /* never "" */
};

struct metric_series {
	uint32_t family; /* index of its family */
	uint32_t label_count;
	const char *name; /* name of its samples: the family's, or with "_bucket" */
	const struct metric_label *labels; /* sorted by strcmp() of their names */
	/* a="b",c="d" with escapes as in the text formats; "" without labels */
	const char *text;
};

struct metric_family {
	const char *name; /* as in Prometheus: a counter's name ends with "_total" */
	const char *help;
	const char *unit; /* base unit that ends the name, such as "seconds"; or "" */
	enum metric_type type;
	uint32_t first_series; /* the series of a family are adjacent */
	uint32_t series_count;
};

struct metric_plan {
	/* Sorted by strcmp() of their names. */
	const struct metric_family *families;
	uint32_t family_count;
	/* Sorted by family, then by strcmp() of name and text. No two series are equal. */
	const struct metric_series *series;
	uint32_t series_count;
	/*
	 * The indices of all series in the order of the text formats: the order of the series,
	 * except that in a histogram the buckets of one set of labels are adjacent, the least
	 * first. NULL: the order of the series.
	 */
	const uint32_t *listing;
	/*
	 * The names of all labels, each once, sorted by strcmp(); of series that rules changed, as
	 * they were before.
	 */
	const char *const *label_names;
	uint32_t label_name_count;
	/* Series left out because they equal another one, or exceed the limit. */
	uint32_t dropped_count;
};

struct metric_point {
	double value;
	/*
	 * CLOCK_REALTIME of the controller, ns: when the host gathered the value, or else when the
	 * controller READ it. 0: the series lacks a point in this scrape, because its row was torn,
	 * or because the counted object is absent now.
	 */
	int64_t time_ns;
};

/* The index of the series at a place of the listing. */
static inline uint32_t metric_plan__listed(const struct metric_plan *plan, uint32_t place)
{
	return plan->listing ? plan->listing[place] : place;
}

/* Callable from any thread. metric_plan__get() returns @plan. */
struct metric_plan *metric_plan__get(struct metric_plan *plan);
void metric_plan__put(struct metric_plan *plan);

struct target_labels;

/* The labels with their names as given, see target_labels.h; returns their number. */
uint32_t target_labels__utf8(const struct target_labels *labels,
			     const struct metric_label **list);

/* One scrape as an output receives it. */
struct metric_scrape {
	struct metric_plan *plan; /* the output may take a hold of it */
	const struct metric_point *points; /* one for each series; valid during the call */
	/*
	 * The plan of the previous scrape, which ended with this scrape; NULL if the plan is
	 * unchanged, or no previous one exists.
	 */
	const struct metric_plan *previous;
	/*
	 * The target's labels for series of the plan, see target_labels.h; the output may hold
	 * them.
	 */
	struct target_labels *labels;
	int64_t time_ns; /* CLOCK_REALTIME of the controller when the READ began */
	/* CLOCK_MONOTONIC: if no other scrape lands until then the host is lost; 0: never. */
	uint64_t fresh_until_ns;
};

struct relabel_rules;

/*
 * Rules for the series of one output, and the memory that the plans made by them share: see
 * plan_relabel.h.  Counted; any thread may call rewrite().
 */
struct metric_rewriter {
	struct relabel_rules *rules; /* not NULL */
	/*
	 * Makes a plan of the series of @plan that the rules keep.  The rules see the @count labels
	 * in addition to the labels of each series, whose names differ.  Writes the index in the
	 * new plan of each series to @places, or UINT32_MAX.  Returns 0 or -ENOMEM.
	 */
	int (*rewrite)(struct metric_rewriter *rewriter, const struct metric_plan *plan,
		       const struct metric_label *labels, uint32_t count, uint32_t *places,
		       struct metric_plan **made);
	struct metric_rewriter *(*hold)(struct metric_rewriter *rewriter);
	void (*release)(struct metric_rewriter *rewriter);
};

struct metric_output;

/*
 * Several workers call these at the same time, but for each target only one of them, in order. No
 * call blocks: an output that lags drops samples and counts them.
 */
struct metric_output_operations {
	void (*scrape)(struct metric_output *output, const struct target_settings *target,
		       const struct metric_scrape *scrape);
	/*
	 * The host is lost: all series of @plan, the last scrape's plan, ended at @time_ns; @reason
	 * is a sentence.
	 */
	void (*lost)(struct metric_output *output, const struct target_settings *target,
		     const struct metric_plan *plan, int64_t time_ns, const char *reason);
	/* The target cannot be scraped now; its series go on until it is lost. May be NULL. */
	void (*failed)(struct metric_output *output, const struct target_settings *target,
		       const char *reason);
	/*
	 * Called after each scrape, and once per interval while the target is lost or was never
	 * scraped: @scrape carries the plan of plan_own.h, whose series say whether the target is
	 * up, and no labels. Its times are CLOCK_REALTIME of the controller. May be NULL.
	 */
	void (*up)(struct metric_output *output, const struct target_settings *target,
		   const struct metric_scrape *scrape);
	/*
	 * Called in the control loop, like their namesakes in struct sink_operations; may be NULL.
	 */
	void (*added)(struct metric_output *output, const struct target_settings *target);
	void (*removed)(struct metric_output *output, const struct target_settings *target);
	/* No call is in progress or follows. */
	void (*free)(struct metric_output *output);
};

/* The first member of each output's structure. */
struct metric_output {
	const struct metric_output_operations *operations;
};

#endif /* CONTROLLER_METRIC_H */
