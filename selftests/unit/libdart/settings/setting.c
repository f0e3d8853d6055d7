// SPDX-License-Identifier: GPL-2.0-only
/* Rows of settings: values, bounds, files, whole structures, options. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/settings/program.h>
#include <libdart/settings/quantity.h>

#include "selftests/unit/unit.h"

struct sample {
	bool flag;
	uint8_t byte;
	uint16_t port;
	uint32_t number;
	uint64_t time_ns;
	uint64_t bytes;
	int choice;
	char *text;
	char *path;
	const char *word;
	char *left, *right; /* joint */
};

#define MEMBER(member) DART_SETTING_MEMBER(struct sample, member)

static const struct dart_setting rows[] = {
	{ .option = "flag", .letter = 'f', .type = DART_SETTING_FLAG, MEMBER(flag), .help = "a" },
	{ .key = "byte", .type = DART_SETTING_NUMBER, MEMBER(byte), .most = 255 },
	{ .option = "port", .argument = "N", .key = "port", .type = DART_SETTING_NUMBER,
	  MEMBER(port), .least = 1, .most = UINT16_MAX,
	  .help = "words that are so many, and so long, that they do not fit into the first line of the help" },
	{ .key = "number", .type = DART_SETTING_NUMBER, MEMBER(number), .most = UINT32_MAX,
	  .noun = "a number of apples", .is_for_start = true },
	{ .key = "group.time", .type = DART_SETTING_TIME, MEMBER(time_ns), .least = 1000,
	  .most = 60000000000, .noun = "a time", .example = "1s" },
	{ .key = "group.bytes", .type = DART_SETTING_BYTES, MEMBER(bytes), .least = 1024,
	  .most = 1ULL << 40, .noun = "a size" },
	{ .option = "choice", .argument = "KIND", .key = "choice", .type = DART_SETTING_CHOICE,
	  MEMBER(choice), .words = "one|two|three", .help = "b" },
	{ .option = "text", .letter = 't', .argument = "[=TEXT]", .key = "text",
	  .type = DART_SETTING_TEXT, MEMBER(text), .help = "c" },
	{ .key = "path", .type = DART_SETTING_PATH, MEMBER(path) },
	{ .option = "word", .argument = "WORD", .type = DART_SETTING_WORD, MEMBER(word),
	  .help = "d" },
	{ .key = "joint.left", .type = DART_SETTING_TEXT, MEMBER(left), .is_joint = true },
	{ .key = "joint.right", .type = DART_SETTING_TEXT, MEMBER(right), .is_joint = true },
};

static const struct dart_settings table = DART_SETTINGS(rows);
static struct dart_error error;

static void expect_quantity(enum dart_quantity quantity, const char *text, uint64_t expected)
{
	uint64_t value = 7;
	char printed[32];

	assert_int_equal(dart_quantity__parse(quantity, text, 0, UINT64_MAX, &value), 0);
	assert_int_equal(value, expected);
	dart_quantity__print(quantity, value, printed, sizeof(printed));
	assert_string_equal(printed, text);
}

static void test_quantities(void **state)
{
	static const char *const wrong[] = { "", "-1", "+1", " 1", "1 ", "1.5s", "s", "1S", "0x1",
					     "1K", "1ns", "18446744073709551616" };
	uint64_t value = 7;
	size_t i;

	expect_quantity(DART_QUANTITY_NUMBER, "0", 0);
	expect_quantity(DART_QUANTITY_NUMBER, "18446744073709551615", UINT64_MAX);
	expect_quantity(DART_QUANTITY_TIME, "250us", 250000);
	expect_quantity(DART_QUANTITY_TIME, "60min", 3600000000000);
	expect_quantity(DART_QUANTITY_BYTES, "4095", 4095);
	expect_quantity(DART_QUANTITY_BYTES, "16T", 16ULL << 40);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(dart_quantity__parse(DART_QUANTITY_TIME, wrong[i], 0, UINT64_MAX,
						      &value), -EINVAL);
	/* The product does not fit. */
	assert_int_equal(dart_quantity__parse(DART_QUANTITY_BYTES, "16777216T", 0, UINT64_MAX,
					      &value), -EINVAL);
	assert_int_equal(dart_quantity__parse(DART_QUANTITY_NUMBER, "5", 6, 9, &value), -EINVAL);
	assert_int_equal(dart_quantity__parse(DART_QUANTITY_NUMBER, "10", 6, 9, &value), -EINVAL);
	assert_int_equal(value, 7);
}

