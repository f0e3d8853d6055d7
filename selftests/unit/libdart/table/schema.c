// SPDX-License-Identifier: GPL-2.0-only
/* Schemas of copies, and the texts in them. */
#include <errno.h>
#include <stdio.h>

#include "sample.h"

static void test_added(void **state)
{
	struct dart_schema *schema = sample__stat();
	const struct dart_field *field;

	assert_string_equal(schema->name, "stat");
	assert_int_equal(schema->length, 64);
	assert_int_equal(schema->field_count, 6);
	field = dart_schema__find(schema, "sizes");
	assert_ptr_equal(field, &schema->fields[3]);
	assert_string_equal(field->unit, "bytes");
	assert_int_equal(field->offset, 20);
	assert_int_equal(field->count, 4);
	assert_null(dart_schema__find(schema, "size"));
	dart_schema__free(schema);
}

static void test_equal(void **state)
{
	struct dart_schema *schema = sample__stat(), *other = sample__stat();
	struct dart_field *field = &other->fields[3], same = *field;
	static char name[] = "size", unit[] = "bits";

	assert_true(dart_schema__equals(schema, other));
	for (int i = 0; i < 8; i++) {
		switch (i) {
		case 0:
			field->name = name;
			break;
		case 1:
			field->unit = unit;
			break;
		case 2:
			field->offset++;
			break;
		case 3:
			field->width *= 2;
			break;
		case 4:
			field->count--;
			break;
		case 5:
			field->kind = DART_CONTROL_FIELD_GAUGE;
			break;
		case 6:
			field->is_signed = !field->is_signed;
			break;
		case 7:
			field->lags = !field->lags;
			break;
		}
		assert_false(dart_schema__equals(schema, other));
		*field = same;
		assert_true(dart_schema__equals(schema, other));
	}
	other->length++;
	assert_false(dart_schema__equals(schema, other));
	other->length--;
	other->field_count--;
	assert_false(dart_schema__equals(schema, other));
	other->field_count++;
	other->name[0] ^= 1;
	assert_false(dart_schema__equals(schema, other));
	dart_schema__free(schema);
	dart_schema__free(other);
}

static void test_strings(void **state)
{
	struct dart_schema *schema;
	char name[] = "name", unit[] = "unit";

	schema = dart_schema__new(name, 8);
	assert_non_null(schema);
	sample__add(schema, name, unit, 0, 8, 1, DART_CONTROL_FIELD_GAUGE, false);
	memset(name, 'x', sizeof(name) - 1);
	memset(unit, 'x', sizeof(unit) - 1);
	assert_string_equal(schema->name, "name");
	assert_string_equal(schema->fields[0].name, "name");
	assert_string_equal(schema->fields[0].unit, "unit");
	dart_schema__free(schema);
}

static void test_refused_schemas(void **state)
{
	struct dart_schema *schema;

	errno = 0;
	assert_null(dart_schema__new("name", 0));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(dart_schema__new("name", DART_CONTROL_VALUE_MAX + 1));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(dart_schema__new("\x1b[2J", 8));
	assert_int_equal(errno, EINVAL);

	schema = dart_schema__new("", DART_CONTROL_VALUE_MAX);
	assert_non_null(schema);
	dart_schema__free(schema);
	dart_schema__free(NULL);
}

static void test_refused_fields(void **state)
{
	static const struct {
		struct dart_field field;
		int err;
	} cases[] = {
#define FIELD(offset, width, count, kind) \
	{ "name", "", offset, width, count, DART_CONTROL_FIELD_##kind, false,	\
	  false }
		{ FIELD(57, 8, 1, COUNTER), -EINVAL },
		{ FIELD(64, 1, 1, COUNTER), -EINVAL },
		{ FIELD(0xffffffff, 1, 1, COUNTER), -EINVAL },
		{ FIELD(32, 8, 5, COUNTER), -EINVAL },
		/* 8 * 2^29 is 0 in 32 bits. */
		{ FIELD(32, 8, 1 << 29, COUNTER), -EINVAL },
		{ FIELD(32, 0, 1, COUNTER), -EINVAL },
		{ FIELD(32, 3, 1, GAUGE), -EINVAL },
		{ FIELD(32, 16, 1, HISTOGRAM), -EINVAL },
		{ FIELD(32, 8, 0, COUNTER), -EINVAL },
		{ FIELD(32, 0, 1, TEXT), -EINVAL },
		{ FIELD(32, 4, 2, TEXT), -EINVAL },
		{ FIELD(32, 33, 1, TEXT), -EINVAL },
		{ FIELD(0, 8, 1, COUNTER), -EINVAL },
		{ FIELD(23, 1, 1, COUNTER), -EINVAL },
		{ { "name", "", 32, 8, 1, 0, false, false }, -EINVAL },
		{ { "name", "", 32, 8, 1, 8, false, false }, -EINVAL },
		{ FIELD(32, 4, 1, TIME), -EINVAL },
		{ FIELD(32, 8, 2, TIME), -EINVAL },
		{ { "name", "", 32, 8, 1, 7, true, false }, -EINVAL },
		{ FIELD(32, 2, 1, SEQUENCE), -EINVAL },
		{ FIELD(32, 8, 2, SEQUENCE), -EINVAL },
		{ { "name", "", 32, 8, 1, 5, true, false }, -EINVAL },
		{ FIELD(32, 4, 1, ADDRESS), -EINVAL },
		{ FIELD(32, 16, 2, ADDRESS), -EINVAL },
		{ { "", "", 32, 8, 1, 1, false, false }, -EINVAL },
		{ { "two words", "", 32, 8, 1, 1, false, false }, -EINVAL },
		{ { "tab\t", "", 32, 8, 1, 1, false, false }, -EINVAL },
		{ { "name", "\xc2\xb5s", 32, 8, 1, 1, false, false }, -EINVAL },
		{ { "first", "", 32, 8, 1, 1, false, false }, -EEXIST },
		{ FIELD(24, 8, 5, COUNTER), 0 },
#undef FIELD
	};
	struct dart_schema *schema = dart_schema__new("schema", 64);
	size_t i;

	assert_non_null(schema);
	sample__add(schema, "first", "", 8, 8, 2, DART_CONTROL_FIELD_COUNTER, false);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(schema->field_count, 1);
		assert_int_equal(dart_schema__add(schema, &cases[i].field), cases[i].err);
	}
	assert_int_equal(schema->field_count, 2);
	dart_schema__free(schema);
}

