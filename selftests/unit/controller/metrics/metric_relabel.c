// SPDX-License-Identifier: GPL-2.0-only
/* Series after the rules of their target. */
#include "metric_sinks_scene.h"
#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/plan/plan_relabel.h"

static struct relabel_rules *rules_of(const char *text)
{
	struct relabel_rules *rules;
	const yaml_node_t *root;
	struct dart_error error;
	struct dart_yaml yaml;

	assert_int_equal(dart_yaml__parse(&yaml, text, strlen(text), "f", &root, &error), 0);
	assert_int_equal(relabel_rules__read(&yaml, root, &rules), 0);
	dart_yaml__close(&yaml);
	return rules;
}

/* Passes one sample; the caller puts the plan of the scrape. */
static struct metric_plan *plan_by(const char *text, double *value)
{
	static const struct latency decoded;
	struct relabel_rules *rules = rules_of(text);
	struct sighting sighting;
	struct metric_plan *plan;

	targets[0].metric_relabel = rules;
	sighting__open(&sighting, 0);
	sighting.sink->operations->added(sighting.sink, &targets[0]);
	assert_int_equal(sighting.sink->operations->sample(sighting.sink, &targets[0],
							   &sighting.host.sample, &decoded),
			 0);
	plan = metric_plan__get(sighting.output->told[0].held);
	*value = sighting.output->told[0].last;
	assert_int_equal(sink_metrics__series(sighting.sink), plan->series_count);
	sighting.sink->operations->removed(sighting.sink, &targets[0]);
	sighting__close(&sighting);
	targets[0].metric_relabel = NULL;
	relabel_rules__release(rules);
	return plan;
}

static void test_values(void **state)
{
	double value, same;
	struct metric_plan *plan = plan_by("[]", &value), *fewer;

	fewer = plan_by("[{source_labels: [__name__], regex: 'dart_e_.*', action: keep}]", &same);
	assert_true(plan->series_count > fewer->series_count);
	assert_int_equal(fewer->series_count, 1);
	assert_true(value == same);
	metric_plan__put(plan);
	metric_plan__put(fewer);
}

static void test_names(void **state)
{
	struct metric_plan *plan;
	double value;

	plan = plan_by(
		"[{source_labels: [__name__, instance], regex: '(dart_scrape_reads);(.).*',"
		" replacement: 'reads_$2', target_label: __name__},"
		"{source_labels: [__name__], regex: 'reads_.*', replacement: y, target_label: x}]",
		&value);
	assert_int_equal(find_series(plan, "dart_scrape_reads"), -1);
	assert_true(find_series(plan, "reads_a{x=\"y\"}") >= 0);
	metric_plan__put(plan);
}

/* Two series become equal, one has no name, and a counter is no counter by its name. */
static void test_faults(void **state)
{
	struct metric_plan *plan, *before;
	double value;
	int at;

	before = plan_by("[]", &value);
	plan = plan_by("[{source_labels: [__name__], regex: 'dart_scrape_(reads|bytes)',"
		       " replacement: same, target_label: __name__},"
		       "{source_labels: [__name__], regex: 'dart_scrape_torn_samples_total',"
		       " replacement: '', target_label: __name__},"
		       "{source_labels: [__name__], regex: 'dart_scrape_(missed)_total',"
		       " target_label: __name__}]",
		       &value);
	assert_int_equal(plan->dropped_count, before->dropped_count + 2);
	assert_int_equal(plan->series_count, before->series_count - 2);
	at = find_series(plan, "missed");
	assert_true(at >= 0);
	assert_int_equal(plan->families[plan->series[at].family].type, METRIC_UNTYPED);
	metric_plan__put(plan);
	metric_plan__put(before);
}

/* A label of the target that a rule changes is a label of the series, and not of the target. */
static void test_labels_of_target(void **state)
{
	static const char text[] =
		"[{source_labels: [__name__, instance], regex: 'dart_scrape_bytes;(.*):.*',"
		" target_label: instance}]";
	static const struct metric_label instance = { "instance", "a:4792" };
	struct relabel_rules *rules = rules_of(text);
	struct metric_plan *plan, *before;
	struct target_labels *labels;
	uint32_t *places;
	double value;

	before = plan_by("[]", &value);
	places = calloc(before->series_count, sizeof(*places));
	assert_non_null(places);
	assert_int_equal(plan_relabel__list(before, rules, &instance, 1, places, &plan), 0);
	assert_true(find_series(plan, "dart_scrape_bytes{instance=\"a\"}") >= 0);
	assert_true(find_series(plan, "dart_e_v_total{instance=\"a:4792\"}") >= 0);
	assert_int_equal(plan->series_count, before->series_count);
	targets[0].metric_relabel = rules;
	labels = target_labels__new(&targets[0], plan);
	assert_non_null(labels);
	assert_string_equal(labels->utf8.text, "");
	/* dart_up has no rules. */
	assert_non_null(strstr(labels->up_utf8.text, "instance=\"a:4792\""));
	target_labels__put(labels);
	targets[0].metric_relabel = NULL;
	relabel_rules__release(rules);
	metric_plan__put(before);
	metric_plan__put(plan);
	free(places);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("series that are kept have the values that they have without rules",
		     test_values),
		TEST("rules see the labels of the target, and change names", test_names),
		TEST("series that become equal or nameless are dropped and counted", test_faults),
		TEST("a label of the target that rules change is a label of its series",
		     test_labels_of_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
