// SPDX-License-Identifier: GPL-2.0-only
/*
 * Read plans, executed on a remote memory in which every byte follows from its
 * address, and compared with the plainest way to compute a gathered copy.
 */
#include <errno.h>
#include <stdio.h>

#include <libdart/rdma/read_plan.h>
#include <libdart/table/value.h>

#include "sample.h"

static uint8_t byte_at(uint64_t address)
{
	/* Never 0, so that a byte that was not gathered differs. */
	return 1 + (address * 0x9e3779b97f4a7c15 >> 56) % 255;
}

static const struct dart_memory_region *
region_of(const struct dart_table *table, const struct dart_read *read)
{
	uint32_t i;

	for (i = 0; i < table->memory_region_count; i++) {
		if (table->memory_regions[i].rkey == read->rkey)
			return &table->memory_regions[i];
	}
	fail_msg("no memory region has rkey %u", read->rkey);
	return NULL;
}

/* Does the adapter's work; the landing buffer has no spare byte. */
static uint8_t *plan__execute(const struct dart_read_plan *plan,
			      const struct dart_table *table)
{
	size_t size = dart_read_plan__landing_size(plan), end = 0;
	uint8_t *landing = calloc(1, size + !size);
	const struct dart_read *reads;
	uint32_t i, k, count;

	assert_non_null(landing);
	reads = dart_read_plan__reads(plan, &count);
	for (i = 0; i < count; i++) {
		const struct dart_read *read = &reads[i];
		const struct dart_memory_region *region =
			region_of(table, read);

		assert_true(read->address >= region->address);
		assert_true(read->length);
		assert_true(read->address + read->length <=
			    region->address + region->length);
		assert_true(read->landing >= end);
		for (k = 0; k < read->length; k++)
			landing[read->landing + k] = byte_at(read->address + k);
		end = read->landing + read->length;
	}
	assert_true(end <= size);
	return landing;
}

static void plan__expect_entry(const struct dart_read_plan *plan,
			       const struct dart_table *table, uint32_t index,
			       const uint8_t *landing)
{
	const struct dart_entry *entry = &table->entries[index];
	size_t size = dart_entry__size(entry);
	uint8_t *copies = malloc(size), *expected = calloc(1, size);
	uint32_t i, copy, k;

	assert_true(copies && expected);
	memset(copies, 0xa5, size);
	dart_read_plan__gather(plan, index, landing, copies);

	for (i = 0; i < entry->range_count; i++) {
		const struct dart_range *range = &entry->ranges[i];

		for (copy = 0; copy < range->copies; copy++)
			for (k = 0; k < range->length; k++)
				expected[(range->first_copy + copy) *
					 entry->schema->length +
					 range->offset + k] =
					byte_at(range->address +
						copy * range->stride + k);
	}
	assert_memory_equal(copies, expected, size);
	free(expected);
	free(copies);
}

/* Plans, fetches, gathers and compares; returns the number of READs. */
static uint32_t table__expect(const struct dart_table *table,
			      const uint32_t *entries, uint32_t entry_count)
{
	uint32_t i, reads, count = entries ? entry_count : table->entry_count;
	struct dart_read_plan *plan;
	uint8_t *landing;

	assert_int_equal(dart_read_plan__new(table, entries, entry_count,
					     &plan), 0);
	landing = plan__execute(plan, table);
	for (i = 0; i < count; i++)
		plan__expect_entry(plan, table, entries ? entries[i] : i,
				   landing);
	dart_read_plan__reads(plan, &reads);
	free(landing);
	dart_read_plan__free(plan);
	return reads;
}

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
		{ .address = 0x200000, .length = 0x38 },
		{ .address = 0x300010, .length = 0x28 },
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
	assert_true(dart_read_plan__landing_size(plan) >= 0x640 + 0x38 + 0x28);
	dart_read_plan__free(plan);
	sample__release(&sample);
}

static void test_gap_of_a_read(void **state)
{
	struct sample sample;
	int i;

	sample__expose_pages(&sample);
	/* cpustat ends at 0x100100, rows begin. */
	sample.ranges[5].address = 0x100100 + DART_READ_LENGTH_MAX - 1;
	for (i = 1; i < 5; i++)
		sample.ranges[i].address = 0x100000 + 16 * i;
	assert_int_equal(table__expect(&sample.table, NULL, 0), 1);
	sample.ranges[5].address++;
	assert_int_equal(table__expect(&sample.table, NULL, 0), 2);
	sample__release(&sample);
}

/* 8000 slices of 64 bytes in one slab, some removed, others of another process. */
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
	assert_int_equal(dart_read_plan__new(&sample.table, NULL, 0, &plan),
			 -EFBIG);
	sample.ranges[0].stride--;
	assert_int_equal(dart_read_plan__new(&sample.table, NULL, 0, &plan), 0);
	dart_read_plan__free(plan);
	dart_read_plan__free(NULL);
	sample__release(&sample);
}

struct random_table {
	struct dart_table table;
	struct dart_memory_region regions[6];
	struct dart_schema schemas[8];
	struct dart_entry entries[8];
	struct dart_range ranges[8][4 * 4];
	char names[8][2];
};

