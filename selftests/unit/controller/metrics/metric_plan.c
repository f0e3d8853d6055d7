// SPDX-License-Identifier: GPL-2.0-only
/* Families and series of a plan: the names and labels of entries. */
#include "metric_trial.h"

static void test_choice(void **state)
{
	static const char names[] = "- family: named\n"
				    "  help: N.\n"
				    "  type: gauge\n"
				    "  series:\n"
				    "    - entry: e\n"
				    "      labels: {id: $selector}\n"
				    "      value: value\n";
	static const struct wanted_field fields[] = {
		{ "value", "", DART_CONTROL_FIELD_GAUGE },
		{ "other", "", DART_CONTROL_FIELD_GAUGE },
		{}
	};
	static const char *const order[] = { "e@x+10s", "e@x",	  "e@x+100ms",
					     "e@x%2By", "e@x+1s", "e@z" };
	const struct dart_schema *schema;
	struct trial trial;
	uint32_t i, entry;

	trial__init(&trial, names);
	schema = host__record(&trial.host, fields);
	for (i = 0; i < 6; i++) {
		entry = trial__add(&trial, order[i], schema);
		host__set(&trial.host, entry, 0, "value", 0, i);
		host__set(&trial.host, entry, 0, "other", 0, 10 + i);
	}
	trial__plan(&trial);
	trial__expect(&trial, "named{id=\"x\"}", 2);
	trial__expect(&trial, "named{id=\"x+y\"}", 3);
	trial__expect(&trial, "named{id=\"z\"}", 5);
	/* Fields without a name: from each entry. */
	trial__expect(&trial, "dart_e_other{interval=\"10s\",selector=\"x\"}", 10);
	trial__expect(&trial, "dart_e_other{selector=\"x\"}", 11);
	trial__expect(&trial, "dart_e_other{selector=\"z\"}", 15);
	assert_false(trial__has(&trial, "dart_e_value{selector=\"z\"}"));
	assert_int_equal(trial.plan->dropped_count, 0);
	trial__free(&trial);
}

static void test_namespaces(void **state)
{
	static const char names[] = "- pattern: node_netstat_Tcp_$name\n"
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
				    "      fields: {insegs: {}}\n";
	static const struct wanted_field fields[] = {
		{ "insegs", "segments", DART_CONTROL_FIELD_COUNTER }, {}
	};
	static const char *const order[] = { "snmp:tcp", "snmp:tcp@blue", "netdev:link@blue/eth0",
					     "netdev:link@eth1" };
	const struct dart_schema *schema;
	struct trial trial;
	uint32_t i, entry;

	trial__init(&trial, names);
	schema = host__record(&trial.host, fields);
	for (i = 0; i < 4; i++) {
		entry = trial__add(&trial, order[i], schema);
		host__set(&trial.host, entry, 0, "insegs", 0, i);
	}
	trial__plan(&trial);
	trial__expect(&trial, "node_netstat_Tcp_InSegs", 0);
	trial__expect(&trial, "dart_snmp_tcp_insegs_segments_total{netns=\"blue\"}", 1);
	trial__expect(&trial, "device_segments_total{device=\"eth0\",netns=\"blue\"}", 2);
	trial__expect(&trial, "device_segments_total{device=\"eth1\"}", 3);
	assert_false(trial__has(&trial, "dart_snmp_tcp_insegs_segments_total"));
	trial__free(&trial);
}

