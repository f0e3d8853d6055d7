// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every rule of <dart/control.h>: bytes that break this one only, and have the
 * checksum that fits, are refused with the sentence that names it.
 */
#include <errno.h>

#include <libdart/error.h>
#include <libdart/private/table_format.h>

#include "sample.h"

/* Overwrites one member of an element of a section, or of the header. */
struct patch {
	enum { NOTHING, HEADER, ELEMENT } what;
	enum dart_section section;
	uint32_t index;
	size_t offset;
	size_t size;
	uint64_t value;
};

struct rule {
	const char *name;
	const char *sentence;
	struct patch patches[3];
	int err;
	bool unsealed;		/* the checksum is left as it was */
};

#define RULE(title, words, ...) { \
	.name = title, .sentence = words, .patches = { __VA_ARGS__ }, \
	.err = -EBADMSG }
#define UNSEALED(title, words, error, ...) { \
	.name = title, .sentence = words, .patches = { __VA_ARGS__ }, \
	.err = error, .unsealed = true }

#define SIZE(type, member) sizeof(((struct type *)NULL)->member)
#define IN(which, type, number, member, new_value) { \
	.what = ELEMENT, .section = DART_SECTION_##which, .index = number, \
	.offset = offsetof(struct type, member), \
	.size = SIZE(type, member), .value = new_value }

#define HEAD(member, new_value) { \
	.what = HEADER, \
	.offset = offsetof(struct dart_control_header, member), \
	.size = SIZE(dart_control_header, member), .value = new_value }
#define REGION(...) IN(MEMORY_REGIONS, dart_control_memory_region, __VA_ARGS__)
#define ENTRY(...) IN(ENTRIES, dart_control_entry, __VA_ARGS__)
#define RANGE(...) IN(RANGES, dart_control_range, __VA_ARGS__)
#define SCHEMA(...) IN(SCHEMAS, dart_control_schema, __VA_ARGS__)
#define FIELD(...) IN(FIELDS, dart_control_field, __VA_ARGS__)
#define STRING(at, byte) { \
	.what = ELEMENT, .section = DART_SECTION_STRINGS, .index = at, \
	.size = 1, .value = byte }

/*
 * Fields 0 to 5 are of schema 0, 6 and 7 of schema 1.  Range 0 is of entry 0,
 * 1 to 4 are of entry 1, 5 is of entry 2.
 */
