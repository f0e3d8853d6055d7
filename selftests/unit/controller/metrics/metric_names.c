// SPDX-License-Identifier: GPL-2.0-only
/* Names of metrics in YAML: accepted files, and the sentences that refuse others. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metric_samples.h"

#define BEGIN "- family: a_total\n  help: A.\n  type: counter\n"
#define SERIES BEGIN "  series:\n    - entry: e\n"

static void test_refused(void **state)
{
	static const struct {
		const char *yaml;
		const char *error;
	} wrong[] = {
		{ "a: 1\n", "test.yaml:1: expected a list" },
		{ "- family: a\n  help: A.\n",
		  "test.yaml:1: 'type' is missing" },
		{ "- family: a\n  type: gauge\n  series: []\n",
		  "test.yaml:1: 'help' is missing" },
		{ "- family: a\n  type: gauge\n  help: A.\n",
		  "test.yaml:1: 'series' is missing" },
		{ "- help: A.\n  type: gauge\n  series: []\n",
		  "test.yaml:1: an item has either 'family' or 'pattern'" },
		{ "- family: a-b\n  help: A.\n  type: gauge\n  series: []\n",
		  "test.yaml:1: 'a-b' cannot be the name of a family" },
		{ "- family: a\n  help: A.\n  type: sum\n  series: []\n",
		  "test.yaml:3: unknown type 'sum' (counter, gauge, untyped or histogram)" },
		{ "- family: a\n  help: A.\n  type: counter\n  series: []\n",
		  "test.yaml:1: the counter 'a' does not end with '_total'" },
		{ "- family: a\n  help: A.\n  type: gauge\n  unit: bytes\n  series: []\n",
		  "test.yaml:1: the name 'a' does not end with its unit 'bytes'" },
		{ "- family: a\n  colour: red\n",
		  "test.yaml:2: unknown key 'colour' (the keys here are family, pattern, help" },
		{ SERIES "      fields: {f: }\n" SERIES "      fields: {f: }\n",
		  "test.yaml:6: a value is missing" },
		{ SERIES "      fields: {f: {}}\n" SERIES "      fields: {f: {}}\n",
		  "test.yaml:7: the family 'a_total' is already in test.yaml:1 (remove one)" },
		{ BEGIN "  series:\n    - fields: {f: {}}\n",
		  "test.yaml:5: a series has 'entry', and either 'fields' or 'value'" },
		{ SERIES "      fields: {f: {}}\n      value: f\n",
		  "test.yaml:5: a series has 'entry', and either 'fields' or 'value'" },
		{ BEGIN "  series:\n    - entry: e@x\n      value: f\n",
		  "test.yaml:5: 'e@x' is not a source" },
		{ SERIES "      value: f\n      scale: -1\n",
		  "test.yaml:7: the scale '-1' is not a number above 0" },
		{ SERIES "      value: f\n      scale: 1e-9s\n",
		  "test.yaml:7: the scale '1e-9s' is not a number above 0" },
		{ SERIES "      value: f +\n",
		  "test.yaml:6: the value ends with an operator" },
		{ SERIES "      value: f * g\n",
		  "test.yaml:6: '*' is not expected here" },
		{ SERIES "      value: f g\n",
		  "test.yaml:6: 'g' is not expected here" },
		{ SERIES "      value: '- f'\n",
		  "test.yaml:6: '-' is not expected here" },
		{ SERIES "      value: f + 1234567890123456789\n",
		  "test.yaml:6: the number 1234567890123456789 is too large" },
		{ SERIES "      value: f\n      mask: 18446744073709551616\n",
		  "test.yaml:7: '18446744073709551616' is not a number from 0 to 2^64 - 1" },
		{ SERIES "      value: f\n      equals: 1\n      zero_from: 2\n",
		  "test.yaml:7: a series has either 'equals', 'above' or 'zero_from'" },
		{ SERIES "      value: f\n      above: 1\n      zero_from: 2\n",
		  "test.yaml:7: a series has either 'equals', 'above' or 'zero_from'" },
		{ SERIES "      value: f\n      above: -1\n",
		  "test.yaml:7: '-1' is not a number from 0 to 2^64 - 1" },
		{ SERIES "      value: f\n      signed: 1\n",
		  "test.yaml:7: 'signed' is true or false" },
		{ SERIES "      value: f\n      when: a b == 1\n",
		  "test.yaml:7: 'a b' cannot be the name of a field" },
		{ SERIES "      value: f\n      when: a == -1\n",
		  "test.yaml:7: '-1' is not a number from 0 to 2^64 - 1" },
		{ SERIES "      value: f\n      when: a == \n",
		  "test.yaml:7: 'a ==' cannot be the name of a field" },
		{ SERIES "      value: f\n      when: ''\n",
		  "test.yaml:7: '' cannot be the name of a field" },
		{ SERIES "      value: f\n      per: a b\n",
		  "test.yaml:7: 'a b' cannot be the name of a field" },
		{ SERIES "      value: f\n      labels: {a-b: c}\n",
		  "test.yaml:7: 'a-b' cannot be the name of a label" },
		{ SERIES "      value: f\n      labels: {le: c}\n",
		  "test.yaml:7: 'le' cannot be the name of a label" },
		{ SERIES "      value: f\n      labels: {__name__: c}\n",
		  "test.yaml:7: '__name__' cannot be the name of a label" },
		{ SERIES "      value: f\n      rows: 0\n",
		  "test.yaml:7: '0' cannot be the name of a label" },
		{ SERIES "      value: f\n      labels: {a: ''}\n",
		  "test.yaml:7: the value of 'a' is not a text of 1 to 1000 bytes" },
		{ SERIES "      value: f\n      labels: {a: b, a: c}\n",
		  "test.yaml:7: 'a' occurs twice" },
		{ SERIES "      labels: {a: b}\n      fields: {f: {a: c}}\n",
		  "test.yaml:5: 'a' is a label twice" },
		{ SERIES "      rows: cpu\n      fields: {f: {cpu: c}}\n",
		  "test.yaml:5: 'cpu' is a label twice" },
		{ SERIES "      fields: {f: {a: $selector}}\n",
		  "test.yaml:6: '$selector': labels of a field are constant" },
		{ "- family: h\n  help: H.\n  type: histogram\n  series:\n"
		  "    - entry: e\n      value: a + b\n",
		  "test.yaml:5: a histogram is the values of one field" },
		{ "- pattern: a\n  help: A.\n  type: gauge\n  series: []\n",
		  "test.yaml:1: a pattern has '$name' once" },
		{ "- pattern: a_$name\n  help: A.\n  type: gauge\n  series:\n"
		  "    - entry: e\n      value: f\n",
		  "test.yaml:6: a pattern has 'fields', not 'value'" },
		{ "- pattern: a_$name\n  help: A.\n  type: gauge\n  series:\n"
		  "    - entry: e\n      fields: {f: 'g h'}\n",
		  "test.yaml:6: 'a_g h' cannot be the name of a family" },
		{ "- pattern: a_$name\n  help: A.\n  type: gauge\n  series:\n"
		  "    - entry: e\n      fields: {f: {a: b}}\n",
		  "test.yaml:6: expected FIELD: NAME" },
	};
	struct dart_error error;
	struct names *names;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		error.text[0] = '\0';
		assert_int_equal(names__parse(wrong[i].yaml, strlen(wrong[i].yaml), "test.yaml",
					      &names, &error),
				 -EINVAL);
		if (strncmp(error.text, wrong[i].error, strlen(wrong[i].error)))
			fail_msg("%s\nis not\n%s", error.text, wrong[i].error);
	}
}

static void test_pattern(void **state)
{
	struct names *names = names_of("- pattern: node_netstat_Tcp_$name\n"
				       "  help: Statistic Tcp$name.\n"
				       "  type: untyped\n"
				       "  series:\n"
				       "    - entry: snmp:tcp\n"
				       "      fields: {insegs: InSegs, outsegs: OutSegs}\n"
				       "    - entry: snmp:tcp6\n"
				       "      fields: {insegs: InSegs}\n");

	assert_int_equal(names->family_count, 2);
	assert_string_equal(names->families[0].name, "node_netstat_Tcp_InSegs");
	assert_string_equal(names->families[0].help, "Statistic TcpInSegs.");
	assert_int_equal(names->families[1].type, METRIC_UNTYPED);
	assert_int_equal(names->series_count, 2);
	assert_int_equal(names->series[1].values[0].family, 0);
	names__put(names);
}

static void test_value(void **state)
{
	struct names *names = names_of("- family: a_bytes\n"
				       "  help: A.\n"
				       "  type: gauge\n"
				       "  unit: bytes\n"
				       "  series:\n"
				       "    - entry: e\n"
				       "      labels: {id: $selector, kind: x, text: $command}\n"
				       "      mask: 255\n"
				       "      zero_from: 9223372036854775807\n"
				       "      when: limit\n"
				       "      per: page_size\n"
				       "      value: total - free + 12\n"
				       "    - entry: e\n"
				       "      value: 1\n");
	const struct name_series *series = names->series;
	const struct name_term *terms = series->values->terms;

	assert_int_equal(series->label_count, 3);
	assert_int_equal(series->labels[0].kind, NAME_LABEL_SELECTOR);
	assert_int_equal(series->labels[1].kind, NAME_LABEL_CONSTANT);
	assert_int_equal(series->labels[2].kind, NAME_LABEL_FIELD);
	assert_string_equal(series->labels[2].text, "command");
	assert_string_equal(series->when, "limit");
	assert_string_equal(series->per, "page_size");
	assert_int_equal(series->mask, 255);
	assert_true(series->zero_from == INT64_MAX);
	assert_int_equal(series->values->term_count, 3);
	assert_string_equal(terms[0].field, "total");
	assert_string_equal(terms[1].field, "free");
	assert_true(terms[1].is_minus && !terms[2].is_minus);
	assert_null(terms[2].field);
	assert_int_equal(terms[2].constant, 12);

	/* The list of a source. */
	assert_int_equal(names__of_source(names, "e"), 0);
	assert_int_equal(series->next, 1);
	assert_int_equal(names->series[1].next, NAMES_END);
	assert_int_equal(names__of_source(names, "f"), NAMES_END);
	assert_int_equal(names__of_source(NULL, "e"), NAMES_END);
	names__put(names);
}

