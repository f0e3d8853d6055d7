// SPDX-License-Identifier: GPL-2.0-only
/* The agent's data about its host: lists of CPUs. */
#include <errno.h>
#include <string.h>

#include "agent/base/host.h"
#include "selftests/unit/unit.h"

#define WORDS 128

static int parse(const char *list, uint64_t online[WORDS], uint32_t cpus)
{
	memset(online, 0xa5, WORDS * sizeof(*online));
	return host__parse_cpus(list, online, cpus);
}

static void test_lists(void **state)
{
	uint64_t online[WORDS];

	assert_int_equal(parse("0\n", online, 1), 0);
	assert_int_equal(online[0], 1);
	assert_int_equal(parse("0-3,8\n", online, 16), 0);
	assert_int_equal(online[0], 0x10f);
	assert_int_equal(parse("1,3-4,63-65", online, 66), 0);
	assert_int_equal(online[0], 0x800000000000001a);
	assert_int_equal(online[1], 3);
}

static void test_many(void **state)
{
	uint64_t online[WORDS];
	uint32_t i;

	assert_int_equal(parse("0-8190\n", online, 8192), 0);
	for (i = 0; i < WORDS - 1; i++)
		assert_int_equal(online[i], UINT64_MAX);
	assert_int_equal(online[WORDS - 1], UINT64_MAX >> 1);
}

static void test_refused(void **state)
{
	static const char *const lists[] = {
		"", "\n", ",", "0,", "0-", "-3", "3-0", "4", "0-4", "x", "0 1",
		"0x1", "99999999999999999999", " (null)\n",
	};
	uint64_t online[WORDS];
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (parse(lists[i], online, 4) != -EINVAL)
			fail_msg("\"%s\" is accepted", lists[i]);
	}
}

/* The words after the CPUs' words stay untouched. */
static void test_this_host(void **state)
{
	uint64_t online[WORDS];
	char name[72];

	memset(online, 0xa5, sizeof(online));
	assert_int_equal(host__online_cpus(online, 4096), 0);
	assert_int_equal(online[0] & 1, 1);
	assert_int_equal(online[64], 0xa5a5a5a5a5a5a5a5);
	/* Not all of them, or there was no tick. */
	host__nohz_full_cpus(online, 4096);
	assert_int_not_equal(online[0], UINT64_MAX);
	assert_int_equal(online[63], 0);
	assert_int_equal(online[64], 0xa5a5a5a5a5a5a5a5);
	memset(name, 'x', sizeof(name));
	host__name(name, sizeof(name));
	assert_in_range(strlen(name), 1, sizeof(name) - 1);
	assert_int_equal(name[sizeof(name) - 1], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a list of CPUs becomes a bitmap", test_lists),
		TEST("a list of 8,191 CPUs becomes a bitmap", test_many),
		TEST("a list with another form, or with a CPU that cannot be, is refused",
		     test_refused),
		TEST("the kernel of this machine has a name and tells its online CPUs, and which have nohz_full",
		     test_this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