static const struct rule rules[] = {
	/* The header. */
	RULE("magic", "magic",
	     HEAD(magic, 1)),
	UNSEALED("abi version", "ABI version is 3 instead of 2",
		 -EPROTONOSUPPORT, HEAD(abi_version, 3)),
	RULE("header size", "the header has 200 bytes",
	     HEAD(header_size, 200)),
	UNSEALED("generation begins", "being changed",
		 -EAGAIN, HEAD(generation_begin, 8)),
	UNSEALED("generation ends", "being changed",
		 -EAGAIN, HEAD(generation_end, 6)),
	RULE("generation is 0", "the generation is 0",
	     HEAD(generation_begin, 0), HEAD(generation_end, 0)),
	UNSEALED("checksum", "checksum",
		 -EAGAIN, HEAD(checksum, 1)),
	UNSEALED("checksum of a changed table", "checksum",
		 -EAGAIN, HEAD(lease_ms, 1)),
	UNSEALED("table shorter than header", "cannot have 7 bytes",
		 -EBADMSG, HEAD(table_length, 7)),
	UNSEALED("table too long", "cannot have 16777217 bytes",
		 -EBADMSG, HEAD(table_length, DART_CONTROL_LENGTH_MAX + 1)),
	UNSEALED("table longer than what was read", "were read of 16777216",
		 -EMSGSIZE, HEAD(table_length, DART_CONTROL_LENGTH_MAX)),
	RULE("reserved in header", "reserved member of the header",
	     HEAD(reserved, 1)),
	RULE("exposure 0", "exposure",
	     HEAD(exposure, 0)),
	RULE("exposure 3", "exposure",
	     HEAD(exposure, 3)),
	RULE("instance", "instance",
	     HEAD(instance, 0)),
	RULE("cpus", "no CPUs",
	     HEAD(cpus, 0)),
	RULE("page size 0", "page size",
	     HEAD(page_size, 0)),
	RULE("page size", "page size",
	     HEAD(page_size, 4097)),

	/* Sections. */
	RULE("section not aligned", "section of memory regions is not aligned",
	     HEAD(memory_regions.offset,
		  sizeof(struct dart_control_header) + 4)),
	RULE("section on the header", "memory regions overlaps",
	     HEAD(memory_regions.offset, 0)),
	RULE("section on another", "entries overlaps",
	     HEAD(entries.offset, sizeof(struct dart_control_header))),
	RULE("section that begins outside", "fields reaches beyond",
	     HEAD(fields.offset, 0xfffffff8)),
	RULE("section that ends outside", "strings reaches beyond",
	     HEAD(strings.count, 0xffffffff)),
	/* 2^27 * 32 is 0 in 32 bits. */
	RULE("section that wraps", "entries reaches beyond",
	     HEAD(entries.count, 1 << 27)),

	/* Strings. */
	RULE("no strings", "do not begin with the empty string",
	     HEAD(strings.count, 0)),
	RULE("first string", "do not begin with the empty string",
	     STRING(0, 'x')),
	RULE("last string", "the last string has no end",
	     HEAD(strings.count, 20)),
	RULE("escape", "not printable ASCII",
	     STRING(2, 0x1b)),
	RULE("newline", "not printable ASCII",
	     STRING(2, '\n')),
	RULE("delete", "not printable ASCII",
	     STRING(2, 0x7f)),
	RULE("high bit", "not printable ASCII",
	     STRING(2, 0x9b)),

	/* Memory regions. */
	RULE("reserved in region", "reserved member of memory region 1",
	     REGION(1, reserved, 1)),
	RULE("empty region", "memory region 1 is empty",
	     REGION(1, length, 0)),
	RULE("region wraps", "memory region 1 reaches beyond the address space",
	     REGION(1, length, UINT64_MAX)),

	/* Schemas. */
	RULE("schema's name", "schema 1 refers to no string",
	     SCHEMA(1, name, 1 << 16)),
	RULE("schema's length 0", "schema 1 has copies of 0 bytes",
	     SCHEMA(1, length, 0)),
	RULE("schema's length", "schema 1 has copies of 1048577 bytes",
	     SCHEMA(1, length, DART_CONTROL_VALUE_MAX + 1)),
	RULE("schema's first field", "fields of schema 1 do not follow",
	     SCHEMA(1, first_field, 5)),
	RULE("schema's fields", "fields of schema 1 do not follow",
	     SCHEMA(1, fields, 0xffffffff)),
	RULE("field of no schema", "field 7 belongs to no schema",
	     SCHEMA(1, fields, 1)),

	/* Fields. */
	RULE("field's name", "field 2 refers to no string",
	     FIELD(2, name, 0xffffffff)),
	RULE("field's unit", "field 2 refers to no string",
	     FIELD(2, unit, 1 << 16)),
	RULE("field's flags", "field 2 has an unknown flag",
	     FIELD(2, flags, 2)),
	RULE("field's kind 0", "field 2 of schema 0 is of an unknown kind",
	     FIELD(2, kind, 0)),
	RULE("field's kind 7", "field 2 of schema 0 is of an unknown kind",
	     FIELD(2, kind, 7)),
	RULE("field's width 0", "has a width other than",
	     FIELD(0, width, 0)),
	RULE("field's width", "has a width other than",
	     FIELD(0, width, 3)),
	RULE("field's width 16", "has a width other than",
	     FIELD(0, width, 16)),
	RULE("field's count", "field 0 of schema 0 has no elements",
	     FIELD(0, count, 0)),
	RULE("text's width", "is a text without bytes",
	     FIELD(4, width, 0)),
	RULE("text's count", "is a text with a count",
	     FIELD(4, count, 2)),
	RULE("field's offset", "field 5 of schema 0 reaches beyond the copy",
	     FIELD(5, offset, 64)),
	RULE("field's end", "field 1 of schema 1 reaches beyond the copy",
	     FIELD(7, offset, 17)),
	/* 2^29 * 8 is 0 in 32 bits. */
	RULE("field wraps", "field 1 of schema 1 reaches beyond the copy",
	     FIELD(7, count, 1 << 29)),
	RULE("fields overlap", "field 1 of schema 0 begins before the end",
	     FIELD(1, offset, 7)),
	RULE("fields not in order", "field 2 of schema 0 begins before the end",
	     FIELD(1, offset, 24)),

	/* Entries. */
	RULE("entry's name", "entry 1 refers to no string",
	     ENTRY(1, name, 0xffffffff)),
	RULE("entry without name", "entry 1 has no name",
	     ENTRY(1, name, 0)),
	RULE("entry's schema", "entry 1 refers to no schema",
	     ENTRY(1, schema, 2)),
	RULE("entry's kind 5", "entry 1 is of an unknown kind",
	     ENTRY(1, kind, 5)),
	RULE("entry's lifetime 0", "entry 1 has an unknown lifetime",
	     ENTRY(1, lifetime, 0)),
	RULE("entry's lifetime 4", "entry 1 has an unknown lifetime",
	     ENTRY(1, lifetime, 4)),
	RULE("kind of copies 0", "entry 1 has copies of an unknown kind",
	     ENTRY(1, copies_are, 0)),
	RULE("kind of copies 3", "entry 1 has copies of an unknown kind",
	     ENTRY(1, copies_are, 3)),
	RULE("entry without copies", "entry 1 has 0 copies",
	     ENTRY(1, copies, 0)),
	RULE("entry's copies", "entry 1 has 1048577 copies",
	     ENTRY(1, copies, DART_CONTROL_COPIES_MAX + 1)),
	RULE("too much data", "have more than 268435456 bytes",
	     SCHEMA(0, length, DART_CONTROL_VALUE_MAX), ENTRY(0, copies, 257)),
	RULE("entry's first range", "ranges of entry 1 do not follow",
	     ENTRY(1, first_range, 0)),
	RULE("entry's ranges", "ranges of entry 1 do not follow",
	     ENTRY(1, ranges, 0xffffffff)),
	RULE("first range of an entry that is gone",
	     "ranges of entry 1 do not follow",
	     ENTRY(1, kind, DART_CONTROL_ENTRY_GONE), ENTRY(1, first_range, 0)),
	RULE("ranges of an entry that is gone", "ranges of entry 1 do not",
	     ENTRY(1, kind, DART_CONTROL_ENTRY_GONE),
	     ENTRY(1, ranges, 0xffffffff)),
	RULE("entry without ranges", "no range of entry 0 begins with copy 0",
	     ENTRY(0, ranges, 0),
	     ENTRY(1, first_range, 0), ENTRY(1, ranges, 5)),
	RULE("range of no entry", "range 5 belongs to no entry",
	     ENTRY(2, ranges, 0)),

	/* Ranges. */
	RULE("reserved in range", "reserved member of range 5",
	     RANGE(5, reserved, 1)),
	RULE("empty range", "range 0 of entry 2 is empty",
	     RANGE(5, length, 0)),
	RULE("range's offset", "range 0 of entry 2 reaches beyond the copy",
	     RANGE(5, offset, 65)),
	RULE("range's end", "range 0 of entry 2 reaches beyond the copy",
	     RANGE(5, offset, 1)),
	RULE("range without copies", "copies that the entry has not",
	     RANGE(5, copies, 0)),
	RULE("range's copies", "copies that the entry has not",
	     RANGE(5, copies, 6)),
	RULE("range's first copy", "copies that the entry has not",
	     RANGE(3, first_copy, 3)),
	RULE("range's last copy wraps", "copies that the entry has not",
	     RANGE(3, copies, 0xffffffff)),
	RULE("range's stride", "the copies in range 0 of entry 2 overlap",
	     RANGE(5, stride, 63)),
	RULE("range's region", "range 0 of entry 2 refers to no memory region",
	     RANGE(5, memory_region, 3)),
	RULE("range in front of region", "reaches beyond memory region 2",
	     RANGE(3, address, 0x30000f)),
	RULE("range behind region", "reaches beyond memory region 2",
	     RANGE(4, address, 0x300049)),
	RULE("last copy behind region", "reaches beyond memory region 0",
	     RANGE(5, address, 0x100000 + 0x1000 - 4 * 128 - 63)),
	RULE("stride wraps", "reaches beyond memory region 0",
	     RANGE(5, stride, 1ULL << 62)),
	RULE("range's length wraps", "reaches beyond memory region 0",
	     RANGE(5, stride, UINT64_MAX / 4)),
	RULE("range's address wraps", "reaches beyond memory region 2",
	     RANGE(3, address, UINT64_MAX)),

	/* Groups of ranges. */
	RULE("no copy 0", "no range of entry 2 begins with copy 0",
	     RANGE(5, first_copy, 1), RANGE(5, copies, 4)),
	RULE("copy in two groups", "range 2 of entry 1 does not begin with",
	     RANGE(3, first_copy, 1), RANGE(4, first_copy, 1)),
	RULE("copy in no group", "range 2 of entry 1 does not begin with",
	     RANGE(1, copies, 1), RANGE(2, copies, 1)),
	RULE("last copy in no group", "no range of entry 2 has copy 4",
	     RANGE(5, copies, 4)),
	RULE("other copies in a group", "range 1 of entry 1 is not of",
	     RANGE(2, copies, 1)),
	RULE("other first copy in a group", "is not of the copies of its group",
	     RANGE(4, first_copy, 1)),
	RULE("group with another run", "is not a run of the first group",
	     RANGE(4, offset, 15)),
	RULE("group with a longer run", "is not a run of the first group",
	     RANGE(3, length, 9)),
	RULE("runs overlap", "begins before the end of the run",
	     RANGE(2, offset, 7)),
	RULE("runs not in order", "begins before the end of the run",
	     RANGE(1, offset, 16), RANGE(2, offset, 0)),
	RULE("group not complete", "last group of ranges of entry 1 is not",
	     ENTRY(1, ranges, 3),
	     ENTRY(2, first_range, 4), ENTRY(2, ranges, 2)),
	RULE("field in no range", "field 1 of entry 1 is not inside one range",
	     FIELD(7, offset, 8)),
	RULE("field partly in a range", "field 0 of entry 1 is not inside one",
	     FIELD(6, offset, 1)),
	RULE("field in two ranges", "field 1 of entry 1 is not inside one",
	     RANGE(2, offset, 9), RANGE(4, offset, 9)),
	RULE("field behind the ranges", "field 5 of entry 0 is not inside one",
	     RANGE(0, length, 56)),
};