/* A host with both sources of disks: the direct source stands in for the other. */
static void test_substitute(void **state)
{
	static const struct wanted_field direct[] = {
		{ "ios.read", "requests", DART_CONTROL_FIELD_COUNTER },
		{ "ios.write", "requests", DART_CONTROL_FIELD_COUNTER },
		{}
	};
	static const struct wanted_field gathered[] = {
		{ "read_ios", "requests", DART_CONTROL_FIELD_COUNTER }, {}
	};
	static const char names[] = "- family: reads_total\n"
				    "  help: R.\n"
				    "  type: counter\n"
				    "  series:\n"
				    "    - entry: disk:io\n"
				    "      labels: {device: $selector}\n"
				    "      value: read_ios\n"
				    "    - entry: disk:stats\n"
				    "      labels: {device: $selector}\n"
				    "      value: ios.read\n";
	static const char *const disks[] = { "disk:stats@a", "disk:stats@a+1s", "disk:stats@b" };
	const struct dart_schema *schema;
	struct trial trial;
	uint32_t entry, i;

	trial__init(&trial, names);
	schema = host__record(&trial.host, direct);
	for (i = 0; i < 3; i++) {
		entry = trial__add(&trial, disks[i], schema);
		host__set(&trial.host, entry, 0, "ios.read", 0, 10 + i);
	}
	entry = trial__add(&trial, "disk:io@a+1s", host__record(&trial.host, gathered));
	host__set(&trial.host, entry, 0, "read_ios", 0, 7);
	trial__plan(&trial);
	trial__expect(&trial, "reads_total{device=\"a\"}", 7);
	trial__expect(&trial, "reads_total{device=\"b\"}", 12);
	/* Nothing is lost by that. */
	trial__expect(&trial, "dart_scrape_dropped_series", 0);
	trial__free(&trial);
}

/* Applications and their instances are labels of their own. */
static void test_instances(void **state)
{
	static const char names[] = "- family: named\n"
				    "  help: N.\n"
				    "  type: gauge\n"
				    "  series:\n"
				    "    - entry: e\n"
				    "      labels: {application: $application, backend: $instance}\n"
				    "      value: value\n";
	static const struct wanted_field fields[] = { { "value", "", DART_CONTROL_FIELD_GAUGE },
						      {} };
	static const char *const entries[] = { "e@web", "e@web[boot.a]+1s", "e@web[x[0]]",
					       "e@web[" };
	const struct dart_schema *schema;
	struct trial trial;
	uint32_t i, entry;

	trial__init(&trial, names);
	schema = host__record(&trial.host, fields);
	for (i = 0; i < 4; i++) {
		entry = trial__add(&trial, entries[i], schema);
		host__set(&trial.host, entry, 0, "value", 0, i);
	}
	trial__plan(&trial);
	trial__expect(&trial, "named{application=\"web\"}", 0);
	trial__expect(&trial, "named{application=\"web\",backend=\"boot.a\"}", 1);
	trial__expect(&trial, "named{application=\"web\",backend=\"x[0]\"}", 2);
	trial__expect(&trial, "named{application=\"web[\"}", 3);
	trial__free(&trial);
}

static void test_equal_series(void **state)
{
	struct dart_schema *schema;
	struct trial trial;
	uint32_t one, other, i;

	trial__init(&trial, NULL);
	schema = host__schema(&trial.host, 24);
	add_field(schema, "a-b", "", 0, 8, 1, DART_CONTROL_FIELD_COUNTER);
	add_field(schema, "a_b", "", 8, 8, 1, DART_CONTROL_FIELD_COUNTER);
	/* The same name as a gauge. */
	add_field(schema, "a_b_total", "", 16, 8, 1, DART_CONTROL_FIELD_COUNTER);
	other = host__add(&trial.host, "m_1", schema, DART_CONTROL_COPIES_ROW, 1);
	one = host__add(&trial.host, "m-1", schema, DART_CONTROL_COPIES_ROW, 1);
	host__set(&trial.host, one, 0, "a-b", 0, 1);
	host__set(&trial.host, one, 0, "a_b", 0, 2);
	host__set(&trial.host, other, 0, "a-b", 0, 3);
	trial__plan(&trial);
	/* By the names of the entries, not by their places in the table. */
	trial__expect(&trial, "dart_m_1_a_b_total", 1);
	assert_int_equal(trial.plan->dropped_count, 5);
	trial__expect(&trial, "dart_scrape_dropped_series", 5);
	for (i = 1; i < trial.plan->series_count; i++)
		assert_true(trial.plan->series[i].family > trial.plan->series[i - 1].family ||
			    strcmp(trial.plan->series[i].text, trial.plan->series[i - 1].text) > 0);
	trial__free(&trial);
}