/* Why a schema of @length bytes with sequences there, ended by width 0, is refused. */
static const char *objection_to(uint32_t length, const uint32_t (*sequences)[2])
{
	struct dart_schema *schema = dart_schema__new("rows", length);
	const char *objection;
	char name[16];
	int i;

	assert_non_null(schema);
	for (i = 0; sequences[i][1]; i++) {
		snprintf(name, sizeof(name), "sequence%d", i);
		sample__add(schema, name, "", sequences[i][0], sequences[i][1], 1,
			    DART_CONTROL_FIELD_SEQUENCE, false);
	}
	objection = dart_schema__objection_to_sequences(schema);
	dart_schema__free(schema);
	return objection;
}

static void test_sequences(void **state)
{
	static const struct {
		uint32_t length;
		uint32_t sequences[6][2];	/* offset, width */
		const char *objection;
	} cases[] = {
		{ 24, {}, NULL },
		{ 64, { { 0, 4 }, { 60, 4 } }, NULL },
		{ 64, { { 0, 8 }, { 56, 8 } }, NULL },
		{ 128, { { 0, 4 }, { 60, 4 }, { 64, 4 }, { 124, 4 } }, NULL },
		{ 64, { { 0, 8 } }, "does not begin and end" },
		{ 64, { { 60, 4 } }, "does not begin and end" },
		{ 128, { { 0, 8 }, { 64, 8 }, { 120, 8 } }, "does not begin and end" },
		{ 128, { { 0, 8 }, { 120, 8 } }, "does not begin and end" },
		{ 64, { { 0, 4 }, { 56, 8 } }, "of 4 and of 8 bytes" },
		{ 64, { { 0, 4 }, { 56, 4 } }, "neither begins nor ends" },
		{ 64, { { 0, 8 }, { 16, 8 }, { 56, 8 } }, "neither begins nor ends" },
		{ 96, { { 0, 8 }, { 56, 8 }, { 64, 8 } }, "not a multiple of 64" },
		{ 24, { { 0, 8 } }, "not a multiple of 64" },
	};
	const char *objection;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		objection = objection_to(cases[i].length, cases[i].sequences);
		if (!cases[i].objection)
			assert_null(objection);
		else if (!objection || !strstr(objection, cases[i].objection))
			fail_msg("\"%s\" instead of \"%s\"", objection ?: "", cases[i].objection);
	}
}

static void test_names(void **state)
{
	char name[DART_CONTROL_NAME_MAX + 1], one[2] = "";
	const char *others = " !\"#$&'()*,;<>?\\^`{|}\x7f\x80\xff";

	assert_true(dart_name__is_valid("hists[3].slots"));
	assert_true(dart_name__is_valid("snmp:ip@net:4026531840/eth0"));
	assert_false(dart_name__is_valid(""));
	for (; *others; others++) {
		one[0] = *others;
		assert_false(dart_name__is_valid(one));
	}
	memset(name, 'a', sizeof(name));
	name[DART_CONTROL_NAME_MAX - 1] = '\0';
	assert_true(dart_name__is_valid(name));
	name[DART_CONTROL_NAME_MAX - 1] = 'a';
	name[DART_CONTROL_NAME_MAX] = '\0';
	assert_false(dart_name__is_valid(name));
	assert_true(dart_entry_name__is_valid(name));
}

static void test_texts(void **state)
{
	char text[DART_CONTROL_NAME_MAX + 1];

	assert_true(dart_text__is_valid(""));
	assert_true(dart_text__is_valid(" ~"));
	assert_false(dart_text__is_valid("\x1f"));
	assert_false(dart_text__is_valid("\x7f"));
	assert_false(dart_text__is_valid("\x80"));
	assert_false(dart_text__is_valid("\xff"));
	assert_false(dart_text__is_valid("a\n"));

	memset(text, 'a', sizeof(text));
	text[DART_CONTROL_NAME_MAX - 1] = '\0';
	assert_true(dart_text__is_valid(text));
	text[DART_CONTROL_NAME_MAX - 1] = 'a';
	text[DART_CONTROL_NAME_MAX] = '\0';
	assert_false(dart_text__is_valid(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("two schemas are equal if all names, units and numbers of their fields are",
		     test_equal),
		TEST("a schema has the fields that were added, and finds them by name", test_added),
		TEST("a schema keeps its own copies of names and units", test_strings),
		TEST("a schema with no bytes, too many, or an unprintable name is refused",
		     test_refused_schemas),
		TEST("a field that overlaps, leaves the copy, or has a wrong kind, width, count or name is refused",
		     test_refused_fields),
		TEST("sequences are of one width and at both ends of each line of 64 bytes, and nowhere else",
		     test_sequences),
		TEST("a name is valid if it has 1 to 255 letters, digits or \"_-.:/@+=%~[]\"",
		     test_names),
		TEST("a text is valid if it is printable ASCII of at most 255 bytes", test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
