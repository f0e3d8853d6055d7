// SPDX-License-Identifier: GPL-2.0-only
/* Read plans of tables made by hand. */
#include <errno.h>

#include "read_plan_expect.h"

static void test_exact(void **state)
{
	static const uint32_t pair[] = { SAMPLE_PAIR };
	static const uint32_t others[] = { SAMPLE_ROWS, SAMPLE_CPUSTAT };
	static const uint32_t shuffled[] = { 2, 0, 1 };
	struct sample sample;

	sample__init(&sample);
	assert_int_equal(table__expect(&sample.table, NULL, 0), 3);
	assert_int_equal(table__expect(&sample.table, shuffled, 3), 3);
	assert_int_equal(table__expect(&sample.table, pair, 1), 2);
	assert_int_equal(table__expect(&sample.table, others, 2), 1);
	assert_int_equal(table__expect(&sample.table, pair, 0), 0);
	sample__release(&sample);
}

/* The whole sample in one memory region. */
static void sample__expose_pages(struct sample *sample)
{
	uint32_t i;

	sample__init(sample);
	sample->table.exposure = DART_CONTROL_EXPOSURE_PAGE;
	sample->table.memory_region_count = 1;
	sample->memory_regions[0].length = 0x300000;
	for (i = 0; i < 6; i++)
		sample->ranges[i].memory_region = 0;
}

static void test_pages(void **state)
{
	static const struct dart_read expected[] = {
		{ .address = 0x100000, .length = 0x640 },
		{ .address = 0x200000, .length = 0x40 },
		{ .address = 0x300000, .length = 0x40 },
	};
	const struct dart_read *reads;
	struct dart_read_plan *plan;
	struct sample sample;
	uint32_t i, count;

	sample__expose_pages(&sample);
	assert_int_equal(table__expect(&sample.table, NULL, 0), 3);
	assert_int_equal(dart_read_plan__new(&sample.table, NULL, 0, &plan), 0);
	reads = dart_read_plan__reads(plan, &count);
	for (i = 0; i < 3; i++) {
		assert_int_equal(reads[i].address, expected[i].address);
		assert_int_equal(reads[i].length, expected[i].length);
		assert_int_equal(reads[i].rkey, 11);
	}
	assert_true(dart_read_plan__landing_size(plan) >= 0x640 + 0x80);
	dart_read_plan__free(plan);
	sample__release(&sample);
}

/* The wanted bytes of the third memory region are [0x300010, 0x300038). */
static void test_lines(void **state)
{
	static const struct {
		uint64_t begin, end;	/* of the memory region */
		struct dart_read read;
	} cases[] = {
		{ 0x300000, 0x300100, { .address = 0x300000, .length = 0x40 } },
		{ 0x300010, 0x300100, { .address = 0x300010, .length = 0x30 } },
		{ 0x300008, 0x300100, { .address = 0x300008, .length = 0x38 } },
		{ 0x300000, 0x300038, { .address = 0x300000, .length = 0x38 } },
		{ 0x300010, 0x300038, { .address = 0x300010, .length = 0x28 } },
	};
	static const uint32_t pair[] = { SAMPLE_PAIR };
	const struct dart_read *reads;
	struct dart_read_plan *plan;
	struct sample sample;
	uint32_t count;
	size_t i;

	sample__init(&sample);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sample.memory_regions[2].address = cases[i].begin;
		sample.memory_regions[2].length = cases[i].end - cases[i].begin;
		assert_int_equal(table__expect(&sample.table, pair, 1), 2);
		assert_int_equal(dart_read_plan__new(&sample.table, pair, 1, &plan), 0);
		reads = dart_read_plan__reads(plan, &count);
		assert_int_equal(count, 2);
		assert_int_equal(reads[1].address, cases[i].read.address);
		assert_int_equal(reads[1].length, cases[i].read.length);
		dart_read_plan__free(plan);
	}
	sample__release(&sample);
}

static void test_gap_of_a_read(void **state)
{
	struct sample sample;
	int i;

	sample__expose_pages(&sample);
	/* cpustat ends at 0x100100, rows begin. */
	sample.ranges[5].address = 0x100100 + DART_READ_GAP_MAX - 1;
	for (i = 1; i < 5; i++)
		sample.ranges[i].address = 0x100000 + 16 * i;
	assert_int_equal(table__expect(&sample.table, NULL, 0), 1);
	sample.ranges[5].address++;
	assert_int_equal(table__expect(&sample.table, NULL, 0), 2);
	sample__release(&sample);
}

