// SPDX-License-Identifier: GPL-2.0-only
/* Each rule that chooses between the direct and the gathered way, at its bounds. */
#include <string.h>

#include <dart/control.h>
#include <linux/dart_zero.h>

#include "agent/table/source_plan.h"
#include "selftests/unit/unit.h"

/* A cgroup of a host with 4 CPUs, every second: 8 READs, 1 gathered, 2 us for a pass. */
static struct source_plan cgroup(void)
{
	return (struct source_plan){
		.interval_ms = 1000,
		.objects = 1,
		.windows_max = 16384,
		.copies = 4,
		.runs = 2,
		.run_bytes = 40,
		.span = 3 * 4096 + 64,
		.pass_ns = 2000,
		.rows = 1,
		.row_bytes = 64,
	};
}

/* True if a sentence of the plan contains @text. */
static bool says(const struct source_plan *plan, const char *text)
{
	uint32_t i;

	for (i = 0; i < plan->reason_count; i++)
		if (strstr(plan->reasons[i], text))
			return true;
	for (i = 0; i < plan->reason_count; i++)
		print_message("%s\n", plan->reasons[i]);
	return false;
}

static void assert_direct(struct source_plan *plan, const char *why)
{
	source_plan__choose(plan);
	assert_true(says(plan, why));
	assert_false(plan->is_gathered);
	assert_int_equal(plan->gather_ms, 0);
}

static void assert_gathered(struct source_plan *plan, uint32_t ms, const char *why)
{
	source_plan__choose(plan);
	assert_true(says(plan, why));
	assert_true(plan->is_gathered);
	assert_int_equal(plan->gather_ms, ms);
}

static void test_impossible(void **state)
{
	struct source_plan plan = cgroup();

	plan.why_not_direct = "the kernel is locked down";
	assert_gathered(&plan, 1000, "Direct exposure is impossible: the kernel is locked down.");
	assert_false(says(&plan, "Direct: "));
	plan.interval_ms = 1;
	assert_gathered(&plan, DART_ZERO_RECORD_MS_MIN,
			"The shortest interval of gathering is 10 ms");
}

static void test_too_many_objects(void **state)
{
	struct source_plan plan = cgroup();

	plan.interval_ms = 60000;
	plan.pass_ns = 1000000;
	plan.objects = plan.windows_max;
	assert_direct(&plan, "cost the host nothing");
	plan.objects++;
	assert_gathered(&plan, 60000, "the region shows at most 16384 objects");
}

static void test_too_many_bytes(void **state)
{
	struct source_plan plan = cgroup();

	plan.pass_ns = 1000000000;
	plan.runs = 1;
	plan.objects = 1024;
	plan.run_bytes = DART_CONTROL_DATA_MAX / plan.copies / plan.objects;
	assert_direct(&plan, "4096 READs, 268435456 bytes");
	plan.run_bytes++;
	assert_gathered(&plan, 1000, "a controller takes at most 268435456 bytes");
}

static void test_short_interval(void **state)
{
	struct source_plan plan = cgroup();

	plan.objects = 1000;
	plan.interval_ms = 9;
	assert_direct(&plan, "The shortest interval of gathering is 10 ms, longer than 9ms.");
	plan.interval_ms = 10;
	source_plan__choose(&plan);
	assert_false(says(&plan, "The shortest interval"));
}

static void test_as_many_reads(void **state)
{
	struct source_plan plan = cgroup();

	plan.copies = 1;
	plan.runs = 1;
	assert_direct(&plan, "Gathering saves a controller no READ");
	assert_true(
		says(&plan,
		     "Direct: 1 object, 1 copy of each with 1 run of counters: 1 READ, 40 bytes."));
	assert_true(says(&plan, "Gathered: 1 object, 1 row of 64 bytes for each: 1 READ, 64 bytes."));
	plan.runs = 2;
	assert_gathered(&plan, 1000, "Gathering saves a controller 1 of 2 READs.");
}

/* 16 READs take 16 us: 8 of each object, 10 ms of 100 ms for 1,250 objects. */
static void test_slow_reads(void **state)
{
	struct source_plan plan = cgroup();

	plan.interval_ms = 100;
	plan.pass_ns = 1000000;
	plan.objects = 1250;
	assert_direct(&plan, "The direct READs take 10.0 ms, at most a tenth of 100ms");
	assert_float_equal(plan.reads_share, 0.1, 1e-9);
	plan.objects++;
	assert_gathered(&plan, 100, "The direct READs take 10.0 ms, more than a tenth of 100ms");
	assert_true(says(&plan, "about 1251 % of a CPU: 1251 objects of 1000 us every 100ms."));
	assert_true(says(&plan, "1 % or less at intervals from 126s on."));
	/* Gathering has no interval as long as this. */
	plan.pass_ns = 36000000;
	source_plan__choose(&plan);
	assert_true(plan.is_gathered);
	assert_false(says(&plan, "at intervals from"));
}

