// SPDX-License-Identifier: GPL-2.0-only
/* Rules of <dart/control.h> for the ranges of rows with sequences. */
#include <stdio.h>

#include <libdart/table/value.h>

#include "table_rules.h"

/* Rows of two lines, in two runs. */
struct rows {
	struct dart_schema *schema;
	struct dart_memory_region region;
	struct dart_range ranges[2];
	struct dart_entry entry;
	uint64_t cpus[1];
	struct dart_table table;
};

/* @width: of the sequences. */
static void rows__init(struct rows *rows, uint32_t width)
{
	const uint32_t sequences[] = { 0, 64 - width, 64, 128 - width };
	struct dart_schema *schema = dart_schema__new("rows", 128);
	char name[] = "sequence0";
	int i;

	assert_non_null(schema);
	for (i = 0; i < 4; i++, name[8]++) {
		sample__add(schema, name, "", sequences[i], width, 1,
			    DART_CONTROL_FIELD_SEQUENCE, false);
		if (!i)
			sample__add(schema, "value", "", 8, 8, 2,
				    DART_CONTROL_FIELD_COUNTER, false);
	}
	*rows = (struct rows){
		.schema = schema,
		.region = { .address = 0x100000, .length = 0x10000, .rkey = 1 },
		.ranges = {
			{ 0x100040, 128, 0, 0, 3, 0, 64 },
			{ 0x104000, 128, 0, 0, 3, 64, 64 },
		},
		.entry = {
			.name = "rows",
			.schema = schema,
			.kind = DART_CONTROL_ENTRY_MAP,
			.lifetime = DART_CONTROL_LIFETIME_DYNAMIC,
			.copies_are = DART_CONTROL_COPIES_ROW,
			.copies = 3,
			.ranges = rows->ranges,
			.range_count = 2,
			.since = 1,
		},
		.cpus = { 1 },
		.table = {
			.generation = 1,
			.instance = 1,
			.exposure = DART_CONTROL_EXPOSURE_EXACT,
			.online = rows->cpus,
			.nohz_full = rows->cpus,
			.cpus = 1,
			.page_size = 4096,
			.memory_regions = &rows->region,
			.memory_region_count = 1,
			.entries = &rows->entry,
			.entry_count = 1,
		},
	};
}

static void test_accepted(void **state)
{
	struct dart_table *table;
	struct dart_error error;
	struct rows rows;
	uint8_t *bytes;
	size_t length;

	rows__init(&rows, 4);
	bytes = sample__bytes(&rows.table, &length);
	assert_int_equal(dart_table__decode(bytes, length, &table, NULL, &error), 0);
	assert_true(dart_schema__equals(table->entries[0].schema, rows.schema));
	dart_table__free(table);
	free(bytes);
	dart_schema__free(rows.schema);
}

static void test_refused(void **state)
{
	static const struct patch patches[][3] = {
		{ RANGE(0, address, 0x100048) },
		{ RANGE(0, stride, 136) },
		{ RANGE(1, address, 0x104020) },
		/* The first line is in two runs. */
		{ RANGE(0, length, 56), RANGE(1, offset, 56), RANGE(1, length, 72) },
		{ REGION(0, address, 0x100010), REGION(0, length, 0xfff0) },
		{ REGION(0, length, 0x10028) },
	};
	struct rows rows;
	uint8_t *bytes;
	size_t length, i, j;
	char message[64];

	rows__init(&rows, 4);
	for (i = 0; i < sizeof(patches) / sizeof(patches[0]); i++) {
		bytes = sample__bytes(&rows.table, &length);
		for (j = 0; j < 3 && patches[i][j].what != NOTHING; j++)
			patch__apply(&patches[i][j], bytes);
		sample__seal(bytes, length);
		snprintf(message, sizeof(message), "range %d of entry 0 has sequences, but",
			 i == 2);
		bytes__expect(bytes, length, -EBADMSG, message);
		free(bytes);
	}
	dart_schema__free(rows.schema);
}

static void test_copies_of_cpus(void **state)
{
	const struct patch patch = ENTRY(0, copies_are, DART_CONTROL_COPIES_CPU);
	struct rows rows;
	uint8_t *bytes;
	size_t length;

	rows__init(&rows, 8);
	bytes = sample__bytes(&rows.table, &length);
	patch__apply(&patch, bytes);
	sample__seal(bytes, length);
	bytes__expect(bytes, length, -EBADMSG, "entry 0 has sequences, but its copies are of CPUs");
	free(bytes);
	dart_schema__free(rows.schema);
}

/* A row with a small number at each end of a line. */
static void make_row(uint64_t *random, uint32_t width, uint8_t row[128])
{
	static const uint64_t numbers[] = { 0, 6, 7, 8, 1ULL << 31, 6 | 1ULL << 32 };
	const uint64_t most = numbers[random__below(random, 6)];
	uint64_t number;
	int i;

	memset(row, random__below(random, 256), 128);
	for (i = 0; i < 4; i++) {
		number = random__below(random, 8) ? most : numbers[random__below(random, 6)];
		memcpy(row + i / 2 * 64 + (i % 2 ? 64 - width : 0), &number, width);
	}
}

/* The library does not look at the fields of a decoded schema, which passed its check. */
static void test_states(void **state)
{
	unsigned int found[DART_ROW_EMPTY + 1] = {};
	const struct dart_schema *schema;
	enum dart_row_state expected;
	struct dart_table *table;
	struct dart_error error;
	uint64_t random = 1;
	uint32_t width, i;
	struct rows rows;
	uint8_t row[128], *bytes;
	size_t length;

	for (width = 4; width <= 8; width += 4) {
		rows__init(&rows, width);
		bytes = sample__bytes(&rows.table, &length);
		assert_int_equal(dart_table__decode(bytes, length, &table, NULL, &error), 0);
		schema = table->entries[0].schema;
		assert_true(schema->has_passed);
		assert_true(dart_schema__has_sequence(schema));
		for (i = 0; i < 10000; i++) {
			make_row(&random, width, row);
			expected = dart_row__state(rows.schema, row);
			assert_int_equal(dart_row__state(schema, row), expected);
			found[expected]++;
		}
		dart_table__free(table);
		free(bytes);
		dart_schema__free(rows.schema);
	}
	for (i = 0; i <= DART_ROW_EMPTY; i++)
		assert_in_range(found[i], 1000, 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows with sequences in whole lines are accepted, also if lines are apart",
		     test_accepted),
		TEST("rows with sequences that are not whole lines at multiples of 64 bytes are refused",
		     test_refused),
		TEST("a row of a decoded table is whole, torn or empty just as by its fields",
		     test_states),
		TEST("copies of CPUs, which are added up, are refused with sequences",
		     test_copies_of_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
