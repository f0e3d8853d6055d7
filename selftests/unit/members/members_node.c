// SPDX-License-Identifier: GPL-2.0-only
/* Names and data of nodes, the list that is written, and the file with credentials. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/controller/base/validity.h"
#include "tools/controller/discovery/members_file.h"
#include "tools/members/node.h"

static void test_names(void **state)
{
	static const char *const others[] = { "",     "0",     "01",
					      "1025", "-1",    "1a",
					      "a",    "99999", "18446744073709551617",
					      "1 ",   "lock" };
	size_t i;

	assert_int_equal(node__member("1"), 1);
	assert_int_equal(node__member("1024"), 1024);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(node__member(others[i]), 0);
}

static void test_unreached(void **state)
{
	static const char *const others[] = { "1", "1.unreached.", "1.reached.", "1.unreached.00",
					      "" };
	struct portion_set portions = {}, read = {};
	char name[NODE_UNREACHED_MAX], more[NODE_UNREACHED_MAX + 1];
	size_t i;

	portion_set__add(&portions, 5);
	portion_set__add(&portions, 64);
	portion_set__add(&portions, SHARD_PORTIONS - 1);
	node__print_unreached(64, &portions, name);
	assert_int_equal(node__unreached(name, &read), 64);
	assert_memory_equal(&read, &portions, sizeof(read));
	/* It is the name of no member. */
	assert_int_equal(node__member(name), 0);
	for (i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(node__unreached(others[i], &read), 0);
	snprintf(more, sizeof(more), "%s0", name);
	assert_int_equal(node__unreached(more, &read), 0);
	/* Members with higher numbers have no such node, and digits are lower-case. */
	node__print_unreached(65, &portions, name);
	assert_int_equal(node__unreached(name, &read), 0);
	node__print_unreached(7, &portions, name);
	name[strlen(name) - 1] = 'A';
	assert_int_equal(node__unreached(name, &read), 0);
	assert_memory_equal(&read, &portions, sizeof(read));
}

static int parse(const char *data, struct node *node)
{
	return node__parse(data, strlen(data), node);
}

static void test_data(void **state)
{
	char data[NODE_DATA_MAX], boot_id[NODE_BOOT_ID_MAX], more[NODE_DATA_MAX + 2];
	struct node node = { .version = 9 };

	node__read_boot_id(boot_id);
	node__print(boot_id, 12345678901234, data);
	assert_int_equal(parse(data, &node), 0);
	assert_string_equal(node.boot_id, boot_id);
	assert_int_equal(node.version, 12345678901234);
	assert_int_equal(parse("{}", &node), 0);
	assert_string_equal(node.boot_id, "");
	assert_int_equal(node.version, 0);
	node.version = 7;
	assert_int_equal(parse("", &node), -EINVAL);
	assert_int_equal(parse("[]", &node), -EINVAL);
	assert_int_equal(parse("{\"version\": -1}", &node), -EINVAL);
	assert_int_equal(parse("{\"version\": 1", &node), -EINVAL);
	assert_int_equal(parse("{\"boot_id\": \"0123456789012345678901234567890123456789\"}",
			       &node),
			 -EINVAL);
	memset(more, ' ', sizeof(more) - 1);
	more[sizeof(more) - 1] = '\0';
	memcpy(more, "{}", 2);
	assert_int_equal(parse(more, &node), -EINVAL);
	assert_int_equal(node.version, 7);
}

/* As the controller reads it. */
static void test_list(void **state)
{
	char directory[] = "/tmp/members-XXXXXX", path[64], boot_id[NODE_BOOT_ID_MAX];
	struct member_list list = { .version = 5, .is_agreed = true }, read;
	struct dart_error error;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/list", directory);
	node__read_boot_id(boot_id);
	member_set__add(&list.present, 1);
	member_set__add(&list.present, 1024);
	list.valid_ns = boottime_ns() + 3000000000;
	list.session_ns = 4000000000;
	portion_set__add(&list.unreached[0], 17);
	portion_set__add(&list.unreached[63], 2000);
	assert_int_equal(node__write_list(path, &list, boot_id, &error), 0);
	assert_int_equal(members_file__read(path, &read, &error), 0);
	assert_memory_equal(&read.present, &list.present, sizeof(list.present));
	assert_true(llabs((long long)(read.valid_ns - list.valid_ns)) < 1000);
	assert_int_equal(read.version, 5);
	assert_true(read.is_agreed);
	assert_int_equal(read.session_ns, 4000000000);
	assert_memory_equal(read.unreached, list.unreached, sizeof(read.unreached));
	/* Over at once. */
	list.valid_ns = 1;
	assert_int_equal(node__write_list(path, &list, "", &error), 0);
	assert_int_equal(members_file__read(path, &read, &error), 0);
	assert_int_equal(read.valid_ns, 1);
	unlink(path);
	assert_int_equal(node__write_list("/nowhere/list", &list, "", &error), -ENOENT);
	assert_non_null(strstr(error.text, "cannot open '/nowhere/list.new'"));
	assert_int_equal(rmdir(directory), 0);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void test_auth(void **state)
{
	char path[] = "/tmp/auth-XXXXXX", text[NODE_AUTH_MAX];
	struct dart_error error;

	close(mkstemp(path));
	write_text(path, "user:pass:word\n");
	assert_int_equal(node__read_auth(path, text, &error), 0);
	assert_string_equal(text, "user:pass:word");
	write_text(path, "secret\n");
	assert_int_equal(node__read_auth(path, text, &error), -EINVAL);
	assert_null(strstr(error.text, "secret"));
	assert_string_equal(text, "");
	unlink(path);
	assert_int_equal(node__read_auth(path, text, &error), -ENOENT);
}

/* ---- without memory */

static uint32_t allocations, last;

static void *allocate(size_t size)
{
	return ++allocations == last ? NULL : malloc(size);
}

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	assert_non_null(text);
	if (file) {
		assert_true(fread(text, 1, 65535, file) > 0);
		fclose(file);
	}
	return text;
}

/* Whichever allocation fails: the whole list is written, or an error is told. */
static void test_no_memory(void **state)
{
	struct member_list list = { .valid_ns = 1000, .version = 7, .session_ns = 10000 };
	char path[] = "/tmp/members.XXXXXX";
	struct dart_error error;
	uint32_t failures = 0;
	char *whole, *text;
	int ret;

	member_set__add(&list.present, 1);
	member_set__add(&list.present, 2);
	member_set__add(&list.present, 1000);
	portion_set__add(&list.unreached[1], 5);
	close(mkstemp(path));
	assert_int_equal(node__write_list(path, &list, "a-boot", &error), 0);
	whole = read_text(path);
	json_set_alloc_funcs(allocate, free);
	for (last = 1; last == 1 || allocations >= last - 1; last++) {
		allocations = 0;
		unlink(path);
		ret = node__write_list(path, &list, "a-boot", &error);
		text = read_text(path);
		assert_string_equal(text, ret ? "" : whole);
		free(text);
		failures += ret == -ENOMEM;
		if (allocations < last)
			break;
	}
	json_set_alloc_funcs(malloc, free);
	assert_true(failures > 10);
	free(whole);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a node is a member's if its name is a number from 1 to 1024", test_names),
		TEST("the name of a node says which agents a member does not reach",
		     test_unreached),
		TEST("the data of nodes is read back, and anything else is refused", test_data),
		TEST("the controller reads the list that is written", test_list),
		TEST("a list is whole, or an error is told, whichever allocation fails",
		     test_no_memory),
		TEST("credentials are one line of a file, and in no message", test_auth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