static void test_costly_gathering(void **state)
{
	struct source_plan plan = cgroup();

	plan.objects = 5000;
	assert_gathered(&plan, 1000, "about 1.00 % of a CPU: 5000 objects of 2.00 us every 1s.");
	assert_true(says(&plan, "Gathering saves a controller 39998 of 40000 READs."));
	assert_false(says(&plan, "at intervals from"));
	plan.pass_ns++;
	assert_direct(
		&plan,
		"The direct READs take 40.0 ms, at most a tenth of 1s, and cost the host nothing.");
	assert_true(says(&plan, "at intervals from 1001ms on."));
	assert_float_equal(plan.cpu_share, 0.010005, 1e-9);
}

static void test_pages(void **state)
{
	struct source_plan plan = cgroup();

	plan.is_by_page = true;
	assert_direct(&plan, "at most 1 READ, 12352 bytes.");
	plan.objects = 10;
	assert_gathered(&plan, 1000, "at most 10 READs, 123520 bytes.");
	plan.span = SOURCE_PLAN_READ_BYTES + 1;
	assert_gathered(&plan, 1000, "at most 20 READs");
}

/* Memory regions of 1, 2, 4, 8 and then 16 MiB, each in READs of 192 KiB. */
static void test_records(void **state)
{
	static const struct {
		uint32_t mib, reads;
	} sizes[] = {
		{ 1, 6 }, { 3, 6 + 11 }, { 7, 6 + 11 + 22 }, { 15, 6 + 11 + 22 + 43 },
		{ 31, 6 + 11 + 22 + 43 + 86 }, { 47, 6 + 11 + 22 + 43 + 2 * 86 },
		{ 48, 6 + 11 + 22 + 43 + 2 * 86 + 6 },
	};
	struct source_plan plan = cgroup();
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		plan.row_bytes = sizes[i].mib << 14;
		plan.objects = 64;
		source_plan__choose(&plan);
		assert_int_equal(plan.gathered_reads, sizes[i].reads);
		assert_int_equal(plan.gathered_bytes, (uint64_t)sizes[i].mib << 20);
		plan.objects = 65;
		source_plan__choose(&plan);
		assert_true(plan.gathered_reads > sizes[i].reads);
	}
	plan.has_more_rows = true;
	plan.rows = 3;
	source_plan__choose(&plan);
	assert_true(says(&plan, "at least 3 rows"));
}

/* Whatever the numbers are: whole sentences, and no way that does not exist. */
static void test_random(void **state)
{
	uint64_t seed = 38;
	struct source_plan plan;
	uint32_t i, j;
	size_t length;

	for (i = 0; i < 20000; i++) {
		plan = cgroup();
		plan.interval_ms = 1 + random__below(&seed, 2) *
					       random__below(&seed, DART_ZERO_RECORD_MS_MAX);
		plan.objects = 1 + random__below(&seed, DART_ZERO_RECORDS_MAX);
		plan.copies = 1 + random__below(&seed, 8192);
		plan.runs = 1 + random__below(&seed, 128);
		plan.run_bytes = 1 + random__below(&seed, 65536);
		plan.span = (uint64_t)plan.copies * 65536;
		plan.is_by_page = random__below(&seed, 2);
		plan.pass_ns = 1 + random__below(&seed, 100000000);
		plan.rows = 1 + random__below(&seed, 2) * random__below(&seed, 64);
		plan.row_bytes = 64 * (1 + random__below(&seed, 64));
		source_plan__choose(&plan);
		assert_in_range(plan.reason_count, 2, SOURCE_PLAN_REASONS_MAX);
		for (j = 0; j < plan.reason_count; j++) {
			length = strlen(plan.reasons[j]);
			assert_true(length > 1 && plan.reasons[j][length - 1] == '.');
		}
		if (plan.is_gathered)
			assert_in_range(plan.gather_ms, DART_ZERO_RECORD_MS_MIN,
					DART_ZERO_RECORD_MS_MAX);
		else
			assert_true(plan.direct_bytes <= DART_CONTROL_DATA_MAX &&
				    plan.objects <= plan.windows_max && !plan.gather_ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a source without windows is gathered, at 10 ms if less is wanted",
		     test_impossible),
		TEST("more objects than the region shows are gathered", test_too_many_objects),
		TEST("more bytes than a controller takes are gathered", test_too_many_bytes),
		TEST("below 10 ms a source is direct", test_short_interval),
		TEST("a source that gathering saves no READ is direct", test_as_many_reads),
		TEST("READs that take more than a tenth of the interval are spared", test_slow_reads),
		TEST("gathering that takes more than 1 % of a CPU is spared", test_costly_gathering),
		TEST("page exposure takes at most a READ for each object and 192 KiB", test_pages),
		TEST("gathered records take a READ for each memory region and 192 KiB",
		     test_records),
		TEST("whole sentences say which of the possible ways is chosen", test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