static int take(struct sample *sample, const char *name, const char *text)
{
	return dart_setting__take(dart_settings__find(&table, name), sample, text, &error);
}

static void test_members(void **state)
{
	struct sample sample = { .port = 9, .number = 9 };

	assert_int_equal(take(&sample, "byte", "255"), 0);
	assert_int_equal(take(&sample, "port", "65535"), 0);
	assert_int_equal(take(&sample, "group.time", "2s"), 0);
	assert_int_equal(take(&sample, "choice", "three"), 0);
	assert_int_equal(take(&sample, "text", "a"), 0);
	assert_int_equal(take(&sample, "text", "b"), 0);
	assert_int_equal(take(&sample, "path", "/p"), 0);
	assert_int_equal(sample.byte, 255);
	assert_int_equal(sample.port, 65535);
	assert_int_equal(sample.number, 9); /* the neighbour */
	assert_int_equal(sample.time_ns, 2000000000);
	assert_int_equal(sample.choice, 3);
	assert_string_equal(sample.text, "b");
	assert_string_equal(sample.path, "/p");
	dart_settings__clear(&table, &sample);
	assert_null(sample.text);
	assert_int_equal(sample.number, 0);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *name, *text, *error;
	} wrong[] = {
		{ "port", "0", "'0' is not a number from 1 to 65535" },
		{ "number", "x", "'x' is not a number of apples (expected 0 to 4294967295)" },
		{ "group.time", "61s", "'61s' is not a time (expected 1us to 1min, e.g. 1s)" },
		{ "group.bytes", "1", "'1' is not a size (expected 1K to 1T)" },
		{ "choice", "tw", "'tw' is neither one, two nor three" },
		{ "choice", "", "'' is neither one, two nor three" },
		{ "text", "", "expected a text" },
		{ "path", "p", "'p' is not an absolute path" },
	};
	struct sample sample = {};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(take(&sample, wrong[i].name, wrong[i].text), -EINVAL);
		assert_string_equal(error.text, wrong[i].error);
	}
	assert_int_equal(sample.port, 0);
	assert_null(dart_settings__find(&table, "time"));
}

static int load(struct sample *sample, const char *text)
{
	const struct dart_settings_of places[] = { { .table = &table, .object = sample }, {} };
	const yaml_node_t *root;
	struct dart_yaml yaml;
	int ret = dart_yaml__parse(&yaml, text, strlen(text), "f", &root, &error);

	assert_int_equal(ret, 0);
	ret = dart_settings__read(&yaml, root, NULL, places);
	dart_yaml__close(&yaml);
	return ret;
}

static void test_file(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ "port: 1\nport: 1\n", "f:2: 'port' occurs twice (remove one)" },
		{ "group: {time: 1s}\ngroup: {bytes: 1K}\n", "f:2: 'group' occurs twice (remove one)" },
		{ "group: 1\n", "f:1: expected KEY: VALUE lines" },
		{ "group:\n  time: 1\n", "f:2: '1' is not a time (expected 1us to 1min, e.g. 1s)" },
		{ "group:\n  size: 1\n", "f:2: unknown key 'size' (the keys here are time, bytes)" },
		{ "time: 1s\n", "f:1: unknown key 'time' (the keys here are byte, port, number, group, choice, text, path, joint)" },
		{ "group.time: 1s\n", "f:1: unknown key 'group.time' (the keys here are byte, port, number, group, choice, text, path, joint)" },
		{ "flag: true\n", "f:1: unknown key 'flag' (the keys here are byte, port, number, group, choice, text, path, joint)" },
		{ "number: [1]\n", "f:1: '?' is not a number of apples (expected 0 to 4294967295)" },
	};
	struct sample sample = {};
	json_t *json = json_object();
	char *printed;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(load(&sample, wrong[i].text), -EINVAL);
		assert_string_equal(error.text, wrong[i].error);
		dart_settings__clear(&table, &sample);
	}
	assert_int_equal(load(&sample, "port: 80\ngroup: {bytes: 1K, time: 1s}\nchoice: two\n"
				       "text: a\n"), 0);
	assert_int_equal(dart_settings__to_json(&table, &sample, json), 0);
	printed = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(printed, "{\"choice\":\"two\",\"group\":{\"bytes\":1024,"
				     "\"time\":1000000000},\"port\":80,\"text\":\"a\"}");
	free(printed);
	json_decref(json);
	dart_settings__clear(&table, &sample);
}

