// SPDX-License-Identifier: GPL-2.0-only
/* Read plans of random tables. */
#include <stdio.h>

#include "read_plan_expect.h"

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

static void random__init(struct random_table *random, uint32_t span, uint64_t *state)
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

/* The number of bytes from the first wanted byte of each region to the last. */
static uint64_t bytes_of_extents(const struct dart_table *table)
{
	uint64_t low[6], high[6] = { }, end;
	uint64_t bytes = 0;
	uint32_t i, j;

	for (i = 0; i < table->entry_count; i++)
		for (j = 0; j < table->entries[i].range_count; j++) {
			const struct dart_range *range = &table->entries[i].ranges[j];
			uint32_t region = range->memory_region;

			end = range->address + range->length +
			      (uint64_t)(range->copies - 1) * range->stride;
			if (!high[region] || range->address < low[region])
				low[region] = range->address;
			if (end > high[region])
				high[region] = end;
		}
	for (i = 0; i < 6; i++)
		bytes += high[i] - low[i];
	return bytes;
}

static void test_wide(void **state)
{
	uint64_t next = 20261122, fetched, spanned = 0, total = 0, bytes;
	struct random_table *random = calloc(1, sizeof(*random));
	const struct dart_read *reads;
	struct dart_read_plan *plan;
	uint32_t i, count;
	int round;

	assert_non_null(random);
	for (round = 0; round < 200; round++) {
		random__init(random, 1 << 20, &next);
		table__expect(&random->table, NULL, 0);
		assert_int_equal(dart_read_plan__new(&random->table, NULL, 0, &plan), 0);
		reads = dart_read_plan__reads(plan, &count);
		fetched = 0;
		for (i = 0; i < count; i++)
			fetched += reads[i].length;
		bytes = bytes_of_extents(&random->table);
		/* At most 6 regions: each further READ skips a gap. */
		if (count > 6)
			assert_true(fetched + (count - 6) * DART_READ_GAP_MAX <= bytes);
		total += fetched;
		spanned += bytes;
		dart_read_plan__free(plan);
	}
	assert_true(total < spanned / 2);
	free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("plans for random tables gather every byte from its address", test_random),
		TEST("each further READ of a plan saves 64 KiB or more", test_wide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
