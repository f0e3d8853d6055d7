// SPDX-License-Identifier: GPL-2.0-only
/* Layouts of records: where the kernel writes, by the rules of <linux/dart_zero.h>. */
#include <errno.h>
#include <stdio.h>

#include <libdart/table/value.h>

#include "agent/schema/record_layout.h"
#include "selftests/unit/libdart/table/sample.h"

/* @count fields of 8 bytes from byte @offset on, each @stride bytes after the previous one. */
static struct dart_schema *copy_of(uint32_t count, uint32_t offset, uint32_t stride)
{
	struct dart_schema *schema = dart_schema__new("copy", offset + count * stride);
	char name[16];
	uint32_t i;

	assert_non_null(schema);
	for (i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		sample__add(schema, name, "", offset + i * stride, 8, 1,
			    DART_CONTROL_FIELD_COUNTER, false);
	}
	return schema;
}

/* Writes a row as the kernel does; the value of field i is 100 + i. */
static void write_row(struct dart_zero_record_line *line, uint32_t lines,
		      uint32_t words, const uint64_t *values)
{
	uint32_t i, done = 0;

	memset(line, 0, lines * sizeof(*line));
	for (; lines; lines--, line++) {
		line->sequence = 8;
		for (i = 0; i < DART_ZERO_RECORD_LINE_WORDS && done < words; i++)
			line->words[i] = values[done++];
		line->last_sequence = 8;
	}
	assert_int_equal(done, words);
}

static void check_layout(uint32_t fields, const char *number_name)
{
	const uint32_t before = number_name ? 2 : 1;
	const uint32_t words = fields + before;
	const uint32_t lines = (words + 6) / 7;
	struct dart_schema *copy = copy_of(fields, 16, 8);
	struct dart_zero_record_line row[64];
	uint64_t values[64 * DART_ZERO_RECORD_LINE_WORDS];
	struct record_layout layout;
	struct dart_error error;
	const struct dart_field *field;
	char name[16];
	uint32_t i;

	assert_int_equal(record_layout__init(&layout, copy, number_name, &error), 0);
	assert_int_equal(layout.schema->length, lines * DART_ZERO_RECORD_LINE);
	assert_int_equal(layout.piece_count, 1);
	assert_int_equal(layout.pieces[0].offset, 16);
	assert_int_equal(layout.pieces[0].width, 8);
	assert_int_equal(layout.pieces[0].count, fields);

	for (i = 0; i < words; i++)
		values[i] = 100 + i;
	write_row(row, lines, words, values);
	assert_int_equal(dart_row__state(layout.schema, row), DART_ROW_WHOLE);
	assert_int_equal(dart_row__time(layout.schema, row), 100);
	for (i = 0; i < fields; i++) {
		snprintf(name, sizeof(name), "v%u", i);
		field = dart_schema__find(layout.schema, name);
		assert_non_null(field);
		assert_int_equal(dart_field__get(field, row, 0), 100 + before + i);
	}
	if (number_name)
		assert_int_equal(dart_field__get(dart_schema__find(layout.schema, number_name), row,
						 0),
				 101);

	/* The schema lists each sequence of the row. */
	for (i = 0; i < lines; i++) {
		row[i].sequence = 10;
		assert_int_equal(dart_row__state(layout.schema, row), DART_ROW_TORN);
		row[i].sequence = 8;
		row[i].last_sequence = 10;
		assert_int_equal(dart_row__state(layout.schema, row), DART_ROW_TORN);
		row[i].last_sequence = 8;
	}
	assert_null(dart_schema__objection_to_sequences(layout.schema));
	record_layout__clear(&layout);
	dart_schema__free(copy);
}

static void test_lengths(void **state)
{
	uint32_t fields;

	for (fields = 1; fields < 150; fields++) {
		check_layout(fields, NULL);
		check_layout(fields, "node");
	}
}

