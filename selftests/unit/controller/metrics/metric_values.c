// SPDX-License-Identifier: GPL-2.0-only
/* Values and times of points: conversions, units, and histograms. */
#include "metric_trial.h"

/* A family, and the keys of its series of entry e. */
static const char *const conversions[][2] = {
	{ "difference", "value: a - b + 1" },
	{ "scaled", "value: b\n      scale: 0.25" },
	{ "bits", "value: b\n      mask: 4" },
	{ "is", "value: b\n      mask: 4\n      equals: 4" },
	{ "is_not", "value: b\n      equals: 4" },
	{ "is_above", "value: b\n      above: 4" },
	{ "is_at", "value: b\n      above: 5" },
	{ "below_zero", "value: a - b\n      signed: true" },
	{ "credit", "value: credit" },
	{ "credit_left", "value: credit\n      signed: false" },
	{ "when_b_is_5", "value: b\n      when: b == 5" },
	{ "when_a_is_0", "value: b\n      when: a == 0" },
	{ "limited", "value: limit\n      zero_from: 9223372036854771712" },
	{ "when_a", "value: b\n      when: a" },
	{ "constant", "value: 256" },
	{ "pages", "value: limit\n      per: page_size" },
	{ "pages_of_none", "value: limit\n      per: a" },
	{ "absent", "value: b + absent" },
	{ "per_absent", "value: b\n      per: absent" },
	{ "when_absent", "value: b\n      when: absent" },
	{ "first", "value: absent\n    - entry: f\n      value: a\n"
		   "    - entry: e\n      value: b" },
};

static void print_conversions(char *yaml, size_t size)
{
	size_t used = 0, i;

	for (i = 0; i < sizeof(conversions) / sizeof(*conversions); i++) {
		used += snprintf(yaml + used, size - used,
				 "- family: %s\n  help: N.\n  type: gauge\n"
				 "  series:\n    - entry: e\n      %s\n",
				 conversions[i][0], conversions[i][1]);
		assert_true(used < size);
	}
}

static void test_conversions(void **state)
{
	static const struct wanted_field fields[] = {
		{ "a", "", DART_CONTROL_FIELD_GAUGE },
		{ "b", "", DART_CONTROL_FIELD_GAUGE },
		{ "limit", "", DART_CONTROL_FIELD_GAUGE },
		{ "page_size", "bytes", DART_CONTROL_FIELD_GAUGE },
		{ "credit", "", DART_CONTROL_FIELD_GAUGE },
		{}
	};
	struct dart_schema *schema;
	struct trial trial;
	char names[4000];
	uint32_t e, f;

	print_conversions(names, sizeof(names));
	trial__init(&trial, names);
	schema = host__record(&trial.host, fields);
	schema->fields[dart_schema__find(schema, "credit") - schema->fields].is_signed = true;
	e = trial__add(&trial, "e+1s", schema);
	f = trial__add(&trial, "f+1s", schema);
	host__set(&trial.host, e, 0, "b", 0, 5);
	host__set(&trial.host, e, 0, "limit", 0, INT64_MAX - 4095);
	host__set(&trial.host, e, 0, "page_size", 0, 16384);
	host__set(&trial.host, e, 0, "credit", 0, -3);
	host__set(&trial.host, f, 0, "a", 0, 7);
	trial__plan(&trial);
	/* The fields change one after the other. */
	trial__expect(&trial, "difference", 0);
	trial__expect(&trial, "scaled", 1.25);
	trial__expect(&trial, "bits", 4);
	trial__expect(&trial, "is", 1);
	trial__expect(&trial, "is_not", 0);
	trial__expect(&trial, "is_above", 1);
	trial__expect(&trial, "is_at", 0);
	trial__expect(&trial, "below_zero", -5);
	trial__expect(&trial, "credit", -3);
	trial__expect(&trial, "credit_left", 0);
	trial__expect(&trial, "when_b_is_5", 5);
	trial__expect(&trial, "when_a_is_0", 5);
	trial__expect(&trial, "limited", 0);
	trial__expect(&trial, "constant", 256);
	assert_int_equal(trial__point(&trial, "when_a")->time_ns, 0);
	assert_false(trial__has(&trial, "absent"));
	assert_false(trial__has(&trial, "when_absent"));
	assert_false(trial__has(&trial, "per_absent"));
	assert_int_equal(trial__point(&trial, "pages_of_none")->time_ns, 0);
	/* The series of f precedes the series of e, which is no loss. */
	trial__expect(&trial, "first", 7);
	assert_int_equal(trial.plan->dropped_count, 0);

	host__set(&trial.host, e, 0, "a", 0, 9);
	host__set(&trial.host, e, 0, "limit", 0, 4096);
	trial__evaluate(&trial);
	trial__expect(&trial, "difference", 5);
	trial__expect(&trial, "below_zero", 4);
	assert_int_equal(trial__point(&trial, "when_a_is_0")->time_ns, 0);
	trial__expect(&trial, "limited", 4096);
	trial__expect(&trial, "pages", 0.25);
	assert_true(trial__point(&trial, "when_a")->time_ns != 0);
	trial__free(&trial);
}

