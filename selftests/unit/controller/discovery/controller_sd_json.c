// SPDX-License-Identifier: GPL-2.0-only
/* Lists of targets in Prometheus' JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/sd_json.h"
#include "tools/controller/settings/labels.h"

static struct target_defaults defaults;
static struct target_list list;
static struct target_faults faults;
static struct dart_error error;

static int parse_bytes(const char *bytes, size_t length)
{
	struct shared_text *source = shared_text__new("f");
	int ret;

	assert_non_null(source);
	faults = (struct target_faults){};
	ret = sd_json__parse(bytes, length, &defaults, source, &list, &faults, &error);
	shared_text__release(source);
	return ret;
}

static int parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static int set_defaults(void **state)
{
	defaults = (struct target_defaults){
		.interval_ns = 5000000,
		.class = 2,
		.transport = SETTINGS_TRANSPORT_READ,
		.labels = json_pack("{ss ss}", "dc", "d1", "rack", "none"),
	};
	return !defaults.labels;
}

static int clear(void **state)
{
	target_list__clear(&list);
	json_decref(defaults.labels);
	return 0;
}

static const char whole[] =
	"[{\"targets\": [\"b\", \"[::1]:17\"],\n"
	"  \"labels\": {\"rack\": \"a7\", \"__meta_x\": \"y\", \"\\u00e4\": \"\"}},\n"
	" {\"targets\": [], \"labels\": {}, \"more\": 1},\n"
	" {\"targets\": [\"a:1\", \"b\"],\n"
	"  \"labels\": {\"__scrape_interval__\": \"250ms\", \"__class__\": \"0\"}},\n"
	" {\"targets\": [\"c\", \"d:4792\"], \"labels\": {\"__transport__\": \"tcp\"}}]";

static void test_windows(void **state)
{
	assert_int_equal(parse("\xef\xbb\xbf[\r\n {\"targets\": [\"a\"]}\r\n]\r\n"), 0);
	assert_int_equal(list.count, 1);
}

static void test_groups(void **state)
{
	const struct target_settings *target;

	assert_int_equal(parse(whole), 0);
	assert_int_equal(faults.count, 0);
	assert_int_equal(list.count, 5);

	target = &list.items[0]->settings;
	assert_string_equal(target->name, "[::1]:17");
	assert_string_equal(target->host, "::1");
	assert_int_equal(target->port, 17);
	assert_int_equal(target->interval_ns, 5000000);
	assert_int_equal(target->class, 2);
	assert_string_equal(target->labels->text,
			    "{\"dc\":\"d1\",\"rack\":\"a7\",\"\\u00E4\":\"\"}");
	assert_string_equal(target->source->text, "f");

	target = &list.items[1]->settings;
	assert_string_equal(target->name, "a:1");
	assert_int_equal(target->interval_ns, 250000000);
	assert_int_equal(target->class, 0);
	assert_string_equal(target->labels->text, "{\"dc\":\"d1\",\"rack\":\"none\"}");

	/* Named twice: the first name counts. */
	target = &list.items[2]->settings;
	assert_string_equal(target->name, "b:4792");
	assert_int_equal(target->class, 2);
	assert_ptr_equal(target->labels, list.items[0]->settings.labels);
	assert_int_equal(target->transport, SETTINGS_TRANSPORT_READ);

	/* The transport sets the port, unless it is given. */
	target = &list.items[3]->settings;
	assert_string_equal(target->name, "c:4793");
	assert_int_equal(target->transport, SETTINGS_TRANSPORT_TCP);
	target = &list.items[4]->settings;
	assert_string_equal(target->name, "d:4792");
	assert_int_equal(target->transport, SETTINGS_TRANSPORT_TCP);
}