static void write_file(const char *directory, const char *name, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_file(const char *directory, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	unlink(path);
}

static void test_directory(void **state)
{
	char directory[] = "/tmp/metric_names.XXXXXX";
	struct dart_error error;
	struct names *names;

	assert_non_null(mkdtemp(directory));
	assert_int_equal(names__load(directory, &names, &error), -ENOENT);
	write_file(directory, "b.yaml", "# Nothing.\n");
	write_file(directory, "a.yaml", SERIES "      value: f\n");
	write_file(directory, "README.md", "- not YAML: [\n");
	assert_int_equal(names__load(directory, &names, &error), 0);
	assert_int_equal(names->family_count, 1);
	names__put(names);

	/* A family that is in two files: where, and where as well. */
	write_file(directory, "b.yaml", "#\n" SERIES "      value: f\n");
	assert_int_equal(names__load(directory, &names, &error), -EINVAL);
	assert_non_null(strstr(error.text, "b.yaml:2: the family 'a_total' is already in "));
	assert_non_null(strstr(error.text, "a.yaml:1"));
	remove_file(directory, "a.yaml");
	remove_file(directory, "b.yaml");
	remove_file(directory, "README.md");
	rmdir(directory);
	assert_int_equal(names__load(directory, &names, &error), -ENOENT);
}

/* With the argument DIRECTORY: loads its files instead, and prints their contents. */
static int load(const char *directory)
{
	struct dart_error error;
	struct names *names;

	if (names__load(directory, &names, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("%u families\n", names->family_count);
	names__put(names);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST("each mistake in a file of names is refused with its line, and what is expected",
		     test_refused),
		TEST("a pattern is a family for each name of its fields", test_pattern),
		TEST("values are sums of fields and numbers, with labels of entry, row and text",
		     test_value),
		TEST("all YAML files of a directory are loaded, and no family is in two of them",
		     test_directory),
	};

	if (argc > 1)
		return load(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
