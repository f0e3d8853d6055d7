// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of CPUs: gathered rows, direct copies, and the idle time of these. */
#include "metric_trial.h"

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

static uint32_t add_gathered_cpus(struct host *host)
{
	const uint32_t entry = host__add(host, "cpustat+1s", host__record(host, modes),
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
	const struct metric_point *point;
	struct trial trial;

	trial__init(&trial, cpu_names);
	add_gathered_cpus(&trial.host);
	trial__plan(&trial);
	trial__expect(&trial, "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"}", 0.123456789);
	trial__expect(&trial, "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}", 0.246913578);
	point = trial__point(&trial, "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}");
	assert_int_equal(point->time_ns, 5990 * SECOND);
	/* The third row is empty, and all fields are named. */
	assert_false(trial__has(&trial, "node_cpu_seconds_total{cpu=\"0\"}"));
	trial__expect(&trial, "dart_scrape_duration_seconds", 0.001);
	trial__expect(&trial, "dart_scrape_missed_total", 2);
	assert_int_equal(trial__point(&trial, "dart_scrape_reads")->time_ns, 6000 * SECOND);
	/* The host did not tell its clock. */
	assert_int_equal(trial__point(&trial, "dart_scrape_clock_offset_seconds")->time_ns, 0);
	assert_int_equal(trial__point(&trial, "dart_scrape_clock_off")->time_ns, 0);

	/* Now the clock is known, and two hours slow: the row's age dates it. */
	trial.host.sample.clock = (struct sample_clock){
		.boot_ns = 991 * SECOND,
		.offset_ns = -7200 * SECOND,
		.uncertainty_ns = SECOND / 1000,
		.is_off = true,
	};
	trial__evaluate(&trial);
	trial__expect(&trial, "dart_scrape_clock_offset_seconds", -7200);
	trial__expect(&trial, "dart_scrape_clock_uncertainty_seconds", 0.001);
	trial__expect(&trial, "dart_scrape_clock_off", 1);
	point = trial__point(&trial, "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}");
	assert_int_equal(point->time_ns, 5999 * SECOND);
	/* A row from the future still landed. */
	trial.host.sample.clock.boot_ns = 900 * SECOND;
	trial__evaluate(&trial);
	point = trial__point(&trial, "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}");
	assert_int_equal(point->time_ns, 6000 * SECOND + SECOND / 1000);
	trial__free(&trial);
}

/* user of each CPU is 1 s, 2 s, 3 s, 4 s; CPU 2 is offline. */
static uint32_t add_direct_cpus(struct host *host)
{
	struct dart_schema *schema = host__schema(host, 64);
	static const char *const names[] = { "user", "nice",	"system",
					     "idle", "softirq", "iowait" };
	uint32_t entry, i;

	for (i = 0; i < 6; i++)
		add_field(schema, names[i], "ns", i * 8, 8, 1, DART_CONTROL_FIELD_COUNTER);
	entry = host__add(host, "cpustat", schema, DART_CONTROL_COPIES_CPU, 4);
	for (i = 0; i < 4; i++)
		host__set(host, entry, i, "user", 0, (i + 1) * SECOND);
	host->online = 0xb;
	return entry;
}

static void test_direct(void **state)
{
	struct trial trial;
	uint32_t entry;

	trial__init(&trial, cpu_names);
	entry = add_direct_cpus(&trial.host);
	host__set(&trial.host, entry, 0, "softirq", 0, 5 * SECOND);
	host__set(&trial.host, entry, 1, "softirq", 0, 6 * SECOND);
	trial__plan(&trial);
	trial__expect(&trial, "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}", 4);
	assert_false(trial__has(&trial, "node_cpu_seconds_total{cpu=\"2\","
					"mode=\"user\"}"));
	/* No family names it: all CPUs together. */
	trial__expect(&trial, "dart_cpustat_softirq_seconds_total", 11);
	assert_int_equal(trial__point(&trial, "dart_cpustat_softirq_seconds_total")->time_ns,
			 6000 * SECOND);
	trial__free(&trial);
}

/* Uptime is 1000 s; user and softirq are busy. */
static void test_idle(void **state)
{
	static const char idle[] = "node_cpu_seconds_total{cpu=\"1\",mode=\"idle\"}";
	static const char iowait[] = "node_cpu_seconds_total{cpu=\"1\",mode=\"iowait\"}";
	struct trial trial;
	uint32_t entry;

	trial__init(&trial, cpu_names);
	entry = add_direct_cpus(&trial.host);
	/* The kernel's idle time lags, and does not matter. */
	host__set(&trial.host, entry, 1, "idle", 0, 100 * SECOND);
	host__set(&trial.host, entry, 1, "iowait", 0, 8 * SECOND);
	trial__plan(&trial);
	trial__expect(&trial, idle, 1000 - 2 - 8);
	trial__expect(&trial, iowait, 8);

	/* A second later, of which it was busy half; and the clock was set. */
	trial.host.sample.head.start_ns += SECOND;
	trial.host.sample.head.time_ns += 50 * SECOND;
	trial.host.sample.clock.boot_ns += 50 * SECOND;
	host__set(&trial.host, entry, 1, "user", 0, 2500000000);
	trial__evaluate(&trial);
	trial__expect(&trial, idle, 1000 - 2 - 8 + 0.5);

	/* Ticks count more than the elapsed time: the value stays, and goes on from the sum. */
	trial.host.sample.head.start_ns += SECOND;
	host__set(&trial.host, entry, 1, "user", 0, 4000000000);
	trial__evaluate(&trial);
	trial__expect(&trial, idle, 1000 - 2 - 8 + 0.5);
	trial.host.sample.head.start_ns += SECOND;
	trial__evaluate(&trial);
	trial__expect(&trial, idle, 1000 - 2 - 8 + 1);

	/* Another plan of the same boot goes on as well, another boot does not. */
	trial.host.sample.head.start_ns -= 2 * SECOND;
	trial.host.table.generation = 2;
	trial__plan(&trial);
	trial__expect(&trial, idle, 1000 - 2 - 8 + 1);
	trial.host.table.generation = 3;
	trial.host.table.boot_id[0] = 'b';
	trial.host.sample.clock.boot_ns = 10 * SECOND;
	trial__plan(&trial);
	trial__expect(&trial, iowait, 6);
	trial__expect(&trial, idle, 0);
	trial__free(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a gathered row has the number that it says, its own time, and seconds that are exact",
		     test_gathered),
		TEST("direct copies are those of online CPUs, and add up without a label",
		     test_direct),
		TEST("idle time of a direct cpustat is what is left of the time since boot, and never falls",
		     test_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