static void test_empty(void **state)
{
	assert_int_equal(parse("[]"), 0);
	assert_int_equal(list.count, 0);
	assert_int_equal(parse("[{\"targets\": []}]"), 0);
	assert_int_equal(list.count, 0);
	json_decref(defaults.labels);
	defaults.labels = NULL;
	assert_int_equal(parse("[{\"targets\": [\"a\"]}]"), 0);
	assert_int_equal(list.count, 1);
	assert_null(list.items[0]->settings.labels);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ "", "not JSON: line 1" },
		{ "[", "not JSON: line 1" },
		{ "[]x", "not JSON: line 1" },
		{ "{}", "not a list of groups" },
		{ "1", "not a list of groups" },
		{ "[1]", "group 1 is not an object" },
		{ "[{\"targets\": []}, {\"targets\": {}}]", "group 2: the targets are not a list" },
		{ "[{\"targets\": [1]}]", "group 1: target 1 is not a text" },
		{ "[{\"targets\": [null]}]", "group 1: target 1 is not a text" },
		{ "[{\"targets\": [\"\"]}]", "group 1: '' is not an agent" },
		{ "[{\"targets\": [\"a:0\"]}]",
		  "group 1: 'a:0' is not an agent" },
		{ "[{\"targets\": [\"a:65536\"]}]",
		  "group 1: 'a:65536' is not an agent" },
		{ "[{\"targets\": [\"a b\"]}]",
		  "group 1: 'a b' is not an agent" },
		{ "[{\"targets\": [\"\\u001b[2J\"]}]",
		  "group 1: '\\x1b[2J' is not an agent" },
		{ "[{\"targets\": [\"a\\u0000b\"]}]", "is not an agent" },
		{ "[{\"targets\": [\"\xff\"]}]", "is not an agent" },
		{ "[{\"targets\": [], \"labels\": []}]", "group 1: the labels are not" },
		{ "[{\"targets\": [], \"labels\": {\"a\": 1}}]",
		  "group 1: label 'a' is not a text" },
		{ "[{\"targets\": [], \"labels\": {\"\": \"x\"}}]",
		  "group 1: '' is not the name of a label" },
		{ "[{\"targets\": [], \"labels\": {\"a\\n\": \"x\"}}]",
		  "group 1: 'a\\x0a' is not the name of a label" },
		{ "[{\"targets\": [], \"labels\": {\"__transport__\": \"udp\"}}]",
		  "group 1: 'udp' is not a transport" },
		{ "[{\"targets\": [], \"labels\": {\"__class__\": \"4\"}}]",
		  "group 1: '4' is not a class" },
		{ "[{\"targets\": [], \"labels\": {\"__class__\": \"\"}}]",
		  "group 1: '' is not a class" },
		{ "[{\"targets\": [], \"labels\": {\"__scrape_interval__\": \"1\"}}]",
		  "group 1: '1' is not an interval" },
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(parse(wrong[i].text), -EINVAL);
		if (!strstr(error.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].text, error.text);
		assert_int_equal(list.count, 0);
	}
}

/* The names of all targets, each with a blank after it. */
static void expect_names(const char *names)
{
	char found[256] = "";
	size_t i;

	for (i = 0; i < list.count; i++) {
		strcat(found, list.items[i]->settings.name);
		strcat(found, " ");
	}
	assert_string_equal(found, names);
	target_list__clear(&list);
}

static void test_null(void **state)
{
	assert_int_equal(parse("null"), 0);
	expect_names("");
	assert_int_equal(parse("[null, {}, {\"targets\": null}, {\"labels\": null}]"), 0);
	expect_names("");
	assert_int_equal(parse("[{\"targets\": [\"a\"], \"labels\": null},"
			       " {\"targets\": null, \"labels\": {}}, {\"targets\": [\"b\"]}]"),
			 0);
	assert_int_equal(faults.count, 0);
	expect_names("a:4792 b:4792 ");
	/* A label without a text removes the label of the source. */
	assert_int_equal(parse("[{\"targets\": [\"a\"], \"labels\": {\"rack\": null}}]"), 0);
	assert_string_equal(list.items[0]->settings.labels->text, "{\"dc\":\"d1\",\"rack\":\"\"}");
	expect_names("a:4792 ");
	/* The last label counts. */
	assert_int_equal(parse("[{\"targets\": [\"a\"], \"targets\": [\"b\"]}]"), 0);
	expect_names("b:4792 ");
}

