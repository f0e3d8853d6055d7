// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points as text.  With the argument "prometheus" or "openmetrics" it prints the points of two
 * hosts instead, or with another argument of three whose types differ, for other programs to read:
 * see metric_text_read.sh.
 */
#include <math.h>
#include <stdio.h>

#include "metric_samples.h"
#include "tools/controller/base/number_text.h"
#include "tools/controller/metrics/labels/target_labels.h"
#include "tools/controller/metrics/text/text.h"

static const char yaml[] = "- family: node_load1\n"
			   "  help: \"1m load average, \\\"quoted\\\" and C:\\\\\"\n"
			   "  type: gauge\n"
			   "  series:\n"
			   "    - entry: load\n"
			   "      scale: 0.00048828125\n"
			   "      value: load1\n"
			   "- family: node_vmstat_pgfault\n"
			   "  help: V.\n"
			   "  type: untyped\n"
			   "  series:\n"
			   "    - entry: load\n"
			   "      value: faults\n"
			   "- family: node_network_receive_bytes_total\n"
			   "  help: Bytes received.\n"
			   "  type: counter\n"
			   "  unit: bytes\n"
			   "  series:\n"
			   "    - entry: link\n"
			   "      labels: {device: $name}\n"
			   "      fields: {bytes: {}}\n"
			   "- family: node_network_receive_bytes\n"
			   "  help: Takes the name that OpenMetrics gives the counter.\n"
			   "  type: gauge\n"
			   "  unit: bytes\n"
			   "  series:\n"
			   "    - entry: load\n"
			   "      value: 3\n"
			   "- family: latency_seconds\n"
			   "  help: L.\n"
			   "  type: histogram\n"
			   "  unit: seconds\n"
			   "  series:\n"
			   "    - entry: link\n"
			   "      labels: {device: $name}\n"
			   "      scale: 1e-9\n"
			   "      fields: {slots: {}}\n";

struct text_host {
	struct host host;
	struct names *names;
	struct points points;
	struct metric_plan *plan;
	struct target_labels *labels;
	uint32_t load;
	uint32_t link;
};

static void text_host__add_link(struct text_host *host)
{
	struct dart_schema *schema = host__schema(&host->host, 64);

	add_field(schema, "name", "", 0, 16, 1, DART_CONTROL_FIELD_TEXT);
	add_field(schema, "bytes", "bytes", 16, 8, 1, DART_CONTROL_FIELD_COUNTER);
	add_field(schema, "slots", "ns", 24, 8, 4, DART_CONTROL_FIELD_HISTOGRAM);
	host->link = host__add(&host->host, "link", schema, DART_CONTROL_COPIES_ROW, 2);
	strcpy(host__copy(&host->host, host->link, 0), "eth0");
	strcpy(host__copy(&host->host, host->link, 1), "a\\\"\nb");
	host__set(&host->host, host->link, 0, "bytes", 0, 1ULL << 63);
	host__set(&host->host, host->link, 1, "slots", 1, 7);
	host__set(&host->host, host->link, 1, "slots", 3, 1);
}

static void text_host__init(struct text_host *host, const char *name, const char *labels)
{
	static const struct wanted_field load[] = {
		{ "load1", "", DART_CONTROL_FIELD_GAUGE },
		{ "faults", "", DART_CONTROL_FIELD_COUNTER },
		{}
	};
	struct target_settings target = { .name = (char *)name };

	*host = (struct text_host){};
	host__init(&host->host);
	host->names = names_of(yaml);
	host->load = host__add(&host->host, "load+1s", host__record(&host->host, load),
			       DART_CONTROL_COPIES_SUM, 1);
	host__mark(&host->host, host->load, 0, 2);
	host__set(&host->host, host->load, 0, "time", 0, 999250000000);
	host__set(&host->host, host->load, 0, "load1", 0, 1024);
	host__set(&host->host, host->load, 0, "faults", 0, 12345678901234567);
	text_host__add_link(host);
	host->plan = plan_of(&host->host, host->names);
	assert_int_equal(points__prepare(&host->points, host->plan, &host->host.sample), 0);
	evaluate(&host->points, host->plan, &host->host);
	if (labels)
		target.labels = shared_text__new(labels);
	host->labels = target_labels__new(&target, host->plan);
	assert_non_null(host->labels);
	shared_text__release(target.labels);
}

static void text_host__free(struct text_host *host)
{
	target_labels__put(host->labels);
	points__free(&host->points);
	metric_plan__put(host->plan);
	names__put(host->names);
	host__free(&host->host);
}

static struct metric_text_target text_host__target(const struct text_host *host)
{
	return (struct metric_text_target){
		.labels = host->labels->set.text,
		.plan = host->plan,
		.points = host->points.points,
	};
}