/* An agent cannot add to the metrics of the controller itself. */
static void test_own(void **state)
{
	static const struct wanted_field fields[] = {
		{ "ready", "", DART_CONTROL_FIELD_GAUGE },
		{ "controller_ready", "", DART_CONTROL_FIELD_GAUGE },
		{}
	};
	static const struct wanted_field others[] = {
		{ "controller_ready", "", DART_CONTROL_FIELD_GAUGE },
		{}
	};
	struct trial trial;
	uint32_t i;

	trial__init(&trial, NULL);
	trial__add(&trial, "-controller", host__record(&trial.host, fields));
	trial__add(&trial, "-", host__record(&trial.host, others));
	trial__add(&trial, "controllers", host__record(&trial.host, others));
	trial__plan(&trial);
	assert_non_null(trial__family(&trial, "dart_agent_controller_ready"));
	assert_non_null(trial__family(&trial, "dart_agent_controller_controller_ready"));
	assert_non_null(trial__family(&trial, "dart_controllers_controller_ready"));
	for (i = 0; i < trial.plan->family_count; i++)
		assert_int_not_equal(strncmp(trial.plan->families[i].name, "dart_controller_", 16),
				     0);
	trial__free(&trial);
}

static void test_generic(void **state)
{
	static const struct wanted_field fields[] = {
		{ "time_ns", "ns", DART_CONTROL_FIELD_COUNTER },
		{ "rx_bytes", "bytes", DART_CONTROL_FIELD_COUNTER },
		{ "read.sectors", "sectors", DART_CONTROL_FIELD_COUNTER },
		{ "peers", "peers", DART_CONTROL_FIELD_GAUGE },
		{ "peers_total", "peers", DART_CONTROL_FIELD_COUNTER },
		{ "squeezed", "times", DART_CONTROL_FIELD_COUNTER },
		{ "load1", "1/2048 tasks", DART_CONTROL_FIELD_GAUGE },
		{ "wait", "ms", DART_CONTROL_FIELD_GAUGE },
		{}
	};
	static const struct {
		const char *name;
		double value;
		const char *unit;
	} expected[] = {
		{ "dart_my_entry_time_seconds_total", 1e-9, "seconds" },
		{ "dart_my_entry_rx_bytes_total", 2, "bytes" },
		{ "dart_my_entry_read_bytes_total", 3 * 512, "bytes" },
		{ "dart_my_entry_peers", 4, "peers" },
		{ "dart_my_entry_peers_total", 5, "peers" },
		{ "dart_my_entry_squeezed_total", 6, "" },
		{ "dart_my_entry_load1_tasks", 7. / 2048, "tasks" },
		{ "dart_my_entry_wait_seconds", 0.008, "seconds" },
	};
	struct trial trial;
	uint32_t entry, i;

	trial__init(&trial, NULL);
	entry = trial__add(&trial, "my:entry+1s", host__record(&trial.host, fields));
	for (i = 0; fields[i].name; i++)
		host__set(&trial.host, entry, 0, fields[i].name, 0, i + 1);
	trial__plan(&trial);
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		trial__expect(&trial, expected[i].name, expected[i].value);
		assert_string_equal(trial__family(&trial, expected[i].name)->unit,
				    expected[i].unit);
	}
	assert_string_equal(trial__family(&trial, expected[0].name)->help,
			    "Field time_ns of my:entry, there in ns.");
	trial__free(&trial);
}