static void test_left_out(void **state)
{
	assert_int_equal(parse("[{\"targets\": [\"a\", \"b:99999\", \"c\", 7]},"
			       " {\"targets\": [\"d\"], \"labels\": {\"x\": []}},"
			       " \"group\", {\"targets\": \"e\"},"
			       " {\"targets\": [\"f\"], \"labels\": {\"__class__\": \"9\"}},"
			       " {\"targets\": [\"g\"], \"labels\": {\"rack\": \"a7\"}}]"),
			 0);
	expect_names("a:4792 c:4792 g:4792 ");
	assert_int_equal(faults.count, 6);
	assert_non_null(strstr(faults.first[0].text, "group 1: 'b:99999' is not an agent"));
	assert_non_null(strstr(faults.first[1].text, "group 1: target 4 is not a text"));
	assert_non_null(strstr(faults.first[2].text, "group 2: label 'x' is not a text"));
	assert_non_null(strstr(faults.first[3].text, "group 3 is not an object"));
	assert_non_null(strstr(faults.first[4].text, "group 4: the targets are not a list"));
	assert_non_null(strstr(faults.first[5].text, "group 5: '9' is not a class"));
}

/* Bytes that are not UTF-8, NULs and halves of characters cost their whole text, as in Go. */
static void test_foreign(void **state)
{
	static const char *const foreign[] = { "\xff", "\xc3", "\xed\xa0\x80", "\\u0000",
					       "\\ud800", "\\uDFFF", "\\udc00\\ud800" };
	char text[200];
	size_t i;

	for (i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
		snprintf(text, sizeof(text),
			 "[{\"targets\": [\"a\", \"%s\"], \"labels\": {\"rack\": \"x%s\","
			 " \"l%s\": \"\\\\ud800\"}}]",
			 foreign[i], foreign[i], foreign[i]);
		assert_int_equal(parse(text), 0);
		assert_int_equal(faults.count, 1);
		assert_non_null(strstr(list.items[0]->settings.labels->text,
				       "\"rack\":\"x\\uFFFD"));
		assert_non_null(strstr(list.items[0]->settings.labels->text, "\"l\\uFFFD"));
		expect_names("a:4792 ");
	}
	assert_int_equal(parse("[{\"targets\": [\"a\"], \"labels\": {\"rack\": \"\\ud83d\\ude00\"}}]"),
			 0);
	assert_non_null(strstr(list.items[0]->settings.labels->text, "\\uD83D\\uDE00"));
}

/* @count labels of @length bytes each. */
static int parse_labels(unsigned int count, unsigned int length)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int i;
	int ret;

	assert_non_null(out);
	fputs("[{\"targets\": [\"a\"], \"labels\": {", out);
	for (i = 0; i < count; i++)
		fprintf(out, "%s\"l%u\": \"%0*u\"", i ? "," : "", i, length, 0);
	fputs("}}]", out);
	fclose(out);
	ret = parse(text);
	free(text);
	target_list__clear(&list);
	return ret;
}

static void test_limits(void **state)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int i;

	assert_int_equal(parse_labels(LABELS_MAX - 2, 1), 0);
	assert_int_equal(parse_labels(LABELS_MAX, 1), -EINVAL);
	assert_int_equal(parse_labels(LABELS_MAX + 1, 1), -EINVAL);
	assert_int_equal(parse_labels(1, LABELS_VALUE_MAX), 0);
	assert_int_equal(parse_labels(1, LABELS_VALUE_MAX + 1), -EINVAL);
	assert_int_equal(parse_labels(17, LABELS_VALUE_MAX), -EINVAL);

	assert_non_null(out);
	fputs("[{\"targets\": [\"a\"", out);
	for (i = 1; i < SETTINGS_TARGETS_MAX; i++)
		fprintf(out, ",\"h%u\"", i);
	fflush(out);
	fputs("]}]", out);
	fflush(out);
	assert_int_equal(parse(text), 0);
	assert_int_equal(list.count, SETTINGS_TARGETS_MAX);
	target_list__clear(&list);
	fseek(out, -3, SEEK_CUR);
	fputs(",\"h\"]}]", out);
	fclose(out);
	assert_int_equal(parse(text), -EINVAL);
	assert_string_equal(error.text, "there are more than 10000 agents");
	free(text);
	text = calloc(1, SD_JSON_BYTES_MAX + 1);
	assert_non_null(text);
	assert_int_equal(parse_bytes(text, SD_JSON_BYTES_MAX + 1), -EINVAL);
	assert_string_equal(error.text, "more than 16777216 bytes");
	free(text);
}

