// SPDX-License-Identifier: GPL-2.0-only
/* Values of rows with sequences. */
#include "value_expect.h"

static void test_sequences(void **state)
{
	struct dart_schema *schema = dart_schema__new("pair", 24);
	struct dart_entry entry = {
		.schema = schema, .copies = 6,
		.kind = DART_CONTROL_ENTRY_MAP,
		.copies_are = DART_CONTROL_COPIES_ROW,
	};
	static const uint64_t rows[6][3] = {
		{ 4, 1, 4 }, { 0, 2, 0 }, { 5, 3, 5 }, { 4, 4, 6 },
		{ 0, 5, 2 }, { 1ULL << 32, 6, 1ULL << 32 },
	};
	static const enum dart_row_state states[] = {
		DART_ROW_WHOLE, DART_ROW_EMPTY, DART_ROW_TORN, DART_ROW_TORN,
		DART_ROW_TORN, DART_ROW_WHOLE,
	};
	size_t i;

	assert_non_null(schema);
	sample__add(schema, "value", "", 8, 8, 1, DART_CONTROL_FIELD_GAUGE, false);
	assert_false(dart_schema__has_sequence(schema));
	assert_int_equal(dart_row__state(schema, rows[2]), DART_ROW_WHOLE);
	dart_schema__free(schema);

	schema = dart_schema__new("pair", 24);
	assert_non_null(schema);
	entry.schema = schema;
	sample__add(schema, "begin", "", 0, 8, 1, DART_CONTROL_FIELD_SEQUENCE, false);
	sample__add(schema, "value", "", 8, 8, 1, DART_CONTROL_FIELD_GAUGE, false);
	sample__add(schema, "end", "", 16, 8, 1, DART_CONTROL_FIELD_SEQUENCE, false);
	assert_true(dart_schema__has_sequence(schema));
	for (i = 0; i < 6; i++)
		assert_int_equal(dart_row__state(schema, rows[i]), states[i]);
	values__expect(&entry, rows,
		"{\"kind\":\"map\",\"schema\":\"pair\",\"copies\":\"row\",\"since\":0,"
		"\"rows\":{\"0\":{\"value\":1},\"2\":null,\"3\":null,"
		"\"4\":null,\"5\":{\"value\":6}}}");
	dart_schema__free(schema);
}

static void test_sum_of_host(void **state)
{
	struct dart_schema *schema = dart_schema__new("record", 32);
	struct dart_entry entry = {
		.schema = schema, .copies = 1,
		.kind = DART_CONTROL_ENTRY_SOURCE,
		.copies_are = DART_CONTROL_COPIES_SUM,
	};
	static const uint64_t whole[] = { 6, 17, UINT64_MAX, 6 };
	static const uint64_t torn[] = { 6, 17, 5, 8 };
	static const uint64_t empty[4];

	assert_non_null(schema);
	sample__add(schema, "begin", "", 0, 8, 1, DART_CONTROL_FIELD_SEQUENCE, false);
	sample__add(schema, "time", "ns", 8, 8, 1, DART_CONTROL_FIELD_TIME, false);
	sample__add(schema, "value", "", 16, 4, 1, DART_CONTROL_FIELD_COUNTER, false);
	sample__add(schema, "end", "", 24, 8, 1, DART_CONTROL_FIELD_SEQUENCE, false);
	assert_int_equal(dart_row__time(schema, whole), 17);
	values__expect(&entry, whole,
		"{\"kind\":\"source\",\"schema\":\"record\",\"copies\":\"sum\",\"since\":0,"
		"\"sum\":{\"time\":17,\"value\":4294967295}}");
	values__expect(&entry, torn,
		"{\"kind\":\"source\",\"schema\":\"record\",\"copies\":\"sum\",\"since\":0,"
		"\"sum\":null}");
	values__expect(&entry, empty,
		"{\"kind\":\"source\",\"schema\":\"record\",\"copies\":\"sum\",\"since\":0,"
		"\"sum\":null}");
	dart_schema__free(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows with sequences are whole, empty or torn, and torn rows are printed as null",
		     test_sequences),
		TEST("a sum is an object, or null if it is torn or empty, and tells its time",
		     test_sum_of_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