/* 8000 slices of 64 bytes in one slab, some removed, some of another process. */
static void test_slices(void **state)
{
	enum { COUNT = 8000, LENGTH = 64 };
	struct dart_memory_region slab = {
		.address = 1 << 20, .length = 64 << 20, .rkey = 5,
	};
	struct dart_schema schema = { .name = (char *)"work", .length = LENGTH };
	struct dart_range *ranges = calloc(COUNT, sizeof(*ranges));
	struct dart_entry *entries = calloc(COUNT, sizeof(*entries));
	struct dart_table table = {
		.memory_regions = &slab, .memory_region_count = 1,
		.entries = entries, .entry_count = COUNT,
	};
	const struct dart_read *read;
	struct dart_read_plan *plan;
	uint32_t i, count;

	assert_true(ranges && entries);
	for (i = 0; i < COUNT; i++) {
		ranges[i] = (struct dart_range) {
			.address = slab.address + (COUNT - 1 - i) * LENGTH,
			.stride = LENGTH, .copies = 1, .length = LENGTH,
		};
		entries[i] = (struct dart_entry) {
			.name = "", .schema = &schema, .copies = 1,
			.ranges = &ranges[i], .range_count = 1,
		};
	}
	assert_int_equal(dart_read_plan__new(&table, NULL, 0, &plan), 0);
	read = dart_read_plan__reads(plan, &count);
	assert_int_equal(count, 1);
	assert_int_equal(read->length, COUNT * LENGTH);
	dart_read_plan__free(plan);

	/* The other end of the slab is another READ, not 64 MiB. */
	ranges[0].address = slab.address + slab.length - LENGTH;
	assert_int_equal(table__expect(&table, NULL, 0), 2);
	free(ranges);
	free(entries);
}

static void test_gaps(void **state)
{
	struct dart_read_plan *plan;
	uint8_t copies[3 * 24], *landing;
	struct sample sample;
	int i;

	sample__init(&sample);
	assert_int_equal(dart_read_plan__new(&sample.table, NULL, 0, &plan), 0);
	landing = plan__execute(plan, &sample.table);
	memset(copies, 0xa5, sizeof(copies));
	dart_read_plan__gather(plan, SAMPLE_PAIR, landing, copies);
	for (i = 0; i < (int)sizeof(copies); i++) {
		if (i % 24 >= 8 && i % 24 < 16)
			assert_int_equal(copies[i], 0);
		else
			assert_int_not_equal(copies[i], 0);
	}
	free(landing);
	dart_read_plan__free(plan);
	sample__release(&sample);
}

static void test_too_large(void **state)
{
	struct dart_read_plan *plan;
	struct sample sample;

	sample__init(&sample);
	sample.table.entry_count = 1;
	sample.memory_regions[0].length = 1ULL << 40;
	sample.ranges[0].stride = (DART_CONTROL_DATA_MAX - 64) / 3 + 1;
	assert_int_equal(dart_read_plan__new(&sample.table, NULL, 0, &plan), -EFBIG);
	sample.ranges[0].stride--;
	assert_int_equal(dart_read_plan__new(&sample.table, NULL, 0, &plan), 0);
	dart_read_plan__free(plan);
	dart_read_plan__free(NULL);
	sample__release(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("with exact exposure, a plan has one READ for each memory region of the chosen entries",
		     test_exact),
		TEST("with exposed pages, a plan has one READ for all that lies near each other",
		     test_pages),
		TEST("READs begin and end at lines of 64 bytes, or with their memory region",
		     test_lines),
		TEST("a plan skips gaps of 64 KiB, and no shorter ones", test_gap_of_a_read),
		TEST("8000 adjacent slices of 64 bytes are one READ, one at the other end of the slab is another",
		     test_slices),
		TEST("bytes of a copy that are in no range are gathered as zero", test_gaps),
		TEST("a plan that fetches one byte more than the limit is refused with EFBIG",
		     test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