/* @piece @count times, between @head and @tail. */
static int parse_many(const char *head, const char *piece, unsigned int count, const char *tail)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int ret;

	assert_non_null(out);
	fputs(head, out);
	while (count--)
		fputs(piece, out);
	fputs(tail, out);
	fclose(out);
	ret = parse(text);
	free(text);
	return ret;
}

static void test_memory(void **state)
{
	assert_int_equal(parse_many("[", "{},", SD_JSON_OBJECTS_MAX, "{}]"), -EINVAL);
	assert_string_equal(error.text, "more than 40000 lists and objects");
	assert_int_equal(parse_many("", "[", SD_JSON_OBJECTS_MAX + 1, ""), -EINVAL);
	assert_string_equal(error.text, "more than 40000 lists and objects");
	assert_int_equal(parse_many("[", "1,", SD_JSON_COMMAS_MAX + 1, "1]"), -EINVAL);
	assert_string_equal(error.text, "more than 640000 values");
	/* In a text they take no more than they are. */
	assert_int_equal(parse_many("[{\"targets\": [\"a\"], \"more\": \"",
				    "[{,\\\"", SD_JSON_COMMAS_MAX + 1, "\"}]"),
			 0);
	assert_int_equal(list.count, 1);
	target_list__clear(&list);
	/* A group for each target. */
	assert_int_equal(parse_many("[", "{\"targets\": [\"a\"], \"labels\": {}},",
				    SETTINGS_TARGETS_MAX - 1, "{\"targets\": [\"b\"]}]"),
			 0);
	assert_int_equal(list.count, 2);
}

static void test_flipped_bits(void **state)
{
	char bytes[sizeof(whole) - 1];
	unsigned int round, flips, taken = 0;
	size_t length, i;
	uint64_t random = 1;

	for (round = 0; round < 20000; round++) {
		memcpy(bytes, whole, sizeof(bytes));
		for (flips = random__below(&random, 4) + 1; flips; flips--)
			bytes[random__below(&random, sizeof(bytes))] ^=
				1 << random__below(&random, 7);
		length = sizeof(bytes) - random__below(&random, 2) * random__below(&random, 9);
		if (parse_bytes(bytes, length)) {
			assert_true(*error.text);
			continue;
		}
		taken++;
		for (i = 1; i < list.count; i++)
			assert_true(strcmp(list.items[i - 1]->settings.name,
					   list.items[i]->settings.name) < 0);
		target_list__clear(&list);
	}
	assert_true(taken > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE(
			"targets have the labels of their group over those of the source, and an interval, a class and a transport by three of Prometheus' kind",
			test_groups, set_defaults, clear),
		TEST_FIXTURE(
			"a list with a byte order mark and line ends of Windows is read as without",
			test_windows, set_defaults, clear),
		TEST_FIXTURE("a list may be empty, and a group too", test_empty,
			     set_defaults, clear),
		TEST_FIXTURE(
			"a list of nothing but mistakes is refused with the number of the first group",
			test_refused, set_defaults, clear),
		TEST_FIXTURE("null and an absent member are empty, as in Go", test_null,
			     set_defaults, clear),
		TEST_FIXTURE(
			"a target and a group that cannot be used are left out and named, and the rest is taken",
			test_left_out, set_defaults, clear),
		TEST_FIXTURE("bytes that are not UTF-8 cost the text that they are in",
			     test_foreign, set_defaults, clear),
		TEST_FIXTURE("10,000 agents, 64 labels and 16 MiB are enough",
			     test_limits, set_defaults, clear),
		TEST_FIXTURE(
			"what would take far more memory than bytes is refused before it is parsed",
			test_memory, set_defaults, clear),
		TEST_FIXTURE("flipped bits never crash the parser, and what it takes is in order",
			     test_flipped_bits, set_defaults, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
