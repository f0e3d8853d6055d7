// SPDX-License-Identifier: GPL-2.0-only
/* Families, series and points that metrics make of samples. */
#include "metric_samples.h"

static const struct wanted_field modes[] = {
	{ "cpu", "", DART_CONTROL_FIELD_GAUGE },
	{ "user", "ns", DART_CONTROL_FIELD_COUNTER },
	{ "idle", "ns", DART_CONTROL_FIELD_COUNTER },
	{ "iowait", "ns", DART_CONTROL_FIELD_COUNTER },
	{}
};

static const char cpu_names[] = "- family: node_cpu_seconds_total\n"
				"  help: Seconds the CPUs spent in each mode.\n"
				"  type: counter\n"
				"  unit: seconds\n"
				"  series:\n"
				"    - entry: cpustat\n"
				"      rows: cpu\n"
				"      scale: 1e-9\n"
				"      fields:\n"
				"        user: {mode: user}\n"
				"        idle: {mode: idle}\n"
				"        iowait: {mode: iowait}\n";

/* Prepared and evaluated. */
static struct metric_plan *first_points(struct points *points,
					struct host *host, struct names *names)
{
	struct metric_plan *plan = plan_of(host, names);

	assert_int_equal(points__prepare(points, plan, &host->sample), 0);
	evaluate(points, plan, host);
	return plan;
}

static uint32_t add_gathered_cpus(struct host *host)
{
	const uint32_t entry = host__add(host, "cpustat+1s",
					 host__record(host, modes),
					 DART_CONTROL_COPIES_ROW, 3);
	uint32_t i;

	for (i = 0; i < 2; i++) {
		host__mark(host, entry, i, 2);
		host__set(host, entry, i, "time", 0, 990 * SECOND);
		host__set(host, entry, i, "cpu", 0, i * 3);
		host__set(host, entry, i, "user", 0, (i + 1) * 123456789ULL);
	}
	return entry;
}

static void test_gathered(void **state)
{
	struct names *names = names_of(cpu_names);
	const struct metric_point *point;
	struct points points = {};
	struct metric_plan *plan;
	struct host host;

	host__init(&host);
	add_gathered_cpus(&host);
	plan = first_points(&points, &host, names);
	assert_point(&points, plan,
		     "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"}",
		     0.123456789);
	assert_point(&points, plan,
		     "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}",
		     0.246913578);
	point = point_of(&points, plan,
			 "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}");
	assert_int_equal(point->time_ns, 5990 * SECOND);
	/* The third row is empty, and all fields have names. */
	assert_int_equal(find_series(plan, "node_cpu_seconds_total{cpu=\"0\"}"),
			 -1);
	assert_point(&points, plan, "dart_scrape_duration_seconds", 0.001);
	assert_point(&points, plan, "dart_scrape_missed_total", 2);
	assert_int_equal(point_of(&points, plan, "dart_scrape_reads")->time_ns,
			 6000 * SECOND);
	/* The host did not tell its clock. */
	assert_int_equal(point_of(&points, plan,
				  "dart_scrape_clock_offset_seconds")
				 ->time_ns,
			 0);
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a gathered row has the number that it says, its own time, and seconds that are exact",
		     test_gathered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
