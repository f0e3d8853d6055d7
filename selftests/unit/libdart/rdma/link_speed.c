// SPDX-License-Identifier: GPL-2.0-only
/* The speed of a port. */
#include <libdart/rdma/path_internal.h>

#include "selftests/unit/unit.h"

static void test_known(void **state)
{
	/* As the kernel tells 1, 10, 25, 40, 50, 100, 200 and 400 Gbit/s Ethernet. */
	static const struct {
		uint8_t speed, width;
		uint64_t gbits, tenths;
	} ports[] = {
		{ 1, 1, 2, 5 },	  { 8, 1, 10, 0 },  { 32, 1, 25, 0 },
		{ 8, 2, 40, 0 },  { 32, 16, 50, 0 }, { 32, 2, 100, 0 },
		{ 64, 2, 200, 0 }, { 128, 2, 400, 0 },
	};

	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++)
		assert_int_equal(dart_path__link_speed(ports[i].speed, ports[i].width),
				 ports[i].gbits * 1000000000 + ports[i].tenths * 100000000);
}

static void test_unknown(void **state)
{
	assert_int_equal(dart_path__link_speed(0, 1), 0);
	assert_int_equal(dart_path__link_speed(3, 2), 0);
	assert_int_equal(dart_path__link_speed(1, 0), 0);
	assert_int_equal(dart_path__link_speed(1, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("the speed of a port is that of a lane for each of its lanes", test_known),
		TEST("a port with an unknown code has an unknown speed", test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