static void patch__apply(const struct patch *patch, uint8_t *bytes)
{
	const struct dart_control_header *header = (void *)bytes;
	const struct dart_control_section sections[DART_SECTIONS] = {
		header->memory_regions, header->entries, header->ranges,
		header->schemas, header->fields, header->strings,
	};
	size_t at = patch->offset;

	if (patch->what == ELEMENT) {
		assert_in_range(patch->index, 0,
				sections[patch->section].count - 1);
		at += sections[patch->section].offset +
		      patch->index * dart_section_element[patch->section];
	}
	assert_memory_not_equal(bytes + at, &patch->value, patch->size);
	memcpy(bytes + at, &patch->value, patch->size);
}

static void bytes__expect(uint8_t *bytes, size_t length, int err,
			  const char *sentence)
{
	struct dart_table *table = NULL;
	struct dart_error error;

	assert_int_equal(
		dart_table__decode(bytes, length, &table, NULL, &error), err);
	assert_null(table);
	if (!strstr(error.text, sentence))
		fail_msg("\"%s\" instead of \"%s\"", error.text, sentence);
}

static void rule_is_kept(void **state)
{
	const struct rule *rule = *state;
	struct sample sample;
	uint8_t *bytes;
	size_t length;
	int i;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	for (i = 0; i < 3 && rule->patches[i].what != NOTHING; i++)
		patch__apply(&rule->patches[i], bytes);
	if (!rule->unsealed)
		sample__seal(bytes, length);
	bytes__expect(bytes, length, rule->err, rule->sentence);
	free(bytes);
	sample__release(&sample);
}

