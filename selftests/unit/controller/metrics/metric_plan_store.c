// SPDX-License-Identifier: GPL-2.0-only
/* Plans of equal hosts share memory, and are as if they did not. */
#include <pthread.h>

#include "metric_samples.h"
#include "tools/controller/metrics/plan/plan_store.h"

#define THREADS 4
#define PLANS 300

static const struct wanted_field fields[] = {
	{ "packets", "", DART_CONTROL_FIELD_COUNTER },
	{ "bytes", "bytes", DART_CONTROL_FIELD_COUNTER },
	{ "level", "", DART_CONTROL_FIELD_GAUGE },
	{}
};

static const char yaml[] = "- family: net_packets_total\n"
			   "  help: P.\n"
			   "  type: counter\n"
			   "  series:\n"
			   "    - entry: net\n"
			   "      labels: {host: $node_name}\n"
			   "      fields:\n"
			   "        packets: {kind: all}\n";

static void make_host(struct host *host, const char *name, const char *second)
{
	const struct dart_schema *schema;
	uint32_t i;

	host__init(host);
	strcpy(host->table.node_name, name);
	schema = host__record(host, fields);
	host__add(host, "net+1s", schema, DART_CONTROL_COPIES_SUM, 1);
	host__add(host, second, schema, DART_CONTROL_COPIES_SUM, 1);
	for (i = 0; i < 2; i++) {
		host__mark(host, i, 0, 2);
		host__set(host, i, 0, "bytes", 0, 100 * i + strlen(name));
	}
}

static const struct plan *plan_at(struct metric_plan *metrics)
{
	return plan__of(metrics);
}

/* Do outputs see the same as from another plan of the same sample? */
static void assert_same(const struct metric_plan *one, const struct metric_plan *other)
{
	uint32_t i, k;

	assert_int_equal(one->family_count, other->family_count);
	for (i = 0; i < one->family_count; i++) {
		assert_string_equal(one->families[i].name, other->families[i].name);
		assert_string_equal(one->families[i].help, other->families[i].help);
		assert_int_equal(one->families[i].first_series, other->families[i].first_series);
	}
	assert_int_equal(one->series_count, other->series_count);
	for (i = 0; i < one->series_count; i++) {
		const struct metric_series *a = &one->series[i];
		const struct metric_series *b = &other->series[i];

		assert_string_equal(a->name, b->name);
		assert_string_equal(a->text, b->text);
		assert_int_equal(a->family, b->family);
		assert_int_equal(a->label_count, b->label_count);
		for (k = 0; k < a->label_count; k++) {
			assert_string_equal(a->labels[k].name, b->labels[k].name);
			assert_string_equal(a->labels[k].value, b->labels[k].value);
		}
	}
	assert_int_equal(one->label_name_count, other->label_name_count);
	for (i = 0; i < one->label_name_count; i++)
		assert_string_equal(one->label_names[i], other->label_names[i]);
	assert_int_equal(!one->listing, !other->listing);
	for (i = 0; one->listing && i < one->series_count; i++)
		assert_int_equal(one->listing[i], other->listing[i]);
}

static void assert_bytes(const struct metric_plan *plan, struct host *host, double expected)
{
	struct points points = {};

	assert_int_equal(points__prepare(&points, plan, &host->sample), 0);
	evaluate(&points, plan, host);
	assert_point(&points, plan, "dart_net_bytes_total", expected);
	points__free(&points);
}

static void test_equal(void **state)
{
	struct plan_store *store = plan_store__new();
	struct names *names = names_of(yaml);
	struct metric_plan *one, *two, *alone;
	struct host host, other;
	int series;

	make_host(&host, "node-1", "x+1s");
	make_host(&other, "other", "x+1s");
	one = plan_of(&host, names);
	two = plan_of(&other, names);
	alone = plan_of(&other, names);
	plan_store__share(store, &host, one);
	plan_store__share(store, &host, two);
	assert_ptr_equal(plan_at(two)->root, one);
	assert_ptr_equal(plan_at(two)->rules, plan_at(one)->rules);
	assert_ptr_equal(plan_at(two)->terms, plan_at(one)->terms);
	assert_ptr_equal(two->families, one->families);
	series = find_series(two, "dart_net_bytes_total");
	assert_ptr_equal(two->series[series].labels, one->series[series].labels);
	assert_ptr_equal(two->series[series].text, one->series[series].text);
	/* Texts with the name of the host are not shared. */
	assert_true(find_series(two, "net_packets_total{host=\"other\",kind=\"all\"}") >= 0);
	assert_true(find_series(one, "net_packets_total{host=\"node-1\",kind=\"all\"}") >= 0);
	assert_same(two, alone);
	/* The second plan outlives the first, and its store. */
	metric_plan__put(one);
	plan_store__put(store);
	assert_same(two, alone);
	assert_bytes(two, &other, 5);
	metric_plan__put(two);
	metric_plan__put(alone);
	names__put(names);
	host__free(&host);
	host__free(&other);
}

/* Another table yields another key; equal keys do not make different plans equal. */
static void test_change(void **state)
{
	struct plan_store *store = plan_store__new();
	struct metric_plan *one, *two, *three, *alone;
	struct host host, other;

	make_host(&host, "node-1", "x+1s");
	make_host(&other, "other", "another+1s");
	one = plan_of(&host, NULL);
	two = plan_of(&other, NULL);
	three = plan_of(&other, NULL);
	alone = plan_of(&other, NULL);
	plan_store__share(store, &host, one);
	plan_store__share(store, &other, two);
	plan_store__share(store, &host, three);
	assert_null(plan_at(two)->root);
	assert_ptr_equal(plan_at(three)->root, one);
	assert_same(two, alone);
	assert_same(three, alone);
	assert_bytes(three, &other, 5);
	metric_plan__put(one);
	assert_bytes(three, &other, 5);
	metric_plan__put(three);
	/* Its place is free again. */
	three = plan_of(&host, NULL);
	plan_store__share(store, &host, three);
	assert_null(plan_at(three)->root);
	metric_plan__put(three);
	metric_plan__put(two);
	metric_plan__put(alone);
	plan_store__put(store);
	host__free(&host);
	host__free(&other);
}

static void *make_plans(void *data)
{
	struct plan_store *store = data;
	struct metric_plan *plan, *before = NULL;
	struct host host;
	unsigned int i;

	make_host(&host, "node-1", "x+1s");
	for (i = 0; i < PLANS; i++) {
		plan = plan_of(&host, NULL);
		plan_store__share(store, store, plan);
		assert_bytes(plan, &host, 6);
		if (before)
			metric_plan__put(before);
		before = i % 3 ? plan : NULL;
		if (!before)
			metric_plan__put(plan);
	}
	if (before)
		metric_plan__put(before);
	host__free(&host);
	return NULL;
}

/* Roots come and go while other threads look for them. */
static void test_threads(void **state)
{
	struct plan_store *store = plan_store__new();
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_plans, store), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	plan_store__put(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("equal hosts have most of a plan in common, and what has the host's name of their own",
		     test_equal),
		TEST("another table has another plan", test_change),
		TEST("plans come and go in several threads", test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
