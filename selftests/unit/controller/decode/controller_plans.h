/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans of metrics for tests: families of counters or gauges, each with series that differ in one
 * label.
 */
#ifndef CONTROLLER_PLANS_H
#define CONTROLLER_PLANS_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/metrics/metric/metric.h"

struct test_family {
	const char *name;
	enum metric_type type;
	const char *label;	/* NULL: one series without labels */
	const char *const *values; /* of the label, in order; ends with NULL */
};

struct test_plan {
	struct metric_plan plan;
	atomic_uint references;
};

/* The only definition in each test, which is not linked with the metrics room. */
struct metric_plan *metric_plan__get(struct metric_plan *plan)
{
	((struct test_plan *)plan)->references++;
	return plan;
}

void metric_plan__put(struct metric_plan *plan)
{
	struct test_plan *test = (struct test_plan *)plan;
	uint32_t i;

	if (--test->references)
		return;
	for (i = 0; i < plan->series_count; i++) {
		if (plan->series[i].label_count)
			free((char *)plan->series[i].text);
		free((struct metric_label *)plan->series[i].labels);
	}
	free((struct metric_series *)plan->series);
	free((struct metric_family *)plan->families);
	free(test);
}

static inline void test_plan__add(struct metric_plan *plan, struct metric_series *series,
				  const struct test_family *family, const char *value)
{
	struct metric_series *to = &series[plan->series_count++];
	struct metric_label *label;
	char *text;

	*to = (struct metric_series){ .family = plan->family_count,
				      .name = family->name,
				      .text = "" };
	if (!value)
		return;
	label = malloc(sizeof(*label));
	assert_non_null(label);
	*label = (struct metric_label){ family->label, value };
	to->labels = label;
	to->label_count = 1;
	assert_true(asprintf(&text, "%s=\"%s\"", family->label, value) > 0);
	to->text = text;
}

/* @families are in the order of their names. */
static inline struct metric_plan *test_plan__new(const struct test_family *families, uint32_t count)
{
	struct test_plan *test = calloc(1, sizeof(*test));
	struct metric_family *to = calloc(count, sizeof(*to));
	struct metric_series *series = calloc(4096, sizeof(*series));
	struct metric_plan *plan = &test->plan;
	const char *const *value;
	uint32_t i;

	assert_true(test && to && series);
	test->references = 1;
	plan->families = to;
	plan->series = series;
	for (i = 0; i < count; i++) {
		to[i] = (struct metric_family){
			.name = families[i].name,
			.help = "",
			.unit = "",
			.type = families[i].type,
			.first_series = plan->series_count,
		};
		if (!families[i].label)
			test_plan__add(plan, series, &families[i], NULL);
		for (value = families[i].values; families[i].label && *value; value++)
			test_plan__add(plan, series, &families[i], *value);
		to[i].series_count = plan->series_count - to[i].first_series;
		plan->family_count++;
	}
	return plan;
}

#endif /* CONTROLLER_PLANS_H */