/* Makes one string equal to the other, which has the same length. */
static void rename_string(uint8_t *bytes, const char *from, const char *to)
{
	const struct dart_control_header *header = (void *)bytes;
	char *strings = (char *)bytes + header->strings.offset;
	uint32_t i;

	for (i = 0; i < header->strings.count; i++) {
		if (!strings[i] && !strcmp(strings + i + 1, from)) {
			memcpy(strings + i + 1, to, strlen(to));
			return;
		}
	}
	fail_msg("no string \"%s\"", from);
}

static void names_are_unique(void **state)
{
	struct sample sample;
	uint8_t *bytes;
	size_t length;

	(void)state;
	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	rename_string(bytes, "user", "idle");
	sample__seal(bytes, length);
	bytes__expect(bytes, length, -EBADMSG,
		      "schema 0 has two fields with the name \"idle\"");
	free(bytes);

	bytes = sample__bytes(&sample.table, &length);
	rename_string(bytes, "rows", "pair");
	sample__seal(bytes, length);
	bytes__expect(bytes, length, -EBADMSG,
		      "two entries have the name \"pair\"");
	free(bytes);
	sample__release(&sample);
}

static void strings_are_short(void **state)
{
	char name[DART_CONTROL_NAME_MAX + 1];
	struct dart_control_header *header;
	struct sample sample;
	uint8_t *bytes;
	size_t length;
	char *strings;

	(void)state;
	memset(name, 'a', sizeof(name));
	name[DART_CONTROL_NAME_MAX - 1] = '\0';
	sample__init(&sample);
	sample.entries[SAMPLE_CPUSTAT].name = name;
	bytes = sample__bytes(&sample.table, &length);

	/* The name and the string behind it become one. */
	header = (void *)bytes;
	strings = memmem(bytes + header->strings.offset, header->strings.count,
			 name, sizeof(name) - 1);
	assert_non_null(strings);
	strings[strlen(name)] = '-';
	sample__seal(bytes, length);
	bytes__expect(bytes, length, -EBADMSG,
		      "a string is longer than 255 bytes");
	free(bytes);
	sample__release(&sample);
}

