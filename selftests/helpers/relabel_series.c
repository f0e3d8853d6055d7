// SPDX-License-Identifier: GPL-2.0-only
/*
 * relabel_series FILE page: print the series of FILE as a page for Prometheus, in the order in which
 * the controller lists them; the value of each series is its place in this order.
 * relabel_series FILE RULES...: apply the rules in each YAML file to all series, and print a JSON list
 * for each file: of objects with the labels of each series that is left, and with its value as "".
 *
 * FILE: {"labels": {...}, "series": [{"__name__": ..., ...}, ...]}, where "labels" are those of the
 * target.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/controller/metrics/plan/plan_builder.h"
#include "tools/controller/metrics/plan/plan_relabel.h"
#include "tools/controller/metrics/plan/plan_sort.h"

static void fail(const char *why)
{
	fprintf(stderr, "relabel_series: %s\n", why);
	exit(1);
}

static void check(bool is_right, const char *why)
{
	if (!is_right)
		fail(why);
}

static struct metric_plan *make_plan(const json_t *all, uint32_t *places)
{
	struct plan_builder builder = { .plan = plan__new() };
	struct metric_plan *plan;
	struct label_list list;
	const char *name;
	json_t *series, *value;
	size_t i;

	check(builder.plan, "out of memory");
	builder.sets.arena = &builder.plan->arena;
	json_array_foreach(json_object_get(all, "series"), i, series) {
		struct built_family family = { .help = "", .unit = "", .type = METRIC_UNTYPED };

		list.count = 0;
		json_object_foreach(series, name, value)
			if (strcmp(name, "__name__"))
				label_list__add(&list, name, json_string_value(value));
		family.name = json_string_value(json_object_get(series, "__name__"));
		plan_builder__add_own(&builder, plan_builder__family(&builder, &family), &list,
				      &places[i]);
	}
	check(!plan_builder__finish(&builder, &plan), "cannot make a plan");
	plan_builder__close(&builder);
	return plan;
}

static void print_page(const struct metric_plan *plan)
{
	uint32_t i;

	for (i = 0; i < plan->series_count; i++)
		printf("%s{%s} %u\n", plan->series[i].name, plan->series[i].text, i);
}

/* @number is the place of the series before. */
static json_t *describe(const struct metric_series *series, uint32_t number,
			const struct metric_label *labels, uint32_t count,
			const struct relabel_rules *rules)
{
	json_t *object = json_object();
	uint32_t i;

	for (i = 0; i < count; i++)
		if (!relabel_rules__touch(rules, labels[i].name))
			json_object_set_new(object, labels[i].name, json_string(labels[i].value));
	for (i = 0; i < series->label_count; i++)
		json_object_set_new(object, series->labels[i].name,
				    json_string(series->labels[i].value));
	json_object_set_new(object, "__name__", json_string(series->name));
	json_object_set_new(object, "", json_sprintf("%u", number));
	return object;
}

static struct relabel_rules *read_rules(const char *path)
{
	struct relabel_rules *rules;
	struct dart_error error;
	const yaml_node_t *root;
	struct dart_yaml yaml;
	FILE *file = fopen(path, "re");

	check(file, path);
	if (dart_yaml__load(&yaml, file, path, NULL, &root, &error))
		fail(error.text);
	check(root, "a file of rules is empty");
	if (relabel_rules__read(&yaml, root, &rules))
		fail(error.text);
	dart_yaml__close(&yaml);
	fclose(file);
	return rules;
}

static void print_result(const struct metric_plan *plan, const struct metric_label *labels,
			 uint32_t count, const char *path, uint32_t *places)
{
	struct relabel_rules *rules = read_rules(path);
	json_t *all = json_array();
	struct metric_plan *made;
	uint32_t i;

	check(!plan_relabel__list(plan, rules, labels, count, places, &made), "out of memory");
	for (i = 0; i < plan->series_count; i++)
		if (places[i] != UINT32_MAX)
			json_array_append_new(all, describe(&made->series[places[i]], i, labels,
							    count, rules));
	check(json_array_size(all) == made->series_count, "a series has no place, or two");
	json_dumpf(all, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(all);
	metric_plan__put(made);
	relabel_rules__release(rules);
}

int main(int argc, char **argv)
{
	struct metric_label labels[16];
	struct metric_plan *plan;
	uint32_t count = 0, *places;
	json_t *all, *value;
	const char *name;
	int i;

	check(argc > 2, "expected FILE page, or FILE RULES...");
	all = json_load_file(argv[1], 0, NULL);
	check(all, "the first file is not JSON");
	places = calloc(json_array_size(json_object_get(all, "series")) + 1, sizeof(*places));
	check(places, "out of memory");
	plan = make_plan(all, places);
	json_object_foreach(json_object_get(all, "labels"), name, value) {
		check(count < 16, "more than 16 labels");
		labels[count++] = (struct metric_label){ name, json_string_value(value) };
	}
	if (!strcmp(argv[2], "page"))
		print_page(plan);
	for (i = 2; i < argc && strcmp(argv[2], "page"); i++)
		print_result(plan, labels, count, argv[i], places);
	metric_plan__put(plan);
	json_decref(all);
	free(places);
	return 0;
}
