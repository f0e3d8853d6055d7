// SPDX-License-Identifier: GPL-2.0-only
/* How dartctl prints the answers in replies of dartd, as text of which no tree is made. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <libdart/json.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/cli/reply.h"

static const struct table_column columns[] = {
	TEXT_COLUMN("NAME", "name"),
	{ "AGE", "age_s", true, table__age },
	TEXT_COLUMN("OF", "of"),
	NUMBER_COLUMN("BYTES", "bytes"),
	{}
};

static const struct reply_form as_json = {}, as_table = { .columns = columns };

/* The text that is printed on stdout meanwhile, with a NUL. */
struct printed {
	int fd, saved;
	char text[4096];
};

static void begin(struct printed *printed)
{
	fflush(stdout);
	printed->fd = memfd_create("stdout", MFD_CLOEXEC);
	printed->saved = dup(STDOUT_FILENO);
	assert_true(printed->fd >= 0 && printed->saved >= 0);
	assert_int_equal(dup2(printed->fd, STDOUT_FILENO), STDOUT_FILENO);
}

static void end(struct printed *printed)
{
	ssize_t length;

	fflush(stdout);
	assert_int_equal(dup2(printed->saved, STDOUT_FILENO), STDOUT_FILENO);
	length = pread(printed->fd, printed->text, sizeof(printed->text) - 1, 0);
	assert_true(length >= 0);
	printed->text[length] = '\0';
	close(printed->fd);
	close(printed->saved);
}

/* Prints member "list" of @text. */
static void assert_printed(const char *text, const struct reply_form *form, const char *expected,
			   int status)
{
	struct printed printed;
	/* Ends where its memory ends. */
	char *exact = strndup(text, strlen(text));
	int ret;

	begin(&printed);
	ret = reply__print(exact, strlen(exact), "list", form);
	end(&printed);
	assert_string_equal(printed.text, expected);
	assert_int_equal(ret, status);
	free(exact);
}

#define REPLY(list) "{\"ok\":true,\"version\":\"1\",\"list\":" list "}\n"

static void test_json(void **state)
{
	static const char *const answers[] = {
		"[]", "{}", "[{}]", "[[],[1,2]]", "\"text\"", "17", "true", "null",
		"{\"a\":{\"b\":[{\"c\":null}],\"d\":false},\"e\":\"f\"}",
		"[{\"name\":\"eth0\",\"bytes\":18446744073709551615},{\"name\":\"lo\",\"list\":[]}]",
		"{\"a\":-1,\"b\":0,\"c\":1.5,\"d\":\"say \\\"hello\\\"\",\"long name\":\"0123456789\"}",
		"{\"\\u00E9\":\"\\uD83D\\uDE00 caf\xc3\xa9\",\"b\x7f\":1}",
		"[ 1 , { \"a\" : \"b\" } ]",
	};
	char reply[512], *expected;
	json_t *json;
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		json = dart_json__loadb(answers[i], strlen(answers[i]), JSON_DECODE_ANY, NULL);
		expected = dart_json__dumps(json, JSON_INDENT(2) | JSON_ENCODE_ANY);
		assert_non_null(expected);
		expected = realloc(expected, strlen(expected) + 2);
		strcat(expected, "\n");
		snprintf(reply, sizeof(reply), REPLY("%s"), answers[i]);
		assert_printed(reply, &as_json, expected, EXIT_SUCCESS);
		free(expected);
		json_decref(json);
	}
}

static void test_table(void **state)
{
	assert_printed(REPLY("[]"), &as_table, "", EXIT_SUCCESS);
	assert_printed(REPLY("[{\"name\":\"eth0\",\"age_s\":7,\"bytes\":100000},"
			     "{\"bytes\":1,\"name\":\"a \\u00e9\",\"age_s\":7},"
			     "{\"name\":\"x\",\"of\":[\"a\",2]},"
			     "{\"name\":\"eth0\",\"age_s\":7200,\"of\":true,\"more\":{\"a\":[]}}]"),
		       &as_table,
		       "NAME AGE OF   BYTES\n"
		       "eth0  7s     100000\n"
		       "a \xc3\xa9   7s          1\n"
		       "x        a 2 \n"
		       "eth0  2h yes \n",
		       EXIT_SUCCESS);
}

static bool is_short(const struct json_members *object, const void *context)
{
	const struct json_span *name = json_members__find(object, "name");

	return name && name->length < *(const size_t *)context;
}

static void test_filter(void **state)
{
	static const size_t most = 5;
	const struct reply_form table = { columns, is_short, &most };
	const struct reply_form json = { NULL, is_short, &most };
	const char *reply = REPLY("[{\"name\":\"long\"},{\"name\":\"lo\"},{\"of\":1},{\"name\":\"a\"}]");

	assert_printed(reply, &table, "NAME AGE OF BYTES\nlo          \na           \n",
		       EXIT_SUCCESS);
	assert_printed(reply, &json,
		       "[\n  {\n    \"name\": \"lo\"\n  },\n  {\n    \"name\": \"a\"\n  }\n]\n",
		       EXIT_SUCCESS);
	assert_printed(REPLY("[{\"name\":\"long\"}]"), &json, "[]\n", EXIT_SUCCESS);
}

/* Each beginning of a reply, and replies with an error at their end. */
static void test_invalid(void **state)
{
	static const char whole[] = REPLY("[{\"name\":\"eth0\",\"age_s\":7,\"of\":[1.5,true]}]");
	static const char *const invalid[] = {
		REPLY("[{\"name\":\"eth0\"},]"),
		REPLY("[{\"name\":\"eth0\",}]"),
		REPLY("[{\"name\":\"eth0\" 1}]"),
		REPLY("[{\"name\":\"eth0\"}}"),
		REPLY("[{\"name\":01}]"),
		REPLY("[{\"name\":\"\\x\"}]"),
		REPLY("[{\"name\":\"\xe9\"}]"),
		REPLY("[{name:1}]"),
		REPLY("[]") "x",
		"[]",
		"{\"ok\":true}",
	};
	char part[sizeof(whole)];
	size_t i;

	assert_printed(whole, &as_table, "NAME AGE OF      BYTES\neth0  7s 1.5 yes \n",
		       EXIT_SUCCESS);
	for (i = 0; i < sizeof(whole) - 2; i++) {
		memcpy(part, whole, i);
		part[i] = '\0';
		assert_printed(part, &as_table, "", EXIT_FAILURE);
		assert_printed(part, &as_json, "", EXIT_FAILURE);
	}
	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		assert_printed(invalid[i], &as_table, "", EXIT_FAILURE);
		assert_printed(invalid[i], &as_json, "", EXIT_FAILURE);
	}
	assert_printed(REPLY("[1]"), &as_table, "", EXIT_FAILURE);
}

static void test_nested(void **state)
{
	char reply[512] = "{\"list\":", *end = reply + strlen(reply);
	unsigned int i;

	/* The reply itself is the first object. */
	for (i = 0; i < JSON_READER_DEPTH; i++)
		*end++ = '[';
	for (i = 0; i < JSON_READER_DEPTH; i++)
		*end++ = ']';
	*end++ = '}';
	*end = '\0';
	assert_printed(reply, &as_json, "", EXIT_FAILURE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST("an answer is printed as print_json() prints its tree", test_json),
		TEST("an array of objects is printed as a table with aligned columns", test_table),
		TEST("a filter leaves objects out of tables and of JSON", test_filter),
		TEST("nothing of a reply that is cut off or invalid is printed", test_invalid),
		TEST("a reply that is nested too deep is refused", test_nested),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
