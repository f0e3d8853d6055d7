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

/* user of each CPU is 1 s, 2 s, 3 s, 4 s; CPU 2 is offline. */
static uint32_t add_direct_cpus(struct host *host)
{
	struct dart_schema *schema = host__schema(host, 64);
	static const char *const names[] = { "user", "nice",	"system",
					     "idle", "softirq", "iowait" };
	uint32_t entry, i;

	for (i = 0; i < 6; i++)
		add_field(schema, names[i], "ns", i * 8, 8, 1,
			  DART_CONTROL_FIELD_COUNTER);
	entry = host__add(host, "cpustat", schema, DART_CONTROL_COPIES_CPU, 4);
	for (i = 0; i < 4; i++)
		host__set(host, entry, i, "user", 0, (i + 1) * SECOND);
	host->online = 0xb;
	return entry;
}

static void test_direct(void **state)
{
	struct names *names = names_of(cpu_names);
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry;

	host__init(&host);
	entry = add_direct_cpus(&host);
	host__set(&host, entry, 0, "softirq", 0, 5 * SECOND);
	host__set(&host, entry, 1, "softirq", 0, 6 * SECOND);
	plan = first_points(&points, &host, names);
	assert_point(&points, plan,
		     "node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}", 4);
	assert_int_equal(find_series(plan, "node_cpu_seconds_total{cpu=\"2\","
					   "mode=\"user\"}"),
			 -1);
	/* No family names it: all CPUs together. */
	assert_point(&points, plan, "dart_cpustat_softirq_seconds_total", 11);
	assert_int_equal(point_of(&points, plan,
				  "dart_cpustat_softirq_seconds_total")
				 ->time_ns,
			 6000 * SECOND);
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

/* Uptime is 1000 s; user and softirq are busy. */
static void test_idle(void **state)
{
	static const char idle[] =
		"node_cpu_seconds_total{cpu=\"1\",mode=\"idle\"}";
	static const char iowait[] =
		"node_cpu_seconds_total{cpu=\"1\",mode=\"iowait\"}";
	struct names *names = names_of(cpu_names);
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry;

	host__init(&host);
	entry = add_direct_cpus(&host);
	/* That of the kernel lags, and does not matter. */
	host__set(&host, entry, 1, "idle", 0, 100 * SECOND);
	host__set(&host, entry, 1, "iowait", 0, 8 * SECOND);
	plan = first_points(&points, &host, names);
	assert_point(&points, plan, idle, 1000 - 2 - 8);
	assert_point(&points, plan, iowait, 8);

	/* A second later, of which it was busy half; and the clock was set. */
	host.sample.head.start_ns += SECOND;
	host.sample.head.time_ns += 50 * SECOND;
	host__set(&host, entry, 1, "user", 0, 2500000000);
	evaluate(&points, plan, &host);
	assert_point(&points, plan, idle, 1000 - 2 - 8 + 0.5);

	/* Ticks count more than has elapsed: it stays, and goes on from the sum. */
	host.sample.head.start_ns += SECOND;
	host__set(&host, entry, 1, "user", 0, 4000000000);
	evaluate(&points, plan, &host);
	assert_point(&points, plan, idle, 1000 - 2 - 8 + 0.5);
	host.sample.head.start_ns += SECOND;
	evaluate(&points, plan, &host);
	assert_point(&points, plan, idle, 1000 - 2 - 8 + 1);

	/* Another plan of the same boot goes on as well, another boot does not. */
	host.sample.head.start_ns -= 2 * SECOND;
	host.table.generation = 2;
	metric_plan__put(plan);
	plan = first_points(&points, &host, names);
	assert_point(&points, plan, idle, 1000 - 2 - 8 + 1);
	host.table.generation = 3;
	host.table.boot_id[0] = 'b';
	host.sample.head.time_ns = 5010 * SECOND;
	metric_plan__put(plan);
	plan = first_points(&points, &host, names);
	assert_point(&points, plan, iowait, 6);
	assert_point(&points, plan, idle, 0);
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

static void test_choice(void **state)
{
	static const struct wanted_field fields[] = {
		{ "value", "", DART_CONTROL_FIELD_GAUGE },
		{ "other", "", DART_CONTROL_FIELD_GAUGE },
		{}
	};
	static const char *const order[] = { "e@x+10s", "e@x",	  "e@x+100ms",
					     "e@x%2By", "e@x+1s", "e@z" };
	struct names *names = names_of("- family: named\n"
				       "  help: N.\n"
				       "  type: gauge\n"
				       "  series:\n"
				       "    - entry: e\n"
				       "      labels: {id: $selector}\n"
				       "      value: value\n");
	const struct dart_schema *schema;
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t i, entry;

	host__init(&host);
	schema = host__record(&host, fields);
	for (i = 0; i < 6; i++) {
		entry = host__add(&host, order[i], schema,
				  DART_CONTROL_COPIES_SUM, 1);
		host__mark(&host, entry, 0, 2);
		host__set(&host, entry, 0, "value", 0, i);
		host__set(&host, entry, 0, "other", 0, 10 + i);
	}
	plan = first_points(&points, &host, names);
	assert_point(&points, plan, "named{id=\"x\"}", 2);
	assert_point(&points, plan, "named{id=\"x+y\"}", 3);
	assert_point(&points, plan, "named{id=\"z\"}", 5);
	/* Fields without a name: from each entry. */
	assert_point(&points, plan,
		     "dart_e_other{interval=\"10s\",selector=\"x\"}", 10);
	assert_point(&points, plan, "dart_e_other{selector=\"x\"}", 11);
	assert_point(&points, plan, "dart_e_other{selector=\"z\"}", 15);
	assert_int_equal(find_series(plan, "dart_e_value{selector=\"z\"}"), -1);
	assert_int_equal(plan->dropped_count, 0);
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

static void test_namespaces(void **state)
{
	static const struct wanted_field fields[] = {
		{ "insegs", "segments", DART_CONTROL_FIELD_COUNTER }, {}
	};
	static const char *const order[] = { "snmp:tcp", "snmp:tcp@blue",
					     "netdev:link@blue/eth0",
					     "netdev:link@eth1" };
	struct names *names =
		names_of("- pattern: node_netstat_Tcp_$name\n"
			 "  help: N.\n"
			 "  type: untyped\n"
			 "  series:\n"
			 "    - entry: snmp:tcp\n"
			 "      fields: {insegs: InSegs}\n"
			 "- family: device_segments_total\n"
			 "  help: N.\n"
			 "  type: counter\n"
			 "  series:\n"
			 "    - entry: netdev:link\n"
			 "      labels: {device: $selector, netns: $netns}\n"
			 "      fields: {insegs: {}}\n");
	const struct dart_schema *schema;
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t i, entry;

	host__init(&host);
	schema = host__record(&host, fields);
	for (i = 0; i < 4; i++) {
		entry = host__add(&host, order[i], schema,
				  DART_CONTROL_COPIES_SUM, 1);
		host__mark(&host, entry, 0, 2);
		host__set(&host, entry, 0, "insegs", 0, i);
	}
	plan = first_points(&points, &host, names);
	assert_point(&points, plan, "node_netstat_Tcp_InSegs", 0);
	assert_point(&points, plan,
		     "dart_snmp_tcp_insegs_segments_total{netns=\"blue\"}", 1);
	assert_point(&points, plan,
		     "device_segments_total{device=\"eth0\",netns=\"blue\"}",
		     2);
	assert_point(&points, plan, "device_segments_total{device=\"eth1\"}",
		     3);
	assert_int_equal(
		find_series(plan, "dart_snmp_tcp_insegs_segments_total"), -1);
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

#define GAUGE_OF(name, lines)                                        \
	"- family: " name "\n  help: N.\n  type: gauge\n  series:\n" \
	"    - entry: e\n" lines

static void test_conversions(void **state)
{
	static const struct wanted_field fields[] = {
		{ "a", "", DART_CONTROL_FIELD_GAUGE },
		{ "b", "", DART_CONTROL_FIELD_GAUGE },
		{ "limit", "", DART_CONTROL_FIELD_GAUGE },
		{ "text", "", DART_CONTROL_FIELD_GAUGE },
		{}
	};
	struct names *names = names_of(
		GAUGE_OF("difference", "      value: a - b + 1\n") GAUGE_OF(
			"scaled", "      value: b\n      scale: 0.25\n")
			GAUGE_OF("bits", "      value: b\n      mask: 4\n") GAUGE_OF(
				"is",
				"      value: b\n      mask: 4\n      equals: 4\n")
				GAUGE_OF("is_not", "      value: b\n      equals: 4\n") GAUGE_OF(
					"limited",
					"      value: limit\n      zero_from: 9223372036854771712\n")
					GAUGE_OF(
						"when_a",
						"      value: b\n      when: a\n")
						GAUGE_OF("constant", "      value: 256\n") GAUGE_OF(
							"absent",
							"      value: b + absent\n")
							GAUGE_OF(
								"when_absent",
								"      value: b\n      when: absent\n")
								GAUGE_OF(
									"first",
									"      value: absent\n"
									"    - entry: f\n      value: a\n"
									"    - entry: e\n      value: b\n"));
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t e, f;

	host__init(&host);
	e = host__add(&host, "e+1s", host__record(&host, fields),
		      DART_CONTROL_COPIES_SUM, 1);
	f = host__add(&host, "f+1s", host.schemas[0], DART_CONTROL_COPIES_SUM,
		      1);
	host__mark(&host, e, 0, 2);
	host__mark(&host, f, 0, 2);
	host__set(&host, e, 0, "b", 0, 5);
	host__set(&host, e, 0, "limit", 0, INT64_MAX - 4095);
	host__set(&host, f, 0, "a", 0, 7);
	plan = first_points(&points, &host, names);
	/* The fields change one after the other. */
	assert_point(&points, plan, "difference", 0);
	assert_point(&points, plan, "scaled", 1.25);
	assert_point(&points, plan, "bits", 4);
	assert_point(&points, plan, "is", 1);
	assert_point(&points, plan, "is_not", 0);
	assert_point(&points, plan, "limited", 0);
	assert_point(&points, plan, "constant", 256);
	assert_int_equal(point_of(&points, plan, "when_a")->time_ns, 0);
	assert_int_equal(find_series(plan, "absent"), -1);
	assert_int_equal(find_series(plan, "when_absent"), -1);
	/* That of f stands before that of e, which is no loss. */
	assert_point(&points, plan, "first", 7);
	assert_int_equal(plan->dropped_count, 0);

	host__set(&host, e, 0, "a", 0, 9);
	host__set(&host, e, 0, "limit", 0, 4096);
	evaluate(&points, plan, &host);
	assert_point(&points, plan, "difference", 5);
	assert_point(&points, plan, "limited", 4096);
	assert_true(point_of(&points, plan, "when_a")->time_ns != 0);
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

static const struct metric_family *find_family(const struct metric_plan *plan,
					       const char *name)
{
	uint32_t i;

	for (i = 0; i < plan->family_count; i++)
		if (!strcmp(plan->families[i].name, name))
			return &plan->families[i];
	fail_msg("there is no family %s", name);
	return NULL;
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
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry, i;

	host__init(&host);
	entry = host__add(&host, "my:entry+1s", host__record(&host, fields),
			  DART_CONTROL_COPIES_SUM, 1);
	host__mark(&host, entry, 0, 2);
	for (i = 0; fields[i].name; i++)
		host__set(&host, entry, 0, fields[i].name, 0, i + 1);
	plan = first_points(&points, &host, NULL);
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		assert_point(&points, plan, expected[i].name,
			     expected[i].value);
		assert_string_equal(find_family(plan, expected[i].name)->unit,
				    expected[i].unit);
	}
	assert_string_equal(find_family(plan, expected[0].name)->help,
			    "Field time_ns of my:entry, there in ns.");
	points__free(&points);
	metric_plan__put(plan);
	host__free(&host);
}

/* Two rows with elements and a text, of an eBPF map, and a hostile one. */
static void test_rows(void **state)
{
	struct dart_schema *schema;
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry, other;
	char *row;

	host__init(&host);
	schema = host__schema(&host, 40);
	add_field(schema, "counts", "", 0, 4, 2, DART_CONTROL_FIELD_COUNTER);
	add_field(schema, "command", "", 8, 16, 1, DART_CONTROL_FIELD_TEXT);
	add_field(schema, "peer", "", 24, 16, 1, DART_CONTROL_FIELD_ADDRESS);
	entry = host__add(&host, "map-1", schema, DART_CONTROL_COPIES_ROW, 2);
	other = host__add(&host, "map_1", schema, DART_CONTROL_COPIES_ROW, 1);
	host__set(&host, entry, 1, "counts", 1, 9);
	row = host__copy(&host, entry, 1);
	strcpy(row + 8, "a\"b\\\n\xff\xc3\xa4");
	memcpy(row + 24, "\0\0\0\0\0\0\0\0\0\0\xff\xff\n\0\0\1", 16);
	strcpy((char *)host__copy(&host, other, 0) + 8, "x");
	plan = first_points(&points, &host, NULL);
	assert_point(&points, plan,
		     "dart_map_1_counts_total{index=\"1\",row=\"1\"}", 9);
	/* A control character, a byte that is not UTF-8, and a character. */
	assert_point(&points, plan,
		     "dart_map_1_info{command=\"a\\\"b\\\\?\xc3\xbf\xc3\xa4\","
		     "peer=\"10.0.0.1\",row=\"1\"}",
		     1);
	/* The other entry has the same name, and no number of its only row. */
	assert_point(&points, plan, "dart_map_1_counts_total{index=\"0\"}", 0);
	assert_int_equal(plan->dropped_count, 0);

	/* Another text is another series. */
	assert_true(metric_plan__fits(plan, &host.sample));
	row[8] = 'b';
	assert_false(metric_plan__fits(plan, &host.sample));
	points__free(&points);
	metric_plan__put(plan);
	host__free(&host);
}

static void test_equal_series(void **state)
{
	struct dart_schema *schema;
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t one, other, i;

	host__init(&host);
	schema = host__schema(&host, 24);
	add_field(schema, "a-b", "", 0, 8, 1, DART_CONTROL_FIELD_COUNTER);
	add_field(schema, "a_b", "", 8, 8, 1, DART_CONTROL_FIELD_COUNTER);
	/* The same name as a gauge. */
	add_field(schema, "a_b_total", "", 16, 8, 1,
		  DART_CONTROL_FIELD_COUNTER);
	other = host__add(&host, "m_1", schema, DART_CONTROL_COPIES_ROW, 1);
	one = host__add(&host, "m-1", schema, DART_CONTROL_COPIES_ROW, 1);
	host__set(&host, one, 0, "a-b", 0, 1);
	host__set(&host, one, 0, "a_b", 0, 2);
	host__set(&host, other, 0, "a-b", 0, 3);
	plan = first_points(&points, &host, NULL);
	/* By the names of the entries, not by their places in the table. */
	assert_point(&points, plan, "dart_m_1_a_b_total", 1);
	assert_int_equal(plan->dropped_count, 5);
	assert_point(&points, plan, "dart_scrape_dropped_series", 5);
	for (i = 1; i < plan->series_count; i++)
		assert_true(
			plan->series[i].family > plan->series[i - 1].family ||
			strcmp(plan->series[i].text, plan->series[i - 1].text) >
				0);
	points__free(&points);
	metric_plan__put(plan);
	host__free(&host);
}

static void test_changing_rows(void **state)
{
	static const char user[] =
		"node_cpu_seconds_total{cpu=\"3\",mode=\"user\"}";
	struct names *names = names_of(cpu_names);
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry;

	host__init(&host);
	entry = add_gathered_cpus(&host);
	plan = first_points(&points, &host, names);

	/* Torn: no point, and the same plan. */
	host__set(&host, entry, 1, "begin0", 0, 3);
	host__set(&host, entry, 1, "cpu", 0, 77);
	evaluate(&points, plan, &host);
	assert_int_equal(point_of(&points, plan, user)->time_ns, 0);
	assert_true(point_of(&points, plan,
			     "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"}")
			    ->time_ns != 0);
	/* A plan that is made now does not know the row's number; the next does. */
	metric_plan__put(plan);
	plan = first_points(&points, &host, names);
	assert_int_equal(find_series(plan, user), -1);
	host__mark(&host, entry, 1, 4);
	host__set(&host, entry, 1, "cpu", 0, 3);
	assert_false(metric_plan__fits(plan, &host.sample));
	metric_plan__put(plan);
	plan = first_points(&points, &host, names);
	assert_true(find_series(plan, user) >= 0);

	/* Another CPU in the row, an empty row, one that is not empty any more. */
	host__set(&host, entry, 1, "cpu", 0, 1);
	assert_false(metric_plan__fits(plan, &host.sample));
	host__set(&host, entry, 1, "cpu", 0, 3);
	assert_true(metric_plan__fits(plan, &host.sample));
	host__mark(&host, entry, 1, 0);
	assert_false(metric_plan__fits(plan, &host.sample));
	host__mark(&host, entry, 1, 6);
	assert_true(metric_plan__fits(plan, &host.sample));
	host__mark(&host, entry, 2, 2);
	assert_false(metric_plan__fits(plan, &host.sample));
	host__mark(&host, entry, 2, 0);

	/* Another table. */
	host.table.generation++;
	assert_false(metric_plan__fits(plan, &host.sample));
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

/* A record that is empty so far, as of a cgroup whose controller is not enabled. */
static void test_empty_record(void **state)
{
	static const struct wanted_field fields[] = {
		{ "current", "bytes", DART_CONTROL_FIELD_GAUGE }, {}
	};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry;

	host__init(&host);
	entry = host__add(&host, "cgroup:memory@/a+1s",
			  host__record(&host, fields), DART_CONTROL_COPIES_SUM,
			  1);
	plan = plan_of(&host, NULL);
	assert_int_equal(find_series(plan, "dart_cgroup_memory_current_bytes{"
					   "selector=\"/a\"}"),
			 -1);
	host__mark(&host, entry, 0, 2);
	assert_false(metric_plan__fits(plan, &host.sample));
	metric_plan__put(plan);
	plan = plan_of(&host, NULL);
	assert_true(find_series(plan, "dart_cgroup_memory_current_bytes{"
				      "selector=\"/a\"}") >= 0);
	metric_plan__put(plan);
	host__free(&host);
}

static void test_times(void **state)
{
	static const struct wanted_field fields[] = {
		{ "v", "", DART_CONTROL_FIELD_GAUGE }, {}
	};
	static const struct {
		uint64_t row_ns;
		int64_t point_ns;
	} times[] = {
		{ 999 * SECOND, 5999 * SECOND },
		/* After the values have landed, never, not a time: when they were READ. */
		{ 1001 * SECOND, 6000 * SECOND + SECOND / 1000 },
		{ 0, 6000 * SECOND },
		{ UINT64_MAX, 6000 * SECOND },
		{ INT64_MAX, 6000 * SECOND },
	};
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry, i;

	host__init(&host);
	entry = host__add(&host, "e+1s", host__record(&host, fields),
			  DART_CONTROL_COPIES_SUM, 1);
	host__mark(&host, entry, 0, 2);
	plan = first_points(&points, &host, NULL);
	for (i = 0; i < sizeof(times) / sizeof(*times); i++) {
		host__set(&host, entry, 0, "time", 0, times[i].row_ns);
		evaluate(&points, plan, &host);
		assert_int_equal(point_of(&points, plan, "dart_e_v")->time_ns,
				 times[i].point_ns);
	}
	points__free(&points);
	metric_plan__put(plan);
	host__free(&host);
}

static void test_histogram(void **state)
{
	struct names *names = names_of("- family: latency_seconds\n"
				       "  help: L.\n"
				       "  type: histogram\n"
				       "  unit: seconds\n"
				       "  series:\n"
				       "    - entry: named\n"
				       "      scale: 1e-9\n"
				       "      fields: {slots: {}}\n");
	struct dart_schema *schema;
	const struct metric_family *family;
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry, i;

	host__init(&host);
	schema = host__schema(&host, 64);
	add_field(schema, "slots", "ns", 0, 8, 8, DART_CONTROL_FIELD_HISTOGRAM);
	entry = host__add(&host, "named", schema, DART_CONTROL_COPIES_CPU, 4);
	host__add(&host, "other", schema, DART_CONTROL_COPIES_ROW, 2);
	for (i = 0; i < 4; i++) {
		host__set(&host, entry, i, "slots", 0, 1);
		host__set(&host, entry, i, "slots", 2, 10);
		host__set(&host, entry, i, "slots", 7, 100);
	}
	host__set(&host, entry + 1, 1, "slots", 1, 5);
	plan = first_points(&points, &host, names);
	assert_point(&points, plan,
		     "latency_seconds_bucket{le=\"0.000000001\"}", 4);
	assert_point(&points, plan,
		     "latency_seconds_bucket{le=\"0.000000003\"}", 4);
	assert_point(&points, plan,
		     "latency_seconds_bucket{le=\"0.000000007\"}", 44);
	assert_point(&points, plan,
		     "latency_seconds_bucket{le=\"0.000000127\"}", 44);
	assert_point(&points, plan, "latency_seconds_bucket{le=\"+Inf\"}", 444);
	assert_point(
		&points, plan,
		"dart_other_slots_seconds_bucket{le=\"0.000000003\",row=\"1\"}",
		5);

	/* Text formats have the buckets of each row side by side. */
	family = find_family(plan, "dart_other_slots_seconds");
	assert_int_equal(family->series_count, 16);
	for (i = 0; i < 16; i++) {
		const struct metric_series *series =
			&plan->series[plan->listing[family->first_series + i]];

		assert_int_equal(series->label_count, 2);
		assert_string_equal(series->labels[1].value, i < 8 ? "0" : "1");
		if (i % 8 == 7)
			assert_string_equal(series->labels[0].value, "+Inf");
	}
	points__free(&points);
	metric_plan__put(plan);
	names__put(names);
	host__free(&host);
}

static void test_host_labels(void **state)
{
	struct names *names = names_of(
		"- family: node_uname_info\n"
		"  help: U.\n"
		"  type: gauge\n"
		"  series:\n"
		"    - entry: dartd\n"
		"      labels: {release: $kernel_release, nodename: $node_name, domainname: $domain_name}\n"
		"      value: 1\n");
	struct dart_schema *schema;
	struct points points = {};
	struct metric_plan *plan;
	struct host host;
	uint32_t entry;

	host__init(&host);
	schema = host__schema(&host, 32);
	add_field(schema, "kernel_release", "", 0, 16, 1,
		  DART_CONTROL_FIELD_TEXT);
	add_field(schema, "domain_name", "", 16, 16, 1,
		  DART_CONTROL_FIELD_TEXT);
	entry = host__add(&host, "dartd", schema, DART_CONTROL_COPIES_ROW, 1);
	strcpy(host__copy(&host, entry, 0), "6.12.0");
	plan = first_points(&points, &host, names);
	/* A label without a text is none. */
	assert_point(&points, plan,
		     "node_uname_info{nodename=\"node-1\",release=\"6.12.0\"}",
		     1);
	assert_int_equal(find_series(plan, "dart_dartd_info"), -1);
	assert_point(
		&points, plan,
		"dart_host_info{boot_id=\"6120626f6f742069642c203136206200\","
		"host_id=\"00000000000000000000000000000000\","
		"node_name=\"node-1\"}",
		1);
	assert_int_equal(plan->label_name_count, 5);
	assert_string_equal(plan->label_names[0], "boot_id");
	assert_string_equal(plan->label_names[4], "release");
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
		TEST("direct copies are those of online CPUs, and add up without a label",
		     test_direct),
		TEST("idle time of a direct cpustat is what is left of the time since boot, and never falls",
		     test_idle),
		TEST("of several entries of an object the one with the shortest interval has the names",
		     test_choice),
		TEST("names without a namespace are of the host's own",
		     test_namespaces),
		TEST("values are sums, masked, compared, limited, scaled, and only when they count",
		     test_conversions),
		TEST("fields without a name have one with a base unit",
		     test_generic),
		TEST("rows have numbers, elements an index, and texts are labels that cannot harm",
		     test_rows),
		TEST("of equal series one stays, the same each time, and the others are counted",
		     test_equal_series),
		TEST("torn rows have no point; rows that come, go or change end the plan",
		     test_changing_rows),
		TEST("a record has series as soon as it is not empty",
		     test_empty_record),
		TEST("points are never of the future", test_times),
		TEST("histograms are cumulated buckets, in the order of their bounds",
		     test_histogram),
		TEST("labels are texts of the entry and of the table's header",
		     test_host_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
