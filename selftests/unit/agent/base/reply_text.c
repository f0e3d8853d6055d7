// SPDX-License-Identifier: GPL-2.0-only
/* A reply written as text equals the text that jansson prints. */
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>

#include "agent/base/reply_text.h"
#include "agent/base/request.h"
#include "selftests/unit/unit.h"

/* The line that begins @text, of one value, as jansson makes it. */
static void assert_reply(struct reply_text *text, const char *key, json_t *value)
{
	size_t length = 0, expected_length = 0;
	char *line = reply_text__end(text, &length);
	char *expected = reply__line(reply__ok(key, value), &expected_length);

	assert_non_null(line);
	assert_non_null(expected);
	assert_int_equal(length, expected_length);
	assert_memory_equal(line, expected, length);
	assert_null(text->bytes);
	free(expected);
	free(line);
}

static void test_strings(void **state)
{
	static const char *const strings[] = {
		"", "eth0", "a/b c~", "say \"hello\"", "C:\\x2d", "line\n", "\x7f",
		"caf\xc3\xa9", "\xf0\x9f\x98\x80",
	};
	struct reply_text text = { };
	size_t i;

	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		reply_text__begin(&text, "name");
		reply_text__string(&text, strings[i]);
		assert_reply(&text, "name", json_string(strings[i]));
	}
}

static void test_integers(void **state)
{
	static const uint64_t integers[] = { 0, 9, 10, 4096, INT64_MAX, UINT64_MAX };
	struct reply_text text = { };
	size_t i;

	for (i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		reply_text__begin(&text, "number");
		reply_text__integer(&text, integers[i]);
		assert_reply(&text, "number", dart_json__unsigned(integers[i]));
	}
}

/* Longer than the first piece of memory, and than twice that. */
static void test_long(void **state)
{
	struct reply_text text = { };
	json_t *list = json_array();
	int i;

	reply_text__begin(&text, "list");
	reply_text__put(&text, "[");
	for (i = 0; i < 5000; i++) {
		reply_text__put(&text, i ? "," : "");
		reply_text__json(&text, json_pack("{s:i}", "number", i));
		json_array_append_new(list, json_pack("{s:i}", "number", i));
	}
	reply_text__put(&text, "]");
	assert_reply(&text, "list", list);
}

static void test_failure(void **state)
{
	struct reply_text text = { };
	size_t length;

	reply_text__begin(&text, "list");
	reply_text__json(&text, NULL);
	reply_text__put(&text, "[]");
	assert_null(reply_text__end(&text, &length));
	assert_null(text.bytes);
	assert_false(text.has_failed);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("strings are printed as jansson prints them", test_strings),
		TEST("integers up to 2^64 - 1 are printed with all digits", test_integers),
		TEST("a reply grows as far as it needs to", test_long),
		TEST("no reply is sent after a failure, and the next one is whole", test_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