/* A host whose families have other types than those of the same names of other hosts. */
static const struct metric_family odd_families[] = {
	{ .name = "latency_seconds", .help = "", .unit = "", .type = METRIC_GAUGE,
	  .series_count = 1 },
	{ .name = "node_load1", .help = "", .unit = "", .type = METRIC_HISTOGRAM,
	  .first_series = 1, .series_count = 1 },
	{ .name = "node_network_receive_bytes_total", .help = "", .unit = "", .type = METRIC_GAUGE,
	  .first_series = 2, .series_count = 1 },
};
static const struct metric_series odd_series[] = {
	{ .family = 0, .name = "latency_seconds", .text = "" },
	{ .family = 1, .name = "node_load1_bucket", .text = "le=\"+Inf\"" },
	{ .family = 2, .name = "node_network_receive_bytes_total", .text = "" },
};
static const struct metric_plan odd_plan = {
	.families = odd_families,
	.family_count = 3,
	.series = odd_series,
	.series_count = 3,
};
static const struct metric_point odd_points[] = {
	{ 1, 6000 * SECOND }, { 2, 6000 * SECOND }, { 3, 6000 * SECOND },
};

/* The caller frees it. */
static char *text_of_three(enum metric_text_format format)
{
	struct metric_text_target targets[3];
	struct text_host one, other;
	size_t length;
	char *text;

	text_host__init(&one, "one:4792", NULL);
	text_host__init(&other, "other:4792", NULL);
	targets[0] = (struct metric_text_target){
		.labels = "instance=\"odd:4792\"",
		.plan = &odd_plan,
		.points = odd_points,
	};
	targets[1] = text_host__target(&one);
	targets[2] = text_host__target(&other);
	assert_int_equal(metric_text__print(targets, 3, format, true, &text, &length), 0);
	text_host__free(&one);
	text_host__free(&other);
	return text;
}

/* The caller frees it. */
static char *text_of_two(enum metric_text_format format, bool has_times)
{
	struct metric_text_target targets[2];
	struct text_host one, other;
	size_t length;
	char *text;

	text_host__init(&one, "one:4792", NULL);
	text_host__init(&other, "other:4792", "{\"device\":\"mine\",\"rack\":\"a\\\"7\"}");
	/* One series lacks a point in this scrape. */
	other.points.points[find_series(other.plan, "node_load1")].time_ns = 0;
	targets[0] = text_host__target(&one);
	targets[1] = text_host__target(&other);
	assert_int_equal(metric_text__print(targets, 2, format, has_times, &text, &length), 0);
	assert_int_equal(strlen(text), length);
	text_host__free(&one);
	text_host__free(&other);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("this is not in the text:\n%s\n%s", part, text);
}

static void test_prometheus(void **state)
{
	char *text = text_of_two(METRIC_TEXT_PROMETHEUS, true);

	assert_has(text, "# HELP node_load1 1m load average, \"quoted\" and C:\\\\\n"
			 "# TYPE node_load1 gauge\n"
			 "node_load1{instance=\"one:4792\"} 0.5 5999250\n"
			 "# HELP node_network_receive_bytes ");
	assert_has(
		text,
		"# TYPE node_network_receive_bytes_total counter\n"
		"node_network_receive_bytes_total{instance=\"one:4792\","
		"device=\"a\\\\\\\"\\\\x0ab\"} 0 6000000\n"
		"node_network_receive_bytes_total{instance=\"one:4792\","
		"device=\"eth0\"} 9.223372036854776e+18 6000000\n"
		/* A label of the target that series carry as well. */
		"node_network_receive_bytes_total{instance=\"other:4792\","
		"rack=\"a\\\"7\",target_device=\"mine\",device=\"a\\\\\\\"\\\\x0ab\"} 0 6000000\n");
	assert_has(text, "# TYPE node_vmstat_pgfault untyped\n"
			 "node_vmstat_pgfault{instance=\"one:4792\"} "
			 "12345678901234568 5999250\n");
	assert_null(strstr(text, "# UNIT"));
	assert_null(strstr(text, "# EOF"));
	free(text);
}

static void test_openmetrics(void **state)
{
	char *text = text_of_two(METRIC_TEXT_OPENMETRICS, true);

	assert_has(text, "# HELP node_load1 1m load average, \\\"quoted\\\" and C:\\\\\n");
	assert_has(text, "node_load1{instance=\"one:4792\"} 0.5 5999.25\n");
	assert_has(text, "# TYPE node_vmstat_pgfault unknown\n");
	assert_has(text, "# HELP dart_scrape_missed "
			 "Scrapes that were due before the previous one ended.\n"
			 "# TYPE dart_scrape_missed counter\n"
			 "dart_scrape_missed_total{instance=\"one:4792\"} 2 6000\n");
	assert_has(text, "# TYPE dart_scrape_duration_seconds gauge\n"
			 "# UNIT dart_scrape_duration_seconds seconds\n");
	/* Its name is taken. */
	assert_has(text, "# TYPE node_network_receive_bytes_total unknown\n");
	assert_has(
		text,
		"latency_seconds_bucket{instance=\"one:4792\",device=\"a\\\\\\\"\\\\x0ab\",le=\"0.000000001\"} 0 6000\n"
		"latency_seconds_bucket{instance=\"one:4792\",device=\"a\\\\\\\"\\\\x0ab\",le=\"0.000000003\"} 7 6000\n"
		"latency_seconds_bucket{instance=\"one:4792\",device=\"a\\\\\\\"\\\\x0ab\",le=\"0.000000007\"} 7 6000\n"
		"latency_seconds_bucket{instance=\"one:4792\",device=\"a\\\\\\\"\\\\x0ab\",le=\"+Inf\"} 8 6000\n"
		"latency_seconds_bucket{instance=\"one:4792\",device=\"eth0\",le=\"0.000000001\"}");
	assert_string_equal(text + strlen(text) - strlen("\n# EOF\n"), "\n# EOF\n");
	free(text);
}

