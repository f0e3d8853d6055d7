/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan from inside: beside what outputs see of it, how the points of its series come from
 * a sample.  It refers to entries, fields and copies by their numbers, which mean the same
 * in each sample that it fits.
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
	/* Of a direct cpustat: see idle_times.h. */
	PLAN_TERM_IDLE,
	PLAN_TERM_IOWAIT,
};

struct plan_term {
	enum plan_term_kind kind : 8;
	bool is_minus;
	uint32_t element;
	uint64_t field; /* index; or the constant */
};

/* Where values are: a copy of an entry, or PLAN_NONE for all added up. */
struct plan_row {
	uint32_t entry; /* of the sample */
	uint32_t copy;
};

/*
 * The value of a series: factor / divisor * (the sum of the terms, converted), divided by the
 * field @per.
 */
struct plan_rule {
	const struct name_series *named; /* how it is converted; NULL: not at all */
	double factor;
	double divisor;
	uint32_t row;
	uint32_t first_term;
	uint32_t term_count;
	uint32_t when; /* field that is above 0, or there is no point; PLAN_NONE */
	uint32_t per; /* field; there is no point while it is 0; PLAN_NONE */
	bool is_unsigned; /* a sum below 0 is 0: fields change one after the other */
	/*
	 * Of a histogram, how many buckets; the series of bucket i is buckets[series + i], and
	 * its only term has element 0.
	 */
	uint32_t bucket_count;
	uint32_t series;
};

/* Series about the scrape itself, which each plan has. */
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
	struct metric_plan metrics; /* first */
	atomic_uint holders;
	struct arena arena;
	struct names *names;
	/* Whose memory it uses where both are equal, see plan_store.h; held, or NULL. */
	struct plan *root;
	struct plan_store *store; /* where it is a root itself; or NULL */
	const void *key;
	/* Which table it is of. */
	uint64_t instance;
	uint64_t generation;
	uint32_t entry_count;
	/* The direct cpustat whose idle time is a series; or PLAN_NONE. */
	uint32_t cpustat;
	/* All of malloc(), or those of the root. */
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
	uint32_t own[PLAN_OWN_COUNT]; /* series; or PLAN_NONE */
};

/* Empty, with one holder, which metric_plan__put() releases.  NULL if out of memory. */
struct plan *plan__new(void);

static inline const struct plan *plan__of(const struct metric_plan *metrics)
{
	return (const struct plan *)metrics;
}

/*
 * Has @sample the same entries, and the same rows, as the one that the plan was made of?
 * Torn rows are taken for the same.  If not, a new plan is to be made.
 */
bool metric_plan__fits(const struct metric_plan *metrics, const struct sample *sample);

#endif /* CONTROLLER_PLAN_H */
