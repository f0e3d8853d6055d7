// SPDX-License-Identifier: GPL-2.0-only
/* Tables encoded and decoded; table_rules.c contains the refused ones. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <libdart/error.h>

#include "comparisons.h"
#include "sample.h"

static void test_round_trip(void **state)
{
	struct dart_table *decoded;
	struct sample sample;
	size_t length, shift;
	uint8_t *bytes;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);

	/* From buffers of every alignment. */
	for (shift = 0; shift < 8; shift++) {
		uint8_t *copy = malloc(length + shift);

		assert_non_null(copy);
		memcpy(copy + shift, bytes, length);
		decoded = sample__decode(copy + shift, length);
		free(copy);
		sample__assert_same(&sample.table, decoded);
		dart_table__free(decoded);
	}
	free(bytes);
	sample__release(&sample);
}

static void test_empty(void **state)
{
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	sample__init(&sample);
	sample.table.entry_count = 0;
	sample.table.memory_region_count = 0;
	bytes = sample__bytes(&sample.table, &length);
	sample__assert_decodes(bytes, length, &sample.table);
	free(bytes);
	sample__release(&sample);
}

static void test_shared_schema(void **state)
{
	const struct dart_control_header *header;
	struct dart_table *decoded;
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	header = (void *)bytes;
	assert_int_equal(header->schemas.count, 2);
	assert_int_equal(header->fields.count, 8);
	decoded = sample__decode(bytes, length);
	assert_ptr_equal(decoded->entries[SAMPLE_CPUSTAT].schema,
			 decoded->entries[SAMPLE_ROWS].schema);
	dart_table__free(decoded);
	free(bytes);
	sample__release(&sample);
}

static void test_removed_entry(void **state)
{
	struct dart_control_entry *raw;
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	raw = (void *)(bytes + ((struct dart_control_header *)bytes)->entries.offset);
	raw[1] = (struct dart_control_entry){
		.name = 0xffffffff,
		.schema = 0xffffffff,
		.kind = DART_CONTROL_ENTRY_GONE,
		.copies = 0xffffffff,
		.first_range = raw[1].first_range,
		.ranges = raw[1].ranges,
	};
	sample__seal(bytes, length);
	sample.entries[1] = sample.entries[2];
	sample.table.entry_count--;
	sample__assert_decodes(bytes, length, &sample.table);
	free(bytes);
	sample__release(&sample);
}

/* Entry @added of a table of added entries is the entry @whole of the whole table. */
static void assert_same_entry(const struct dart_table *whole, const struct dart_entry *entry,
			      const struct dart_table *added, const struct dart_entry *other)
{
	const struct dart_memory_region *one, *two;
	uint32_t i;

	assert_string_equal(entry->name, other->name);
	assert_true(dart_schema__equals(entry->schema, other->schema));
	assert_int_equal(entry->since, other->since);
	assert_int_equal(entry->place, other->place);
	assert_int_equal(entry->copies, other->copies);
	assert_int_equal(entry->range_count, other->range_count);
	for (i = 0; i < entry->range_count; i++) {
		one = &whole->memory_regions[entry->ranges[i].memory_region];
		two = &added->memory_regions[other->ranges[i].memory_region];
		assert_int_equal(entry->ranges[i].address, other->ranges[i].address);
		assert_int_equal(entry->ranges[i].length, other->ranges[i].length);
		assert_int_equal(one->address, two->address);
		assert_int_equal(one->rkey, two->rkey);
	}
}

static void test_added(void **state)
{
	struct dart_table *whole, *added;
	struct dart_error error;
	struct sample sample;
	uint32_t i, found;
	uint64_t after;
	size_t length;
	uint8_t *bytes;

	sample__init(&sample);
	for (i = 0; i < sample.table.entry_count; i++)
		sample.entries[i].since = 1 + i % 3;
	sample.table.generation = 5;
	bytes = sample__bytes(&sample.table, &length);
	whole = sample__decode(bytes, length);
	for (after = 0; after < 4; after++) {
		assert_int_equal(dart_table__decode_added(bytes, length, after, &added, &error), 0);
		assert_int_equal(added->generation, 5);
		assert_int_equal(added->instance, whole->instance);
		for (i = found = 0; i < whole->entry_count; i++)
			if (whole->entries[i].since > after)
				assert_same_entry(whole, &whole->entries[i], added,
						  &added->entries[found++]);
		assert_int_equal(added->entry_count, found);
		assert_true(found ? after < 3 : after == 3);
		dart_table__free(added);
	}
	/* The checksum of the whole table decides. */
	bytes[length - 1] ^= 1;
	assert_int_equal(dart_table__decode_added(bytes, length, 0, &added, &error), -EAGAIN);
	dart_table__free(whole);
	free(bytes);
	sample__release(&sample);
}

static void test_find(void **state)
{
	struct sample sample;

	sample__init(&sample);
	assert_ptr_equal(dart_table__find(&sample.table, "pair"), &sample.entries[SAMPLE_PAIR]);
	assert_null(dart_table__find(&sample.table, "pai"));
	sample__release(&sample);
}

static void test_trailing_bytes(void **state)
{
	uint8_t region[8192] __attribute__((aligned(8)));
	struct sample sample;
	size_t length;

	sample__init(&sample);
	memset(region, 0xa5, sizeof(region));
	free(sample__bytes(&sample.table, &length));
	assert_int_equal(sample__publish(&sample.table, region, length), length);
	assert_int_equal(region[length], 0xa5);
	dart_table__free(sample__decode(region, sizeof(region)));
	sample__release(&sample);
}

