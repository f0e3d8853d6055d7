// SPDX-License-Identifier: GPL-2.0-only
/* A change among many entries takes little work, in an honest table and the largest. */
#include <inttypes.h>
#include <stdio.h>

#include "comparisons.h"
#include "sample.h"

/* The longest table, DART_CONTROL_LENGTH_MAX, holds little more. */
#define MOST 180000

/* Entries @first to @first + @count - 1, not in the order of names. */
static struct dart_table *decode_large(uint32_t first, uint32_t count)
{
	struct dart_memory_region region = {
		.address = 0x1000,
		.length = 8,
		.rkey = 1,
	};
	struct dart_range range = {
		.address = 0x1000,
		.stride = 8,
		.copies = 1,
		.length = 8,
	};
	struct dart_entry *entries = calloc(count, sizeof(*entries));
	char (*names)[8] = calloc(count, sizeof(*names));
	struct dart_schema *schema = dart_schema__new("s", 8);
	struct dart_table table = {
		.generation = 1,
		.instance = 1,
		.exposure = DART_CONTROL_EXPOSURE_EXACT,
		.cpus = 1,
		.page_size = 4096,
		.memory_regions = &region,
		.memory_region_count = 1,
		.entries = entries,
		.entry_count = count,
	};
	struct dart_table_writer *writer;
	struct dart_table *decoded;
	uint8_t *bytes;
	int length;

	assert_true(entries && names && schema);
	for (uint32_t i = 0; i < count; i++) {
		/* A permutation: 7919 is prime and no factor of @count. */
		snprintf(names[i], sizeof(names[i]), "e%06u",
			 first + (uint32_t)(i * 7919ULL % count));
		entries[i] = (struct dart_entry){
			.name = names[i],
			.schema = schema,
			.kind = DART_CONTROL_ENTRY_SLICE,
			.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
			.copies_are = DART_CONTROL_COPIES_ROW,
			.copies = 1,
			.ranges = &range,
			.range_count = 1,
		};
	}
	bytes = calloc(1, DART_CONTROL_LENGTH_MAX);
	writer = dart_table_writer__new(bytes, DART_CONTROL_LENGTH_MAX);
	assert_true(bytes && writer);
	length = dart_table_writer__rewrite(writer, &table);
	assert_true(length > 0);
	decoded = sample__decode(bytes, length);
	dart_table_writer__free(writer);
	dart_schema__free(schema);
	free(bytes);
	free(names);
	free(entries);
	return decoded;
}

/*
 * Returns the number of comparisons that find the @removed entries, of which @first is the first.
 */
static uint64_t compare(const struct dart_table *old, const struct dart_table *now,
			uint32_t removed, const char *first)
{
	const uint64_t before = comparisons;
	const char *found = NULL;

	assert_int_equal(dart_table__count_removed(old, now, &found), removed);
	assert_string_equal(found, first);
	return comparisons - before;
}

static void find_change(uint32_t count)
{
	struct dart_table *old = decode_large(1, count);
	struct dart_table *now = decode_large(2, count);
	uint64_t compared = compare(old, now, 1, "e000001");

	printf("# %u entries, one of them removed: found with %" PRIu64
	       " comparisons\n", count, compared);
	/*
	 * The work passes each name once; comparing each name with all others would take count *
	 * count.
	 */
	assert_in_range(compared, count - 1, 2 * (uint64_t)count);
	dart_table__free(old);
	dart_table__free(now);
}

static void test_one_change(void **state)
{
	find_change(MOST / 20);
	find_change(MOST);
}

static void test_all_changed(void **state)
{
	struct dart_table *old = decode_large(1, MOST);
	struct dart_table *now = decode_large(1 + MOST, MOST);
	uint64_t compared = compare(old, now, MOST, "e000001");

	printf("# %u entries, all of them removed: found with %" PRIu64
	       " comparisons\n", MOST, compared);
	assert_in_range(compared, MOST, 2 * (uint64_t)MOST);
	assert_null(dart_table__find(now, "e000001"));
	assert_string_equal(dart_table__find(old, "e000001")->name, "e000001");
	dart_table__free(old);
	dart_table__free(now);
}

static void test_borders(void **state)
{
	struct dart_table *old = decode_large(1, 10);
	struct dart_table *now = decode_large(4, 4);
	const char *first = NULL;

	/* 1 to 3 and 8 to 10. */
	assert_int_equal(dart_table__count_removed(old, now, &first), 6);
	assert_string_equal(first, "e000001");
	first = NULL;
	assert_int_equal(dart_table__count_removed(now, old, &first), 0);
	assert_null(first);
	dart_table__free(old);
	dart_table__free(now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("removed entries before, between and behind the others are counted",
		     test_borders),
		TEST("one removed entry is found without comparing each entry with each",
		     test_one_change),
		TEST("a table of 180,000 entries can replace one with other 180,000",
		     test_all_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
