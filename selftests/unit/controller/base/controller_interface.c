// SPDX-License-Identifier: GPL-2.0-only
/* Interfaces of this machine: the loopback, which each machine has. */
#include "selftests/unit/unit.h"
#include "tools/controller/base/interface.h"

static void test_address(void **state)
{
	char name[IF_NAMESIZE] = "x";

	assert_true(interface__of_address("127.0.0.1", name));
	assert_string_equal(name, "lo");
	/* For documentation: RFC 5737. */
	assert_false(interface__of_address("192.0.2.1", name));
	assert_string_equal(name, "");
	assert_false(interface__of_address("", name));
	assert_false(interface__of_address("lo", name));
}

static void test_speed(void **state)
{
	/* The loopback tells no speed, and neither does a missing interface. */
	assert_int_equal(interface__bits_per_s("lo"), 0);
	assert_int_equal(interface__bits_per_s("absent"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("an interface is found by an address that it has", test_address),
		TEST("an interface that does not tell its speed has none", test_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