static void test_times(void **state)
{
	static const struct wanted_field fields[] = { { "v", "", DART_CONTROL_FIELD_GAUGE }, {} };
	static const struct {
		uint64_t row_ns;
		int64_t point_ns;
	} times[] = {
		{ 999 * SECOND, 5999 * SECOND },
		/*
		 * A time after the landing, no time, an invalid time: the time of the READ counts.
		 */
		{ 1001 * SECOND, 6000 * SECOND + SECOND / 1000 },
		{ 0, 6000 * SECOND },
		{ UINT64_MAX, 6000 * SECOND },
		{ INT64_MAX, 6000 * SECOND },
	};
	struct trial trial;
	uint32_t entry, i;

	trial__init(&trial, NULL);
	entry = trial__add(&trial, "e+1s", host__record(&trial.host, fields));
	trial__plan(&trial);
	for (i = 0; i < sizeof(times) / sizeof(*times); i++) {
		host__set(&trial.host, entry, 0, "time", 0, times[i].row_ns);
		trial__evaluate(&trial);
		assert_int_equal(trial__point(&trial, "dart_e_v")->time_ns, times[i].point_ns);
	}
	trial__free(&trial);
}

static void test_histogram(void **state)
{
	static const char names[] = "- family: latency_seconds\n"
				    "  help: L.\n"
				    "  type: histogram\n"
				    "  unit: seconds\n"
				    "  series:\n"
				    "    - entry: named\n"
				    "      scale: 1e-9\n"
				    "      fields: {slots: {}}\n";
	struct dart_schema *schema;
	const struct metric_family *family;
	const struct metric_plan *plan;
	struct trial trial;
	uint32_t entry, i;

	trial__init(&trial, names);
	schema = host__schema(&trial.host, 64);
	add_field(schema, "slots", "ns", 0, 8, 8, DART_CONTROL_FIELD_HISTOGRAM);
	entry = host__add(&trial.host, "named", schema, DART_CONTROL_COPIES_CPU, 4);
	host__add(&trial.host, "other", schema, DART_CONTROL_COPIES_ROW, 2);
	for (i = 0; i < 4; i++) {
		host__set(&trial.host, entry, i, "slots", 0, 1);
		host__set(&trial.host, entry, i, "slots", 2, 10);
		host__set(&trial.host, entry, i, "slots", 7, 100);
	}
	host__set(&trial.host, entry + 1, 1, "slots", 1, 5);
	trial__plan(&trial);
	trial__expect(&trial, "latency_seconds_bucket{le=\"0.000000001\"}", 4);
	trial__expect(&trial, "latency_seconds_bucket{le=\"0.000000003\"}", 4);
	trial__expect(&trial, "latency_seconds_bucket{le=\"0.000000007\"}", 44);
	trial__expect(&trial, "latency_seconds_bucket{le=\"0.000000127\"}", 44);
	trial__expect(&trial, "latency_seconds_bucket{le=\"+Inf\"}", 444);
	trial__expect(&trial, "dart_other_slots_seconds_bucket{le=\"0.000000003\",row=\"1\"}", 5);

	/* Text formats keep the buckets of each row together. */
	plan = trial.plan;
	family = trial__family(&trial, "dart_other_slots_seconds");
	assert_int_equal(family->series_count, 16);
	for (i = 0; i < 16; i++) {
		const struct metric_series *series =
			&plan->series[plan->listing[family->first_series + i]];

		assert_int_equal(series->label_count, 2);
		assert_string_equal(series->labels[1].value, i < 8 ? "0" : "1");
		if (i % 8 == 7)
			assert_string_equal(series->labels[0].value, "+Inf");
	}
	trial__free(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("values are sums, masked, compared, limited, scaled, divided, and only when they count",
		     test_conversions),
		TEST("fields without a name have one with a base unit", test_generic),
		TEST("no entry of an agent is among the metrics of the controller", test_own),
		TEST("points are never of the future", test_times),
		TEST("histograms are cumulated buckets, in the order of their bounds",
		     test_histogram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
