// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/table/entry_name.h"

static void assert_called(const char *source, const char *label,
			  const char *expected)
{
	char name[DART_REGISTRATION_NAME_MAX];
	struct dart_error error;

	assert_int_equal(entry_name__of(name, source, label, &error), 0);
	assert_string_equal(name, expected);
	assert_int_equal(entry_name__check(name, &error), 0);
}

static void a_label_is_part_of_the_name(void **state)
{
	(void)state;
	assert_called("cpustat", NULL, "cpustat");
	assert_called("snmp:tcp", "blue", "snmp:tcp@blue");
	assert_called("cgroup:cpu", "/a.slice/b.scope",
		      "cgroup:cpu@/a.slice/b.scope");
}

static void what_a_name_cannot_have_is_encoded(void **state)
{
	(void)state;
	/* As systemd writes what it escapes. */
	assert_called("cgroup:cpu", "/a.slice/b\\x2dc,d",
		      "cgroup:cpu@/a.slice/b%5Cx2dc%2Cd");
	assert_called("disk:stats", "a b", "disk:stats@a%20b");
	assert_called("disk:stats", "\xc3\xa4\"\n", "disk:stats@%C3%A4%22%0A");
	assert_called("disk:stats", "100%", "disk:stats@100%25");
	/* and so cannot be the name of a follow */
	assert_called("snmp:tcp", "*", "snmp:tcp@%2A");
}

static void a_name_that_is_too_long_is_refused(void **state)
{
	char label[DART_REGISTRATION_NAME_MAX + 1] = "";
	char name[DART_REGISTRATION_NAME_MAX];
	size_t room = DART_REGISTRATION_NAME_MAX - 1 - strlen("a@");
	struct dart_error error;

	(void)state;
	memset(label, 'x', room);
	assert_int_equal(entry_name__of(name, "a", label, &error), 0);
	label[room] = 'x';
	assert_int_equal(entry_name__of(name, "a", label, &error),
			 -ENAMETOOLONG);
	label[room] = '\0';
	for (size_t i = 0; i < 3; i++) {
		memset(label + room - 1 - i, ' ', 1);
		assert_int_equal(entry_name__of(name, "a", label, &error),
				 -ENAMETOOLONG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_is_part_of_the_name),
		cmocka_unit_test(what_a_name_cannot_have_is_encoded),
		cmocka_unit_test(a_name_that_is_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
