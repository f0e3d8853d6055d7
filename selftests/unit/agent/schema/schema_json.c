// SPDX-License-Identifier: GPL-2.0-only
/* Schemas in requests: each mistake is refused with one sentence. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dart/registration.h>

#include "agent/schema/schema_json.h"
#include "selftests/unit/unit.h"

static int parse(const char *text, struct dart_schema **schema, struct dart_error *error)
{
	json_t *json = json_loads(text, 0, NULL);
	int ret;

	assert_non_null(json);
	*schema = NULL;
	ret = schema_json__new(json, schema, error);
	json_decref(json);
	return ret;
}

static void expect(const char *text, const char *words)
{
	struct dart_schema *schema;
	struct dart_error error;

	assert_int_equal(parse(text, &schema, &error), -EINVAL);
	assert_null(schema);
	if (!strstr(error.text, words))
		fail_msg("\"%s\" instead of \"%s\"", error.text, words);
}

#define FIELD(name, offset) \
	"{\"name\": \"" name "\", \"offset\": " #offset \
	", \"width\": 8, \"kind\": \"counter\"}"
#define SCHEMA(fields) \
	"{\"name\": \"t\", \"length\": 64, \"fields\": [" fields "]}"

static void test_parsed(void **state)
{
	struct dart_schema *schema;
	struct dart_error error;

	assert_int_equal(parse("{\"name\": \"\", \"length\": 64, \"fields\": ["
			       FIELD("z[1].b", 8) ", " FIELD("a", 0) ", "
			       "{\"name\": \"t\", \"offset\": 16, \"width\": 17,"
			       " \"kind\": \"text\"}]}",
			       &schema, &error), 0);
	assert_int_equal(schema->field_count, 3);
	assert_string_equal(schema->fields[0].name, "a");
	assert_string_equal(schema->fields[1].name, "z[1].b");
	assert_int_equal(schema->fields[2].width, 17);
	dart_schema__free(schema);
}

static void test_names(void **state)
{
	char *text, name[60001];

	expect(SCHEMA(FIELD("", 0)), "has no name");
	expect(SCHEMA(FIELD("a", 0) ", " FIELD("", 8)), "has no name");
	expect(SCHEMA(FIELD("two words", 0)), "letters, digits or");
	expect(SCHEMA(FIELD("a,b", 0)), "letters, digits or");
	expect(SCHEMA(FIELD("\\u00b5", 0)), "letters, digits or");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_true(asprintf(&text, SCHEMA(FIELD("%s", 0)), name) > 0);
	expect(text, "letters, digits or");
	free(text);
}

static void test_duplicate(void **state)
{
	expect(SCHEMA(FIELD("a", 0) ", " FIELD("b", 8) ", " FIELD("a", 16)),
	       "two fields are called 'a'");
}

static void test_counters(void **state)
{
	static const struct {
		const char *names, *words;
	} cases[] = {
		{ "[\"a\", \"\"]", "has no name" },
		{ "[\"a\", \"b c\"]", "letters, digits or" },
		{ "[\"a\", \"b\", \"a\"]", "two fields are called 'a'" },
		{ "[\"a\", 1]", "must be strings" },
	};
	struct dart_schema *schema;
	struct dart_error error;
	json_t *names;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		names = json_loads(cases[i].names, 0, NULL);
		assert_int_equal(schema_json__new_counters("n", names, &schema, &error), -EINVAL);
		if (!strstr(error.text, cases[i].words))
			fail_msg("\"%s\" instead of \"%s\"", error.text, cases[i].words);
		json_decref(names);
	}
}

static void test_count(void **state)
{
	json_t *schema, *fields = json_array();
	struct dart_schema *result;
	struct dart_error error;
	char name[16];
	int i;

	expect(SCHEMA(""), "1 to 1024 fields");
	schema = json_pack("{s:s, s:i, s:o}", "name", "t", "length", 1 << 14, "fields", fields);
	for (i = 0; i <= DART_REGISTRATION_FIELDS_MAX; i++) {
		if (i == DART_REGISTRATION_FIELDS_MAX) {
			assert_int_equal(schema_json__new(schema, &result, &error), 0);
			dart_schema__free(result);
		}
		snprintf(name, sizeof(name), "f%d", i);
		json_array_append_new(fields,
				      json_pack("{s:s, s:i, s:i, s:s}", "name", name, "offset",
						8 * i, "width", 8, "kind", "counter"));
	}
	assert_int_equal(schema_json__new(schema, &result, &error), -EINVAL);
	assert_non_null(strstr(error.text, "1 to 1024 fields"));
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("fields are sorted by offset, and a text's width is its bytes", test_parsed),
		TEST("a field with an empty, too long or unprintable name, or one with a space or comma, is refused by a sentence",
		     test_names),
		TEST("two fields of one name are refused by a sentence with the name",
		     test_duplicate),
		TEST("counters with an empty, invalid or repeated name are refused by a sentence",
		     test_counters),
		TEST("a schema has 1 to 1024 fields", test_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