static void test_pieces(void **state)
{
	struct dart_schema *copy = dart_schema__new("copy", 64);
	struct record_layout layout;
	struct dart_error error;

	assert_non_null(copy);
	sample__add(copy, "a", "ns", 0, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	sample__add(copy, "b", "ns", 8, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	sample__add(copy, "c", "", 16, 4, 1, DART_CONTROL_FIELD_COUNTER, false);
	sample__add(copy, "d", "", 20, 4, 1, DART_CONTROL_FIELD_GAUGE, true);
	sample__add(copy, "e", "", 32, 4, 1, DART_CONTROL_FIELD_COUNTER, false);
	assert_int_equal(record_layout__init(&layout, copy, NULL, &error), 0);
	assert_int_equal(layout.piece_count, 3);
	assert_int_equal(layout.pieces[0].count, 2);
	assert_int_equal(layout.pieces[1].offset, 16);
	assert_int_equal(layout.pieces[1].width, 4);
	assert_int_equal(layout.pieces[1].count, 2);
	assert_int_equal(layout.pieces[2].offset, 32);
	assert_int_equal(layout.pieces[2].count, 1);
	assert_true(dart_schema__find(layout.schema, "d")->is_signed);
	assert_int_equal(dart_schema__find(layout.schema, "d")->width, 4);
	assert_string_equal(dart_schema__find(layout.schema, "a")->unit, "ns");
	record_layout__clear(&layout);
	dart_schema__free(copy);
}

/* The place of each value, by the rule of the kernel, and both sequences of each line. */
static void test_widths(void **state)
{
	static const struct {
		const char *name;
		uint32_t width, offset;
	} fields[] = {
		{ "a", 4, 12 },	/* after the sequence and the time */
		{ "b", 4, 16 },
		{ "c", 1, 20 },
		{ "d", 2, 22 },
		{ "e", 8, 28 },	/* in the next word */
		{ "f", 8, 36 },
		{ "g", 8, 44 },
		{ "h", 4, 52 },
		{ "i", 8, 64 + 4 }, /* 4 bytes of the line before stay free */
		{ "j", 1, 64 + 12 },
	};
	struct dart_schema *copy = dart_schema__new("copy", 80);
	struct dart_zero_record_line row[2] = { };
	struct record_layout layout;
	struct dart_error error;
	size_t i;

	assert_non_null(copy);
	for (i = 0; i < 10; i++)
		sample__add(copy, fields[i].name, "", i * 8, fields[i].width, 1,
			    DART_CONTROL_FIELD_COUNTER, false);
	assert_int_equal(record_layout__init(&layout, copy, NULL, &error), 0);
	assert_int_equal(layout.schema->length, 2 * DART_ZERO_RECORD_LINE);
	for (i = 0; i < 10; i++)
		assert_int_equal(dart_schema__find(layout.schema, fields[i].name)->offset,
				 fields[i].offset);
	for (i = 0; i < 2; i++)
		row[i].sequence = row[i].last_sequence = 8;
	assert_int_equal(dart_row__state(layout.schema, row), DART_ROW_WHOLE);
	for (i = 0; i < 2; i++) {
		row[i].last_sequence = 10;
		assert_int_equal(dart_row__state(layout.schema, row), DART_ROW_TORN);
		row[i].last_sequence = 8;
	}
	record_layout__clear(&layout);
	dart_schema__free(copy);
}

/* Numbers that fill a line together with the time, and two texts after them. */
static struct dart_schema *copy_with_texts(uint32_t first, uint32_t second)
{
	struct dart_schema *copy = copy_of(6, 0, 8);

	copy->length += first + second;
	sample__add(copy, "device", "", 48, first, 1, DART_CONTROL_FIELD_TEXT, false);
	sample__add(copy, "type", "", 48 + first, second, 1, DART_CONTROL_FIELD_TEXT, false);
	return copy;
}

static void test_texts(void **state)
{
	struct dart_schema *copy = copy_with_texts(56, 32);
	const struct dart_field *field;
	struct record_layout layout;
	struct dart_error error;

	assert_int_equal(record_layout__init(&layout, copy, NULL, &error), 0);
	assert_int_equal(layout.schema->length, 3 * DART_ZERO_RECORD_LINE);
	assert_int_equal(layout.piece_count, 2);
	assert_int_equal(layout.pieces[1].offset, 48);
	assert_int_equal(layout.pieces[1].width, 1);
	assert_int_equal(layout.pieces[1].count, 88);
	field = dart_schema__find(layout.schema, "device");
	assert_int_equal(field->offset, 64 + 4);
	assert_int_equal(field->width, 56);
	assert_int_equal(dart_schema__find(layout.schema, "type")->offset, 128 + 4);
	assert_null(dart_schema__objection_to_sequences(layout.schema));
	record_layout__clear(&layout);
	dart_schema__free(copy);

	copy = copy_with_texts(57, 32);
	assert_int_equal(record_layout__init(&layout, copy, NULL, &error), -EINVAL);
	assert_null(layout.schema);
	dart_schema__free(copy);
	copy = copy_with_texts(32, 32);
	assert_int_equal(record_layout__init(&layout, copy, NULL, &error), -EINVAL);
	dart_schema__free(copy);
}

static void test_refused(void **state)
{
	struct dart_schema *copy = dart_schema__new("copy", 8);
	struct record_layout layout;
	struct dart_error error;

	assert_non_null(copy);
	sample__add(copy, "time", "", 0, 8, 1, DART_CONTROL_FIELD_COUNTER, false);
	assert_int_equal(record_layout__init(&layout, copy, NULL, &error), -EEXIST);
	assert_non_null(strstr(error.text, "copy"));
	assert_null(layout.schema);
	dart_schema__free(copy);

	copy = copy_of(DART_ZERO_RECORD_WORDS_MAX, 0, 8);
	assert_int_equal(record_layout__init(&layout, copy, NULL, &error), -E2BIG);
	dart_schema__free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("rows of 1 to 149 fields have the values, the time and the sequences that the kernel writes",
		     test_lengths),
		TEST("fields that are side by side and of one width are one piece", test_pieces),
		TEST("values of less than 8 bytes share words, each at a multiple of its width",
		     test_widths),
		TEST("a text lies in one line, and is refused where it would reach into the next",
		     test_texts),
		TEST("a field called like the time of the record, and too many fields, are refused",
		     test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
