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
	char text[65536];
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

/* Prints the list in @reply as JSON, which jansson prints likewise. */
static void assert_printed_as_tree(const char *reply, json_t *tree)
{
	char *text = dart_json__dumps(tree, JSON_INDENT(2) | JSON_ENCODE_ANY), *line;

	assert_non_null(text);
	assert_true(asprintf(&line, "%s\n", text) > 0);
	assert_printed(reply, &as_json, line, EXIT_SUCCESS);
	free(line);
	free(text);
}

static void test_json(void **state)
{
	static const char *const answers[] = {
		"[]", "{}", "[{}]", "[[],[1,2]]", "\"text\"", "17", "true", "null",
		"{\"a\":{\"b\":[{\"c\":null}],\"d\":false},\"e\":\"f\"}",
		"[{\"name\":\"eth0\",\"bytes\":18446744073709551615},{\"name\":\"lo\",\"list\":[]}]",
		"{\"a\":-1,\"b\":0,\"c\":1.5,\"d\":\"say \\\"hello\\\"\",\"long name\":\"0123456789\"}",
		"{\"\\u00E9\":\"\\uD83D\\uDE00 caf\xc3\xa9\",\"b\x7f\":1}",
		"[ 1 , { \"a\" : \"b\" } ]",
		"[{},{\"name\":\"eth0\",\"bytes\":1},{},{\"name\":\"eth0\",\"bytes\":1},{}]",
	};
	char reply[512];
	json_t *json;
	size_t i;

	for (i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		json = dart_json__loadb(answers[i], strlen(answers[i]), JSON_DECODE_ANY, NULL);
		snprintf(reply, sizeof(reply), REPLY("%s"), answers[i]);
		assert_printed_as_tree(reply, json);
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

/* Values that begin alike, and values that are more than plain. */
static const char *const values[] = {
	"7", "70", "7.5", "-7", "0", "18446744073709551615", "\"7\"", "\"\"", "\"eth0\"", "\"eth\"",
	"\"a name of more than thirty-two bytes\"", "\"caf\xc3\xa9\"", "\"say \\\"7\\\"\"", "true",
	"false", "null", "[\"eth0\",7]", "{\"eth0\":7}",
};

static const char *const keys[] = { "name", "age_s", "of", "bytes", "byte", "a", "caf\xc3\xa9" };

#define KEYS (sizeof(keys) / sizeof(keys[0]))
#define OBJECTS_MOST 20

/* Writes an object; its member n is keys[n] with value @chosen[n] - 1, or missing if that is 0. */
static char *write_object(char *to, const uint32_t chosen[static KEYS], bool has_blanks)
{
	const char *before = "{";
	size_t i;

	for (i = 0; i < KEYS; i++) {
		if (!chosen[i])
			continue;
		to += sprintf(to, has_blanks ? "%s \"%s\" : %s " : "%s\"%s\":%s", before, keys[i],
			      values[chosen[i] - 1]);
		before = ",";
	}
	return to + sprintf(to, "%s}", *before == '{' ? "{" : "");
}

/* Writes a list in which an object differs from the object before in at most one member. */
static void write_list(char *to, uint64_t *random)
{
	const uint32_t count = random__below(random, OBJECTS_MOST + 1);
	uint32_t chosen[KEYS], i;

	for (i = 0; i < KEYS; i++)
		chosen[i] = random__below(random, sizeof(values) / sizeof(values[0]) + 1);
	*to++ = '[';
	for (i = 0; i < count; i++) {
		if (i)
			*to++ = ',';
		to = write_object(to, chosen, !random__below(random, 8));
		if (random__below(random, 2))
			chosen[random__below(random, KEYS)] =
				random__below(random, sizeof(values) / sizeof(values[0]) + 1);
	}
	strcpy(to, "]");
}

/* Members that come again, or nearly so, are printed as the members of a tree are. */
static void test_similar(void **state)
{
	struct printed printed;
	char list[8192], reply[8192 + 64];
	uint64_t random = 1;
	json_t *tree;
	int i;

	for (i = 0; i < 2000; i++) {
		write_list(list, &random);
		snprintf(reply, sizeof(reply), REPLY("%s"), list);
		tree = dart_json__loadb(list, strlen(list), 0, NULL);
		assert_non_null(tree);
		assert_printed_as_tree(reply, tree);
		begin(&printed);
		assert_int_equal(table__print_objects(tree, columns), EXIT_SUCCESS);
		end(&printed);
		assert_printed(reply, &as_table, printed.text, EXIT_SUCCESS);
		json_decref(tree);
	}
}

/* A list of many similar objects that is cut off anywhere. */
static void test_cut_off(void **state)
{
	static const char object[] = "{\"name\":\"eth0\",\"bytes\":77},";
	char reply[sizeof(REPLY("[]")) + 10 * sizeof(object)], *end = reply;
	size_t length;
	int i;

	end += sprintf(end, "{\"list\":[");
	for (i = 0; i < 10; i++)
		end = stpcpy(end, object);
	strcpy(end - 1, "]}");
	for (length = strlen(reply); length--;) {
		reply[length] = '\0';
		assert_printed(reply, &as_table, "", EXIT_FAILURE);
		assert_printed(reply, &as_json, "", EXIT_FAILURE);
	}
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
		TEST("objects that are nearly alike are printed as objects of a tree are", test_similar),
		TEST("nothing of a list that is cut off anywhere is printed", test_cut_off),
		TEST("a reply that is nested too deep is refused", test_nested),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