static void test_truncated(void **state)
{
	struct dart_table *decoded;
	struct dart_error error;
	size_t length, shorter;
	struct sample sample;
	uint8_t *bytes;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	for (shorter = 0; shorter < length; shorter++) {
		uint8_t *copy = malloc(shorter + !shorter);
		size_t needed = 0;
		int err;

		assert_non_null(copy);
		memcpy(copy, bytes, shorter);
		err = dart_table__decode(copy, shorter, &decoded, &needed, &error);
		free(copy);
		if (shorter < sizeof(struct dart_control_header)) {
			assert_int_equal(err, -EBADMSG);
		} else {
			assert_int_equal(err, -EMSGSIZE);
			assert_int_equal(needed, length);
		}
		assert_string_not_equal(error.text, "");
	}
	free(bytes);
	sample__release(&sample);
}

static void test_same(void **state)
{
	struct dart_control_header header, changed;
	struct sample sample;
	size_t length;
	uint8_t *bytes;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	memcpy(&header, bytes, sizeof(header));
	assert_int_equal(dart_table__same(&sample.table, &header), 0);

	changed = header;
	changed.generation_begin++;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ESTALE);
	changed.generation_end++;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ESTALE);
	changed.generation_begin--;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ESTALE);

	changed = header;
	changed.instance++;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ECONNRESET);
	changed = header;
	changed.magic = 0;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ECONNRESET);
	changed = header;
	changed.abi_version++;
	assert_int_equal(dart_table__same(&sample.table, &changed), -ECONNRESET);
	free(bytes);
	sample__release(&sample);
}

/*
 * The worst case of a table: many fields, all with long and similar names, and
 * one schema that many entries refer to, in runs.  Quadratic work would take
 * hours.
 */
static void test_largest(void **state)
{
	enum { FIELDS = 250000, ENTRIES = 200 };
	struct dart_schema schema = {
		.name = "large", .length = FIELDS, .field_count = FIELDS,
	};
	const size_t capacity = DART_CONTROL_LENGTH_MAX;
	struct dart_range *ranges;
	struct dart_entry *entries;
	struct dart_table *decoded;
	struct sample sample;
	uint8_t *region;
	char (*names)[48];
	uint64_t before;
	int i, length;

	names = calloc(FIELDS, sizeof(*names));
	schema.fields = calloc(FIELDS, sizeof(*schema.fields));
	entries = calloc(ENTRIES, sizeof(*entries));
	ranges = calloc((size_t)ENTRIES * 2, sizeof(*ranges));
	region = calloc(1, capacity);
	assert_true(names && schema.fields && entries && ranges && region);

	for (i = 0; i < FIELDS; i++) {
		snprintf(names[i], sizeof(names[i]),
			 "nnnnnnnnnnnnnnnnnnnnnnnnn%08d", i * 7919 % FIELDS);
		schema.fields[i] = (struct dart_field) {
			.name = names[i], .unit = "", .offset = i, .width = 1,
			.count = 1, .kind = DART_CONTROL_FIELD_COUNTER,
		};
	}
	for (i = 0; i < ENTRIES; i++) {
		struct dart_range *pair = &ranges[2 * i];

		pair[0] = (struct dart_range) {
			.address = 0x100000, .copies = 1, .length = FIELDS / 2,
		};
		pair[1] = pair[0];
		pair[1].offset = FIELDS / 2;
		entries[i] = (struct dart_entry) {
			.name = names[i], .schema = &schema,
			.kind = DART_CONTROL_ENTRY_MAP,
			.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
			.copies_are = DART_CONTROL_COPIES_ROW, .copies = 1,
			.ranges = pair, .range_count = 2,
		};
	}

	sample__init(&sample);
	sample.memory_regions[0].length = FIELDS;
	sample.table.entries = entries;
	sample.table.entry_count = ENTRIES;
	length = sample__publish(&sample.table, region, capacity);
	assert_in_range(length, 14000000, DART_CONTROL_LENGTH_MAX);

	before = comparisons;
	decoded = sample__decode(region, length);
	printf("# %d names of fields: %" PRIu64 " comparisons\n", FIELDS, comparisons - before);
	/* Sorting needs 18 for each, the binary logarithm. */
	assert_in_range(comparisons - before, FIELDS, 32 * FIELDS);
	dart_table__free(decoded);

	free(region);
	free(ranges);
	free(entries);
	free(schema.fields);
	free(names);
	sample__release(&sample);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a table is decoded to the one that was published, from a buffer of any alignment",
		     test_round_trip),
		TEST("a table without entries is decoded to the one that was published",
		     test_empty),
		TEST("a schema of two entries is written and decoded once", test_shared_schema),
		TEST("a removed entry is skipped, whatever its members say", test_removed_entry),
		TEST("the entries after a generation are decoded alone, as in the whole table",
		     test_added),
		TEST("an entry is found by its whole name only", test_find),
		TEST("bytes behind the end of a table are ignored", test_trailing_bytes),
		TEST("a truncated table is refused with the length that it needs", test_truncated),
		TEST("a header tells an unchanged table from a changed one and from another agent's",
		     test_same),
		TEST("a table of nearly 16 MiB with the worst names and runs is decoded with 32 comparisons for each name at most",
		     test_largest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