static void test_types(void **state)
{
	char *text = text_of_three(METRIC_TEXT_PROMETHEUS);

	assert_has(text, "# TYPE latency_seconds untyped\n"
			 "latency_seconds{instance=\"odd:4792\"} 1 6000000\n"
			 "latency_seconds_bucket{instance=\"one:4792\"");
	assert_has(text, "\nlatency_seconds_bucket{instance=\"other:4792\"");
	assert_has(text, "# TYPE node_load1 untyped\n"
			 "node_load1{instance=\"one:4792\"} 0.5 5999250\n"
			 "node_load1{instance=\"other:4792\"} 0.5 5999250\n"
			 "node_load1_bucket{instance=\"odd:4792\",le=\"+Inf\"} 2 6000000\n");
	/* Other families keep their types. */
	assert_has(text, "# TYPE dart_scrape_missed_total counter\n");
	free(text);
	text = text_of_three(METRIC_TEXT_OPENMETRICS);
	assert_has(text, "# TYPE node_network_receive_bytes_total unknown\n"
			 "node_network_receive_bytes_total{instance=\"odd:4792\"} 3 6000\n"
			 "node_network_receive_bytes_total{instance=\"one:4792\",");
	free(text);
}

static void test_without_times(void **state)
{
	char *text = text_of_two(METRIC_TEXT_PROMETHEUS, false);
	size_t length;

	assert_has(text, "node_load1{instance=\"one:4792\"} 0.5\n");
	free(text);
	assert_int_equal(metric_text__print(NULL, 0, METRIC_TEXT_OPENMETRICS, true, &text, &length),
			 0);
	assert_string_equal(text, "# EOF\n");
	free(text);
	assert_int_equal(metric_text__print(NULL, 0, METRIC_TEXT_PROMETHEUS, true, &text, &length),
			 0);
	assert_string_equal(text, "");
	free(text);
}

static void test_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} exact[] = {
		{ 0, "0" },
		{ -0.25, "-0.25" },
		{ 1e15, "1000000000000000" },
		{ 9007199254740991, "9007199254740991" },
		{ 1e300, "1e+300" },
		{ 1e-9, "0.000000001" },
		{ 1e-12, "1e-12" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 123456.789012345, "123456.789012345" },
		{ INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" },
		{ NAN, "NaN" },
	};
	char text[NUMBER_TEXT_MAX];
	uint64_t random = 1;
	double value;
	uint64_t bits;
	size_t i;

	for (i = 0; i < sizeof(exact) / sizeof(*exact); i++) {
		assert_int_equal(number_text__print(exact[i].value, text), strlen(exact[i].text));
		assert_string_equal(text, exact[i].text);
	}
	for (i = 0; i < 200000; i++) {
		bits = (uint64_t)random__below(&random, UINT32_MAX) << 32 |
		       random__below(&random, UINT32_MAX);
		if (i % 2)
			value = (double)(bits >> (i % 64)) / 1e9;
		else
			memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		number_text__print(value, text);
		if (strtod(text, NULL) != value)
			fail_msg("%s is not %.17g", text, value);
	}
	assert_int_equal(number_text__print_decimal(INT64_MIN, 9, text), 21);
	assert_string_equal(text, "-9223372036.854775808");
}

static int print(enum metric_text_format format, bool are_mixed)
{
	char *text = are_mixed ? text_of_three(format) : text_of_two(format, true);

	fputs(text, stdout);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST("the Prometheus format has families of all targets, their labels and milliseconds",
		     test_prometheus),
		TEST("OpenMetrics has counters by their other name, units, seconds, sorted buckets and an end",
		     test_openmetrics),
		TEST("a family of several types has all series, and no type", test_types),
		TEST("points can be without times, and there may be none", test_without_times),
		TEST("numbers are short, and the same when they are read back", test_numbers),
	};

	if (argc > 1)
		return print(strcmp(argv[1], "openmetrics") ? METRIC_TEXT_PROMETHEUS :
							      METRIC_TEXT_OPENMETRICS,
			     argc > 2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
