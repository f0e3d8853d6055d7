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

static const struct reply_key first = REPLY_KEY("{", "a"), last = REPLY_KEY(",", "last member");

static void test_strings(void **state)
{
	static const char *const strings[] = {
		"", "eth0", "a/b c~", "say \"hello\"", "C:\\x2d", "line\n", "\x7f", "\"",
		"a long \"",
		"caf\xc3\xa9", "\xf0\x9f\x98\x80", "cgroup:cpu@/system.slice/dart\\x2dzero.service",
	};
	struct reply_text text = { };
	size_t i;

	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		reply_text__begin(&text, "object");
		reply_text__string(&text, &first, strings[i]);
		reply_text__string(&text, &last, "plain");
		reply_text__put(&text, "}");
		assert_reply(&text, "object",
			     json_pack("{s:s, s:s}", "a", strings[i], "last member", "plain"));
	}
}

static void test_integers(void **state)
{
	uint64_t integers[2 * 20 + 1], power = 1;
	struct reply_text text = { };
	size_t i, count = 0;

	for (i = 0; i < 20; i++, power *= 10) {
		integers[count++] = power - 1;
		integers[count++] = power;
	}
	integers[count++] = UINT64_MAX;
	for (i = 0; i < count; i++) {
		reply_text__begin(&text, "object");
		reply_text__integer(&text, &first, integers[i]);
		reply_text__integer(&text, &last, 7);
		reply_text__put(&text, "}");
		assert_reply(&text, "object",
			     json_pack("{s:o, s:i}", "a", dart_json__unsigned(integers[i]),
				       "last member", 7));
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
		reply_text__put(&text, ",");
		reply_text__integer(&text, &first, i);
		reply_text__string(&text, &last, "plain");
		reply_text__put(&text, "}");
		json_array_append_new(list,
				      json_pack("{s:i, s:s}", "a", i, "last member", "plain"));
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