static void test_merge(void **state)
{
	struct sample own = { .port = 1, .left = strdup("own") };
	struct sample file = { .port = 2, .number = 3, .text = strdup("t"),
			       .left = strdup("l"), .right = strdup("r") };

	dart_settings__merge(&table, &own, &file);
	assert_int_equal(own.port, 1);
	assert_int_equal(own.number, 3);
	assert_string_equal(own.text, "t");
	assert_null(file.text);
	/* Joint settings of the file count only without any of the command line. */
	assert_string_equal(own.left, "own");
	assert_null(own.right);
	dart_settings__clear(&table, &own);
	dart_settings__merge(&table, &own, &file);
	assert_string_equal(own.left, "l");
	assert_string_equal(own.right, "r");
	dart_settings__clear(&table, &own);
	dart_settings__clear(&table, &file);
}

static void test_copies(void **state)
{
	struct sample one = { .port = 1, .text = strdup("t") }, other = one;
	char names[32];

	assert_true(dart_settings__has_any(&table, &one));
	assert_int_equal(dart_settings__own(&table, &other), 0);
	assert_ptr_not_equal(one.text, other.text);
	assert_true(dart_settings__equal(&table, &one, &other, false));
	other.port = 2;
	assert_false(dart_settings__equal(&table, &one, &other, false));
	assert_true(dart_settings__equal(&table, &one, &other, true));
	other.number = 1;
	assert_false(dart_settings__equal(&table, &one, &other, true));
	dart_settings__print_for_start(&table, ", ", names, sizeof(names));
	assert_string_equal(names, "number");
	dart_settings__clear(&table, &one);
	dart_settings__clear(&table, &other);
	assert_false(dart_settings__has_any(&table, &one));
}

static int parse(struct sample *sample, char *line)
{
	const struct dart_settings_of places[] = { { .table = &table, .object = sample }, {} };
	char *argv[16] = { "program" }, *word;
	int argc = 1;

	while ((word = strsep(&line, " ")))
		argv[argc++] = word;
	return dart_program__parse(places, argc, argv, &error);
}

static void test_options(void **state)
{
	static const struct {
		const char *line, *error;
	} wrong[] = {
		{ "--port", "option '--port' requires a value (see --help)" },
		{ "--none", "unknown option '--none' (see --help)" },
		{ "-x", "unknown option '-x' (see --help)" },
		{ "--flag=1", "unknown option '--flag=1' (see --help)" },
		{ "--port x", "--port: 'x' is not a number from 1 to 65535" },
		{ "--byte 1", "unknown option '--byte' (see --help)" },
	};
	struct sample sample = {};
	char line[80];
	size_t i;

	strcpy(line, "a -f --port 8 --word=w --choice two b");
	assert_int_equal(parse(&sample, line), 0);
	assert_true(sample.flag);
	assert_int_equal(sample.port, 8);
	assert_string_equal(sample.word, "w");
	assert_int_equal(sample.choice, 2);
	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		strcpy(line, wrong[i].line);
		assert_int_equal(parse(&sample, line), -EINVAL);
		assert_string_equal(error.text, wrong[i].error);
	}
}

static void test_help(void **state)
{
	const struct dart_program sample = {
		.usage = "Usage: sample\n",
		.groups = (const struct dart_option_group[]){ { "Options:", &table }, {} },
	};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	dart_program__print_help(&sample, out);
	fclose(out);
	assert_string_equal(text,
		"Usage: sample\n\nOptions:\n"
		"  -f, --flag             a\n"
		"      --port N           words that are so many, and so long, that they do not fit into\n"
		"                         the first line of the help\n"
		"      --choice KIND      b\n"
		"  -t, --text[=TEXT]      c\n"
		"      --word WORD        d\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("numbers, times and sizes are parsed, and printed as they were",
		     test_quantities),
		TEST("a row sets its member, and no other one", test_members),
		TEST("refusals have the bounds of the row, and nothing changes", test_refusals),
		TEST("a file has the keys of the rows, each once", test_file),
		TEST("the command line comes before the file, joint settings as a whole",
		     test_merge),
		TEST("copies own their texts, and differ where they differ", test_copies),
		TEST("options are those of the rows", test_options),
		TEST("help is made of the rows", test_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
