// SPDX-License-Identifier: GPL-2.0-only
/* Names of entries, made from a source and a label. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <dart/registration.h>

#include "agent/base/entry_name.h"
#include "selftests/unit/unit.h"

static void assert_name(const char *source, const char *label, const char *expected)
{
	char name[DART_CONTROL_ENTRY_NAME_MAX];
	struct dart_error error;

	assert_int_equal(entry_name__of(name, source, label, &error), 0);
	assert_string_equal(name, expected);
}

/* Names that clients choose are shorter than names that the agent forms. */
static void test_chosen(void **state)
{
	char name[DART_REGISTRATION_NAME_MAX + 1] = "";
	struct dart_error error;

	memset(name, 'x', DART_REGISTRATION_NAME_MAX - 1);
	assert_int_equal(entry_name__check(name, &error), 0);
	name[DART_REGISTRATION_NAME_MAX - 1] = 'x';
	assert_int_equal(entry_name__check(name, &error), -EINVAL);
	assert_int_equal(entry_name__check("", &error), -EINVAL);
	assert_int_equal(entry_name__check("a b", &error), -EINVAL);
	assert_int_equal(entry_name__check("cgroup:cpu@/a%20b+1s", &error), 0);
}

/* Any path of the kernel gets a name, even if each byte must be encoded. */
static void test_longest_path(void **state)
{
	char path[4096] = "", name[DART_CONTROL_ENTRY_NAME_MAX];
	struct dart_error error;

	memset(path, '\xff', sizeof(path) - 1);
	assert_int_equal(entry_name__of(name, "cgroup:limits", path, &error), 0);
	assert_int_equal(strlen(name), strlen("cgroup:limits@") + 3 * strlen(path));
}

static void test_label(void **state)
{
	assert_name("cpustat", NULL, "cpustat");
	assert_name("snmp:tcp", "blue", "snmp:tcp@blue");
	assert_name("cgroup:cpu", "/a.slice/b.scope", "cgroup:cpu@/a.slice/b.scope");
}

static void test_encoded(void **state)
{
	/* systemd itself escapes with a backslash. */
	assert_name("cgroup:cpu", "/a.slice/b\\x2dc,d", "cgroup:cpu@/a.slice/b%5Cx2dc%2Cd");
	assert_name("disk:stats", "a b", "disk:stats@a%20b");
	assert_name("disk:stats", "\xc3\xa4\"\n", "disk:stats@%C3%A4%22%0A");
	assert_name("disk:stats", "100%", "disk:stats@100%25");
	/* A label cannot imitate the name of a follower. */
	assert_name("snmp:tcp", "*", "snmp:tcp@%2A");
}

static void test_too_long(void **state)
{
	char label[DART_CONTROL_ENTRY_NAME_MAX + 1] = "";
	char name[DART_CONTROL_ENTRY_NAME_MAX];
	size_t room = DART_CONTROL_ENTRY_NAME_MAX - 1 - strlen("a@");
	struct dart_error error;

	memset(label, 'x', room);
	assert_int_equal(entry_name__of(name, "a", label, &error), 0);
	label[room] = 'x';
	assert_int_equal(entry_name__of(name, "a", label, &error), -ENAMETOOLONG);
	label[room] = '\0';
	for (size_t i = 0; i < 3; i++) {
		memset(label + room - 1 - i, ' ', 1);
		assert_int_equal(entry_name__of(name, "a", label, &error), -ENAMETOOLONG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an entry's name is its source, '@' and its label", test_label),
		TEST("bytes that a name must not contain are percent-encoded in a label",
		     test_encoded),
		TEST("a client chooses a name of 1 to 255 allowed characters", test_chosen),
		TEST("a path of 4,095 bytes, all to be encoded, has a name", test_longest_path),
		TEST("a name that is one byte too long, encoded, is refused with ENAMETOOLONG",
		     test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