/* Text fields as in a file system, which change when another one is mounted. */
static void test_text_labels(void **state)
{
	static const struct wanted_field fields[] = {
		{ "size", "bytes", DART_CONTROL_FIELD_GAUGE },
		{ "device", "", DART_CONTROL_FIELD_TEXT },
		{ "fstype", "", DART_CONTROL_FIELD_TEXT },
		{}
	};
	static const char names[] =
		"- family: size_bytes\n"
		"  help: S.\n"
		"  type: gauge\n"
		"  series:\n"
		"    - entry: filesystem\n"
		"      labels: {device: $device, fstype: $fstype, mountpoint: $selector}\n"
		"      value: size\n";
	struct trial trial;
	uint32_t entry;

	trial__init(&trial, names);
	entry = trial__add(&trial, "filesystem@/a%20b+10s", host__record(&trial.host, fields));
	host__set(&trial.host, entry, 0, "size", 0, 4096);
	host__set(&trial.host, entry, 0, "fstype", 0, 0x34747865); /* ext4 */
	trial__plan(&trial);
	trial__expect(&trial, "size_bytes{fstype=\"ext4\",mountpoint=\"/a b\"}", 4096);
	host__set(&trial.host, entry, 0, "device", 0, 0x61); /* a */
	assert_false(trial__fits(&trial));
	trial__plan(&trial);
	trial__expect(&trial, "size_bytes{device=\"a\",fstype=\"ext4\",mountpoint=\"/a b\"}", 4096);
	trial__free(&trial);
}

static void test_host_labels(void **state)
{
	static const char names[] =
		"- family: node_uname_info\n"
		"  help: U.\n"
		"  type: gauge\n"
		"  series:\n"
		"    - entry: dartd\n"
		"      labels: {release: $kernel_release, nodename: $node_name, domainname: $domain_name}\n"
		"      value: 1\n";
	struct dart_schema *schema;
	struct trial trial;
	uint32_t entry;

	trial__init(&trial, names);
	schema = host__schema(&trial.host, 32);
	add_field(schema, "kernel_release", "", 0, 16, 1, DART_CONTROL_FIELD_TEXT);
	add_field(schema, "domain_name", "", 16, 16, 1, DART_CONTROL_FIELD_TEXT);
	entry = host__add(&trial.host, "dartd", schema, DART_CONTROL_COPIES_ROW, 1);
	strcpy(host__copy(&trial.host, entry, 0), "6.12.0");
	trial__plan(&trial);
	/* A label without a text is left out. */
	trial__expect(&trial,
		      "node_uname_info{nodename=\"node-1\",release=\"6.12.0\"}",
		      1);
	assert_false(trial__has(&trial, "dart_dartd_info"));
	trial__expect(
		&trial,
		"dart_host_info{boot_id=\"6120626f6f742069642c203136206200\","
		"host_id=\"00000000000000000000000000000000\","
		"node_name=\"node-1\"}",
		1);
	assert_int_equal(trial.plan->label_name_count, 5);
	assert_string_equal(trial.plan->label_names[0], "boot_id");
	assert_string_equal(trial.plan->label_names[4], "release");
	trial__free(&trial);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("of several entries of an object the one with the shortest interval has the names",
		     test_choice),
		TEST("names without a namespace are of the host's own", test_namespaces),
		TEST("a source that stands in for another one is left out silently where both are",
		     test_substitute),
		TEST("an application and its instance are labels of their own", test_instances),
		TEST("of equal series one stays, the same each time, and the others are counted",
		     test_equal_series),
		TEST("labels are texts of a row, which end the plan when they change",
		     test_text_labels),
		TEST("labels are texts of the entry and of the table's header", test_host_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
