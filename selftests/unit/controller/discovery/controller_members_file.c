// SPDX-License-Identifier: GPL-2.0-only
/* The file in which another program lists members, right and wrong. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/controller/discovery/members_file.h"

#define BOOT "b15a7b0c-0000-4000-8000-000000000001"

/* As on a host that started 1000 seconds ago. */
static int parse(const char *text, struct member_list *list, struct dart_error *error)
{
	return members_file__parse(text, strlen(text), BOOT, 1000000000000, list, error);
}

static void test_validity(void **state)
{
	struct member_list list = {};
	struct dart_error error;

	assert_int_equal(parse("{\"members\": [1]}", &list, &error), 0);
	assert_int_equal(list.valid_ns, 0);
	assert_false(list.is_agreed);
	assert_int_equal(parse("{\"members\": [1], \"valid_until\": 1010.25, \"agreed\": true,"
			       " \"boot_id\": \"" BOOT "\"}", &list, &error), 0);
	assert_int_equal(list.valid_ns, 1010250000000);
	assert_true(list.is_agreed);
	/* It may be over already. */
	assert_int_equal(parse("{\"members\": [1], \"valid_until\": 7}", &list, &error), 0);
	assert_int_equal(list.valid_ns, 7000000000);
	assert_false(list.is_agreed);
}

static void test_right(void **state)
{
	static const char text[] = " {\"members\": [1024, 1, 65], \"written_by\": {\"x\": null}}\n";
	struct member_list members = {};
	struct dart_error error;

	assert_int_equal(parse(text, &members, &error), 0);
	assert_int_equal(member_set__count(&members.present), 3);
	assert_true(member_set__has(&members.present, 1));
	assert_true(member_set__has(&members.present, 65));
	assert_true(member_set__has(&members.present, 1024));
}

static void test_unreached(void **state)
{
	char digits[PORTION_SET_TEXT], text[2 * PORTION_SET_TEXT];
	struct portion_set portions = {};
	struct member_list list = {};
	struct dart_error error;

	portion_set__add(&portions, 0);
	portion_set__add(&portions, 2047);
	portion_set__print(&portions, digits);
	snprintf(text, sizeof(text),
		 "{\"members\": [1], \"session\": 2.5, \"unreached\": {\"64\": \"%s\"}}", digits);
	assert_int_equal(parse(text, &list, &error), 0);
	assert_int_equal(list.session_ns, 2500000000);
	assert_memory_equal(&list.unreached[63], &portions, sizeof(portions));
	assert_true(portion_set__is_empty(&list.unreached[0]));
	/* Without them. */
	assert_int_equal(parse("{\"members\": [1]}", &list, &error), 0);
	assert_int_equal(list.session_ns, 0);
	assert_true(portion_set__is_empty(&list.unreached[63]));
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ "", "line 1: " },
		{ "{\"members\": [1, 2", "line 1: " },
		{ "[1, 2]", "is not an object with 'members'" },
		{ "{}", "is not an object with 'members'" },
		{ "{\"members\": 3}", "is not an object with 'members'" },
		{ "{\"members\": {\"1\": 1}}", "is not an object with 'members'" },
		{ "{\"members\": []}", "names no member" },
		{ "{\"members\": [0]}", "not a number from 1 to 1024" },
		{ "{\"members\": [1025]}", "not a number from 1 to 1024" },
		{ "{\"members\": [-1]}", "not a number from 1 to 1024" },
		{ "{\"members\": [4294967297]}", "not a number from 1 to 1024" },
		{ "{\"members\": [1.0]}", "not a number from 1 to 1024" },
		{ "{\"members\": [\"1\"]}", "not a number from 1 to 1024" },
		{ "{\"members\": [3, 4, 3]}", "member 3 is named twice" },
		{ "{\"members\": [1], \"members\": [2]}", "duplicate" },
		{ "{\"members\": [1]} x", "line 1: " },
		{ "{\"members\": [1], \"valid_until\": \"7\"}", "'valid_until' is not a time" },
		{ "{\"members\": [1], \"valid_until\": 0}", "'valid_until' is not a time" },
		{ "{\"members\": [1], \"valid_until\": -1e300}", "'valid_until' is not a time" },
		{ "{\"members\": [1], \"valid_until\": 1e300}", "more than 86400 s away" },
		/* The wall clock. */
		{ "{\"members\": [1], \"valid_until\": 1764288000}", "more than 86400 s away" },
		{ "{\"members\": [1], \"boot_id\": 3}", "'boot_id' is not a text" },
		{ "{\"members\": [1], \"boot_id\": \"x\"}", "before this host started" },
		{ "{\"members\": [1], \"agreed\": 1}", "'agreed' is neither true nor false" },
		{ "{\"members\": [1], \"session\": 0}", "'session' is not a number of seconds" },
		{ "{\"members\": [1], \"session\": \"4\"}", "'session' is not a number of seconds" },
		{ "{\"members\": [1], \"session\": 86401}", "'session' is not a number of seconds" },
		{ "{\"members\": [1], \"unreached\": []}", "'unreached' is not an object" },
		{ "{\"members\": [1], \"unreached\": {\"65\": \"\"}}", "not a number from 1 to 64" },
		{ "{\"members\": [1], \"unreached\": {\"01\": \"\"}}", "not a number from 1 to 64" },
		{ "{\"members\": [1], \"unreached\": {\"2x\": \"\"}}", "not a number from 1 to 64" },
		{ "{\"members\": [1], \"unreached\": {\"2\": 7}}", "not a text of 512 hexadecimal" },
		{ "{\"members\": [1], \"unreached\": {\"2\": \"ff\"}}", "not a text of 512 hexadecimal" },
	};
	struct member_list members;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		members = (struct member_list){ .present.bits[0] = 6 };
		assert_int_equal(parse(cases[i].text, &members, &error), -EINVAL);
		if (!strstr(error.text, cases[i].reason))
			fail_msg("'%s' for %s", error.text, cases[i].text);
		/* Not even a part of it is taken. */
		assert_int_equal(members.present.bits[0], 6);
	}
}

static void test_file(void **state)
{
	char directory[] = "/tmp/members-XXXXXX", path[64], text[] = "{\"members\": [7]}";
	struct member_list members = {};
	struct dart_error error;
	int fd;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/f", directory);
	assert_int_equal(members_file__read(path, &members, &error), -ENOENT);
	assert_int_equal(members_file__read(directory, &members, &error), -EINVAL);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(members_file__read(path, &members, &error), -EINVAL);
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(members_file__read(path, &members, &error), 0);
	assert_true(member_set__has(&members.present, 7));
	/* A large file costs nothing. */
	assert_int_equal(ftruncate(fd, 1LL << 40), 0);
	assert_int_equal(members_file__read(path, &members, &error), -EINVAL);
	assert_non_null(strstr(error.text, "has more than 65536 bytes"));
	close(fd);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a list of members is read, whatever else is in the object", test_right),
		TEST("a list says until when it is valid, and whether all agree", test_validity),
		TEST("a list says which agents a member does not reach, and the session time-out",
		     test_unreached),
		TEST("anything else is refused as a whole", test_wrong),
		TEST("a file that is missing, no file, or too large is refused", test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