/* Entry @index: up to 4 groups of up to 4 runs, anywhere. */
static void random__entry(struct random_table *random, uint32_t index,
			  uint32_t span, uint64_t *state)
{
	uint32_t groups = 1 + random__below(state, 4);
	uint32_t runs = 1 + random__below(state, 4);
	uint32_t offset[4], length[4], at = 0, i, group;
	struct dart_entry *entry = &random->entries[index];

	for (i = 0; i < runs; i++) {
		offset[i] = at + random__below(state, 9);
		length[i] = 1 + random__below(state, 40);
		at = offset[i] + length[i];
	}
	random->schemas[index] = (struct dart_schema) {
		.name = "", .length = at + random__below(state, 9),
	};
	*entry = (struct dart_entry) {
		.name = random->names[index],
		.schema = &random->schemas[index],
		.kind = DART_CONTROL_ENTRY_MAP,
		.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
		.copies_are = DART_CONTROL_COPIES_ROW,
		.ranges = random->ranges[index],
		.range_count = groups * runs,
	};
	for (group = 0; group < groups; group++) {
		uint32_t copies = 1 + random__below(state, 5);

		for (i = 0; i < runs; i++) {
			uint32_t region = random__below(state, 6);

			entry->ranges[group * runs + i] = (struct dart_range) {
				.address = random->regions[region].address +
					   random__below(state, span),
				.stride = length[i] + random__below(state, 99),
				.memory_region = region,
				.first_copy = entry->copies,
				.copies = copies,
				.offset = offset[i],
				.length = length[i],
			};
		}
		entry->copies += copies;
	}
}

static void random__init(struct random_table *random, uint32_t span,
			 uint64_t *state)
{
	uint32_t i;

	*random = (struct random_table) {
		.table = {
			.generation = 1,
			.instance = 1,
			.exposure = DART_CONTROL_EXPOSURE_EXACT,
			.cpus = 1,
			.page_size = 4096,
			.memory_regions = random->regions,
			.memory_region_count = 6,
			.entries = random->entries,
			.entry_count = 1 + random__below(state, 8),
		},
	};
	for (i = 0; i < 6; i++)
		random->regions[i] = (struct dart_memory_region) {
			.address = 1 + random__below(state, 1ULL << 31),
			.length = span + 1096,
			.rkey = i,
		};
	for (i = 0; i < random->table.entry_count; i++) {
		random->names[i][0] = 'a' + i;
		random__entry(random, i, span, state);
	}
}

static void test_random(void **state)
{
	uint64_t seed = 20240229, next = seed;
	struct random_table *random = calloc(1, sizeof(*random));
	uint32_t i, k, chosen[8], count;
	int round;

	assert_non_null(random);
	printf("# seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 5000; round++) {
		uint8_t *bytes;
		size_t length;

		random__init(random, 3000, &next);
		/* Fails unless the table is valid. */
		bytes = sample__bytes(&random->table, &length);
		free(bytes);

		assert_in_range(table__expect(&random->table, NULL, 0), 1, 6);

		/* Some of the entries, in any order. */
		count = 0;
		for (i = 0; i < random->table.entry_count; i++) {
			if (random__below(&next, 2))
				continue;
			k = random__below(&next, count + 1);
			chosen[count++] = chosen[k];
			chosen[k] = i;
		}
		table__expect(&random->table, chosen, count);
	}
	free(random);
}

/* As many as fetch all bytes from the first wanted one of each region to the last. */
static uint32_t operations_of_extents(const struct dart_table *table)
{
	uint64_t low[6], high[6] = { }, end;
	uint32_t operations = 0, i, j;

	for (i = 0; i < table->entry_count; i++)
		for (j = 0; j < table->entries[i].range_count; j++) {
			const struct dart_range *range =
				&table->entries[i].ranges[j];
			uint32_t region = range->memory_region;

			end = range->address + range->length +
			      (uint64_t)(range->copies - 1) * range->stride;
			if (!high[region] || range->address < low[region])
				low[region] = range->address;
			if (end > high[region])
				high[region] = end;
		}
	for (i = 0; i < 6; i++)
		if (high[i])
			operations += (high[i] - low[i] +
				       DART_READ_LENGTH_MAX - 1) /
				      DART_READ_LENGTH_MAX;
	return operations;
}

static void test_wide(void **state)
{
	uint64_t next = 20261122, fetched, spanned = 0, total = 0;
	struct random_table *random = calloc(1, sizeof(*random));
	const struct dart_read *reads;
	struct dart_read_plan *plan;
	uint32_t i, count, operations;
	int round;

	assert_non_null(random);
	for (round = 0; round < 200; round++) {
		random__init(random, 1 << 20, &next);
		table__expect(&random->table, NULL, 0);
		assert_int_equal(dart_read_plan__new(&random->table, NULL, 0,
						     &plan), 0);
		reads = dart_read_plan__reads(plan, &count);
		operations = 0;
		fetched = 0;
		for (i = 0; i < count; i++) {
			operations += (reads[i].length +
				       DART_READ_LENGTH_MAX - 1) /
				      DART_READ_LENGTH_MAX;
			fetched += reads[i].length;
		}
		assert_true(operations <= operations_of_extents(&random->table));
		total += fetched;
		spanned += operations_of_extents(&random->table);
		dart_read_plan__free(plan);
	}
	assert_true(total < spanned * DART_READ_LENGTH_MAX / 2);
	free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("with exact exposure, a plan has one READ for each memory region of the chosen entries",
		     test_exact),
		TEST("with exposed pages, a plan has one READ for all that lies near each other",
		     test_pages),
		TEST("a plan skips gaps that are as long as an operation of the adapter, and no shorter ones",
		     test_gap_of_a_read),
		TEST("8000 adjacent slices of 64 bytes are one READ, one at the other end of the slab is another",
		     test_slices),
		TEST("bytes of a copy that are in no range are gathered as zero",
		     test_gaps),
		TEST("a plan that fetches one byte more than the limit is refused with EFBIG",
		     test_too_large),
		TEST("plans for random tables gather every byte from its address",
		     test_random),
		TEST("skipping gaps fetches less with no more operations of the adapter",
		     test_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
