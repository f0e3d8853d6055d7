/* SPDX-License-Identifier: GPL-2.0-only */
/* Names that are applied to a sample of a host, and the points that come out. */
#ifndef METRIC_TRIAL_H
#define METRIC_TRIAL_H

#include "metric_samples.h"

struct trial {
	struct host host;
	struct names *names; /* or NULL */
	struct metric_plan *plan;
	struct points points;
};

/* @yaml: the names, or NULL.  The host starts without entries and without a plan. */
static inline void trial__init(struct trial *trial, const char *yaml)
{
	*trial = (struct trial){};
	host__init(&trial->host);
	if (yaml)
		trial->names = names_of(yaml);
}

/* Adds a record with one whole row of zeroes; returns its index. */
static inline uint32_t trial__add(struct trial *trial, const char *name,
				  const struct dart_schema *schema)
{
	const uint32_t entry = host__add(&trial->host, name, schema, DART_CONTROL_COPIES_SUM, 1);

	host__mark(&trial->host, entry, 0, 2);
	return entry;
}

/* Evaluates the present sample. */
static inline void trial__evaluate(struct trial *trial)
{
	evaluate(&trial->points, trial->plan, &trial->host);
}

/* Makes a new plan, and its points, from the present sample. */
static inline void trial__plan(struct trial *trial)
{
	if (trial->plan)
		metric_plan__put(trial->plan);
	trial->plan = plan_of(&trial->host, trial->names);
	assert_int_equal(points__prepare(&trial->points, trial->plan, &trial->host.sample), 0);
	trial__evaluate(trial);
}

static inline bool trial__fits(const struct trial *trial)
{
	return metric_plan__fits(trial->plan, &trial->host.sample);
}

static inline bool trial__has(const struct trial *trial, const char *series)
{
	return find_series(trial->plan, series) >= 0;
}

/* The point of a series, which must exist. */
static inline const struct metric_point *trial__point(const struct trial *trial, const char *series)
{
	return point_of(&trial->points, trial->plan, series);
}

static inline void trial__expect(const struct trial *trial, const char *series, double value)
{
	assert_point(&trial->points, trial->plan, series, value);
}

/* A family, which must exist. */
static inline const struct metric_family *trial__family(const struct trial *trial, const char *name)
{
	const struct metric_plan *plan = trial->plan;
	uint32_t i;

	for (i = 0; i < plan->family_count; i++)
		if (!strcmp(plan->families[i].name, name))
			return &plan->families[i];
	fail_msg("there is no family %s", name);
	return NULL;
}

static inline void trial__free(struct trial *trial)
{
	points__free(&trial->points);
	if (trial->plan)
		metric_plan__put(trial->plan);
	if (trial->names)
		names__put(trial->names);
	host__free(&trial->host);
}

#endif /* METRIC_TRIAL_H */
