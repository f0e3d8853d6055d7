/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan from inside: in addition to the part for outputs, the rules that compute the points of its
 * series from a sample. The plan refers to entries, fields and copies by their numbers, which mean
 * the same in each sample that it fits.
 */
#ifndef CONTROLLER_PLAN_H
#define CONTROLLER_PLAN_H

#include <stdatomic.h>

#include "row_watch.h"
#include "tools/controller/base/arena.h"
#include "tools/controller/decode/sample.h"
#include "tools/controller/metrics/names/names.h"
#include "tools/controller/metrics/metric/metric.h"

#define PLAN_NONE UINT32_MAX

enum plan_term_kind {
	PLAN_TERM_FIELD,
	PLAN_TERM_CONSTANT,
	/* From a direct cpustat: see idle_times.h. */
	PLAN_TERM_IDLE,
	PLAN_TERM_IOWAIT,
};

struct plan_term {
	enum plan_term_kind kind : 8;
	bool is_minus;
	uint32_t element;
	uint64_t field; /* index of the field; or the constant */
};

/* The place of the values: a copy of an entry, or PLAN_NONE for the sum of all copies. */
struct plan_row {
	uint32_t entry; /* index in the sample */
	uint32_t copy;
};

/*
 * Computes the value of a series: factor / divisor * (the sum of the terms, converted), divided by
 * the field @per.
 */
struct plan_rule {
	const struct name_series *named; /* conversion of the sum; NULL: no conversion */
	double factor;
	double divisor;
	uint32_t row;
	uint32_t first_term;
	uint32_t term_count;
	uint32_t when; /* field that must exceed 0, or the point is left out; or PLAN_NONE */
	uint32_t per; /* field; the point is left out while it is 0; or PLAN_NONE */
	bool is_unsigned; /* replace a sum below 0 by 0: fields change one after the other */
	/*
	 * Number of buckets of a histogram; the series of bucket i is buckets[series + i], and the
	 * only term names element 0.
	 */
	uint32_t bucket_count;
	uint32_t series;
};

/* Series about the scrape itself, which every plan contains. */
enum plan_own {
	PLAN_OWN_HOST_INFO,
	PLAN_OWN_DURATION,
	PLAN_OWN_READS,
	PLAN_OWN_BYTES,
	PLAN_OWN_MISSED,
	PLAN_OWN_FAILED,
	PLAN_OWN_CLOCK_OFFSET,
	PLAN_OWN_CLOCK_UNCERTAINTY,
	PLAN_OWN_CLOCK_OFF,
	PLAN_OWN_TORN,
	PLAN_OWN_DROPPED,
	PLAN_OWN_COUNT
};

struct plan_store;

struct plan {
	struct metric_plan metrics; /* first member */
	atomic_uint holders;
	struct arena arena;
	struct names *names;
	/*
	 * The plan whose memory this plan shares where both are equal, see plan_store.h; held, or
	 * NULL.
	 */
	struct plan *root;
	struct plan_store *store; /* store that lists this plan as a root; or NULL */
	const void *key;
	/* Identify the table that the plan belongs to. */
	uint64_t instance;
	uint64_t generation;
	uint32_t entry_count;
	/* The direct cpustat that idle series are computed from; or PLAN_NONE. */
	uint32_t cpustat;
	/* Allocated by malloc(), or the root's. */
	struct plan_rule *rules;
	struct plan_term *terms;
	struct plan_row *rows;
	uint32_t *buckets;
	struct row_watch *watches;
	uint32_t rule_count;
	uint32_t term_count;
	uint32_t row_count;
	uint32_t bucket_count;
	uint32_t watch_count;
	uint32_t own[PLAN_OWN_COUNT]; /* index of each series; or PLAN_NONE */
};

/* Returns an empty plan with one holder, who calls metric_plan__put(). NULL if memory ran out. */
struct plan *plan__new(void);

static inline const struct plan *plan__of(const struct metric_plan *metrics)
{
	return (const struct plan *)metrics;
}

/*
 * True if @sample consists of the same entries and rows as the sample that the plan was made from.
 * Torn rows count as unchanged. If false, the caller makes a new plan.
 */
bool metric_plan__fits(const struct metric_plan *metrics, const struct sample *sample);

/*
 * Makes a plan without families and series that fits the same samples, with the caller as the only
 * holder.  NULL if memory ran out.
 */
struct metric_plan *metric_plan__outline(const struct metric_plan *metrics);

#endif /* CONTROLLER_PLAN_H */
