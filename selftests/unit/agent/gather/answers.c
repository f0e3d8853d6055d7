// SPDX-License-Identifier: GPL-2.0-only
/* Which answers dartd asks for on hosts with any number of CPUs. */
#include "agent/gather/answers.h"
#include "selftests/unit/unit.h"

/* struct vm_event_state of Linux 6.12 */
#define VMSTAT_BYTES 1056

/* As answer__append() of bpf/gather/answer.h: returns true if a program can append all copies. */
static bool can_append(uint64_t copies, uint32_t length)
{
	uint64_t used = 0;

	while (copies--) {
		if (used > GATHER_OUTPUT - GATHER_COPY_MAX)
			return false;
		used += length;
	}
	return used <= GATHER_OUTPUT;
}

static void test_cpus(void **state)
{
	assert_true(answers__fit(256, GATHER_COPY_MAX - 16));
	assert_true(answers__fit(989, VMSTAT_BYTES));
	assert_false(answers__fit(990, VMSTAT_BYTES));
	assert_false(answers__fit(GATHER_CPUS, VMSTAT_BYTES));
	assert_true(answers__fit(GATHER_CPUS, 120));
	assert_false(answers__fit(UINT32_MAX, GATHER_COPY_MAX));
}

/* An answer that a program could never complete would leave its record empty without a word. */
static void test_limit(void **state)
{
	uint64_t copies;
	uint32_t length;

	for (length = 8; length <= GATHER_COPY_MAX; length += 8) {
		copies = (GATHER_OUTPUT - GATHER_COPY_MAX) / length;
		assert_true(answers__fit(copies, length));
		assert_true(can_append(copies, length));
		assert_false(answers__fit(copies + 1, length));
		assert_false(can_append(copies + 2, length));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("990 CPUs are too many for the whole of vmstat", test_cpus),
		TEST("each answer that is asked for can be completed", test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