static void what_would_be_refused_is_not_published(void **state)
{
	uint8_t region[8192] __attribute__((aligned(8)));
	struct sample sample;
	uint8_t *bytes;
	size_t length, i;

	(void)state;
	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	memset(region, 0xa5, sizeof(region));

	assert_int_equal(dart_table__publish(&sample.table, region,
					     length - 1), -ENOSPC);
	sample.entries[SAMPLE_PAIR].name = "rows";
	assert_int_equal(dart_table__publish(&sample.table, region,
					     sizeof(region)), -EINVAL);
	sample.entries[SAMPLE_PAIR].name = "\x1b[2J";
	assert_int_equal(dart_table__publish(&sample.table, region,
					     sizeof(region)), -EINVAL);
	sample.entries[SAMPLE_PAIR].name = "pair";
	sample.ranges[0].length = 56;
	assert_int_equal(dart_table__publish(&sample.table, region,
					     sizeof(region)), -EINVAL);
	sample.ranges[0].length = 64;
	/* 2^26 memory regions are more than 16 MiB; they are not looked at. */
	sample.table.memory_region_count = 1 << 26;
	assert_int_equal(dart_table__publish(&sample.table, region,
					     sizeof(region)), -EINVAL);
	sample.table.memory_region_count = 3;
	for (i = 0; i < sizeof(region); i++)
		assert_int_equal(region[i], 0xa5);

	assert_int_equal(dart_table__publish(&sample.table, region, length),
			 length);
	assert_memory_equal(region, bytes, length);
	free(bytes);
	sample__release(&sample);
}

int main(void)
{
	enum { RULES = sizeof(rules) / sizeof(rules[0]) };
	struct CMUnitTest tests[RULES + 3] = {
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(strings_are_short),
		cmocka_unit_test(what_would_be_refused_is_not_published),
	};
	size_t i;

	for (i = 0; i < RULES; i++)
		tests[3 + i] = (struct CMUnitTest) {
			.name = rules[i].name,
			.test_func = rule_is_kept,
			.initial_state = (void *)&rules[i],
		};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("table_rules", tests, NULL, NULL);
}
