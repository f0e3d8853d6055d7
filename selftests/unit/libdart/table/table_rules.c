// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of <dart/control.h> for a table's header, sections, strings, memory regions and
 * schemas; table_entry_rules.c contains the rules for entries and ranges.
 */
#include "table_rules.h"

/* Fields 0 to 5 are of schema 0, 6 and 7 of schema 1. */
static const struct rule rules[] = {
	/* The header. */
	RULE("a table with another magic number is refused", "magic", HEAD(magic, 1)),
	UNSEALED("a table of another ABI version is refused with EPROTONOSUPPORT",
		 "ABI version is 5 instead of 4", -EPROTONOSUPPORT, HEAD(abi_version, 5)),
	UNSEALED("a table of the ABI version before is refused with EPROTONOSUPPORT",
		 "ABI version is 3 instead of 4", -EPROTONOSUPPORT, HEAD(abi_version, 3)),
	RULE("a header of another size is refused", "the header has 200 bytes",
	     HEAD(header_size, 200)),
	UNSEALED("a table whose generation_begin is ahead is refused with EAGAIN", "being changed",
		 -EAGAIN, HEAD(generation_begin, 8)),
	UNSEALED("a table whose generation_end is behind is refused with EAGAIN", "being changed",
		 -EAGAIN, HEAD(generation_end, 6)),
	RULE("a table of generation 0 is refused", "the generation is 0", HEAD(generation_begin, 0),
	     HEAD(generation_end, 0)),
	UNSEALED("a table with a wrong checksum is refused with EAGAIN",
		 "checksum", -EAGAIN, HEAD(checksum, 1)),
	UNSEALED("a table that changed after its checksum was written is refused with EAGAIN",
		 "checksum", -EAGAIN, HEAD(lease_ms, 1)),
	UNSEALED("a table length below the header's is refused", "cannot have 7 bytes", -EBADMSG,
		 HEAD(table_length, 7)),
	UNSEALED("a table one byte longer than 16 MiB is refused", "cannot have 16777217 bytes",
		 -EBADMSG, HEAD(table_length, DART_CONTROL_LENGTH_MAX + 1)),
	UNSEALED("a table longer than the bytes that were read is refused with EMSGSIZE",
		 "were read of 16777216", -EMSGSIZE, HEAD(table_length, DART_CONTROL_LENGTH_MAX)),
	RULE("a header whose reserved member is not 0 is refused", "reserved member of the header",
	     HEAD(reserved, 1)),
	RULE("a table without an exposure is refused", "exposure", HEAD(exposure, 0)),
	RULE("a table with an unknown exposure is refused", "exposure", HEAD(exposure, 3)),
	RULE("a table of instance 0 is refused", "instance", HEAD(instance, 0)),
	RULE("a table of a host without CPUs is refused", "no CPUs", HEAD(cpus, 0)),
	RULE("a table with a page size of 0 is refused", "page size", HEAD(page_size, 0)),
	RULE("a table with a page size that is not a power of two is refused", "page size",
	     HEAD(page_size, 4097)),

	RULE("a node name with a control character is refused", "name of the node",
	     NODE_NAME(0, 0x1b)),
	RULE("a node name with bytes behind its end is refused", "name of the node",
	     NODE_NAME(40, 'x')),
	RULE("a table without online CPUs is refused", "no CPU is online", CPU_SET(0, 0)),
	RULE("an online CPU beyond the CPUs of the host is refused",
	     "online that the host does not have", CPU_SET(0, 0x1b)),
	RULE("a CPU of nohz_full beyond the CPUs of the host is refused",
	     "nohz_full that the host does not have", CPU_SET(1, 0x10)),
	RULE("too few words of CPU sets are refused",
	     "2 words of CPU sets are not for two of 65 CPUs", HEAD(cpus, 65)),
	RULE("no words of CPU sets are refused", "0 words of CPU sets are not for two of 4 CPUs",
	     HEAD(cpu_sets.count, 0)),
	RULE("a single set of CPUs is refused", "1 words of CPU sets are not for two of 4 CPUs",
	     HEAD(cpu_sets.count, 1)),

	/* Sections. */
	RULE("a section that is not aligned to 8 bytes is refused",
	     "section of memory regions is not aligned",
	     HEAD(memory_regions.offset, sizeof(struct dart_control_header) + 4)),
	RULE("a section that overlaps the header is refused", "memory regions overlaps",
	     HEAD(memory_regions.offset, 0)),
	RULE("a section that overlaps another section is refused", "entries overlaps",
	     HEAD(entries.offset, sizeof(struct dart_control_header))),
	RULE("a section that begins beyond the table is refused",
	     "fields reaches beyond", HEAD(fields.offset, 0xfffffff8)),
	RULE("a section that ends beyond the table is refused",
	     "strings reaches beyond", HEAD(strings.count, 0xffffffff)),
	/* 2^27 * 32 is 0 in 32 bits. */
	RULE("a section whose size is 0 in 32 bits is refused",
	     "entries reaches beyond", HEAD(entries.count, 1 << 27)),

	/* Strings. */
	RULE("a table without strings is refused",
	     "do not begin with the empty string", HEAD(strings.count, 0)),
	RULE("strings that do not begin with the empty string are refused",
	     "do not begin with the empty string", STRING(0, 'x')),
	RULE("a last string without a NUL byte is refused", "the last string has no end",
	     HEAD(strings.count, 20)),
	RULE("a string with an escape character is refused", "not printable ASCII",
	     STRING(2, 0x1b)),
	RULE("a string with a newline is refused", "not printable ASCII", STRING(2, '\n')),
	RULE("a string with a delete character is refused", "not printable ASCII", STRING(2, 0x7f)),
	RULE("a string with a byte above 127 is refused", "not printable ASCII", STRING(2, 0x9b)),

	/* Memory regions. */
	RULE("a memory region whose reserved member is not 0 is refused",
	     "reserved member of memory region 1", REGION(1, reserved, 1)),
	RULE("a memory region without bytes is refused",
	     "memory region 1 is empty", REGION(1, length, 0)),
	RULE("a memory region that ends beyond the address space is refused",
	     "memory region 1 reaches beyond the address space", REGION(1, length, UINT64_MAX)),

	/* Schemas. */
	RULE("a schema whose name is beyond the strings is refused",
	     "schema 1 refers to no string", SCHEMA(1, name, 1 << 16)),
	RULE("a schema with copies of 0 bytes is refused",
	     "schema 1 has copies of 0 bytes", SCHEMA(1, length, 0)),
	RULE("a schema with copies of more than 1 MiB is refused",
	     "schema 1 has copies of 1048577 bytes", SCHEMA(1, length, DART_CONTROL_VALUE_MAX + 1)),
	RULE("a schema whose fields begin within the previous schema's is refused",
	     "fields of schema 1 do not follow", SCHEMA(1, first_field, 5)),
	RULE("a schema with more fields than the table has is refused",
	     "fields of schema 1 do not follow", SCHEMA(1, fields, 0xffffffff)),
	RULE("a field that belongs to no schema is refused",
	     "field 7 belongs to no schema", SCHEMA(1, fields, 1)),

	/* Fields. */
	RULE("a field whose name is beyond the strings is refused",
	     "field 2 refers to no string", FIELD(2, name, 0xffffffff)),
	RULE("a field whose unit is beyond the strings is refused",
	     "field 2 refers to no string", FIELD(2, unit, 1 << 16)),
	RULE("a field with an empty name is refused",
	     "field 2 of schema 0 has no name", FIELD(2, name, 0)),
	RULE("a field with an unknown flag is refused",
	     "field 2 has an unknown flag", FIELD(2, flags, 4)),
	RULE("a field of kind 0 is refused",
	     "field 2 of schema 0 is of an unknown kind", FIELD(2, kind, 0)),
	RULE("a field of an unknown kind is refused",
	     "field 2 of schema 0 is of an unknown kind", FIELD(2, kind, 8)),
	RULE("a number with a width of 0 bytes is refused",
	     "has a width other than", FIELD(0, width, 0)),
	RULE("a number with a width of 3 bytes is refused",
	     "has a width other than", FIELD(0, width, 3)),
	RULE("a number with a width of 16 bytes is refused",
	     "has a width other than", FIELD(0, width, 16)),
	RULE("a field without elements is refused",
	     "field 0 of schema 0 has no elements", FIELD(0, count, 0)),
	RULE("a text with a width of 0 bytes is refused",
	     "is a text without bytes", FIELD(4, width, 0)),
	RULE("a text with more than one element is refused",
	     "is a text with a count", FIELD(4, count, 2)),
	RULE("a sequence without another at the end of its line is refused",
	     "schema 0 has a line of 64 bytes that does not begin and end with a sequence",
	     FIELD(0, kind, DART_CONTROL_FIELD_SEQUENCE)),
	RULE("a field that begins at the end of the copy is refused",
	     "field 5 of schema 0 reaches beyond the copy", FIELD(5, offset, 64)),
	RULE("a field that ends one byte beyond the copy is refused",
	     "field 1 of schema 1 reaches beyond the copy", FIELD(7, offset, 17)),
	/* 2^29 * 8 is 0 in 32 bits. */
	RULE("a field whose size is 0 in 32 bits is refused",
	     "field 1 of schema 1 reaches beyond the copy", FIELD(7, count, 1 << 29)),
	RULE("a field that overlaps the previous one is refused",
	     "field 1 of schema 0 begins before the end", FIELD(1, offset, 7)),
	RULE("fields that are not in the order of their offsets are refused",
	     "field 2 of schema 0 begins before the end", FIELD(1, offset, 24)),
};

/* Overwrites one string by another of the same length. */
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

static void test_unique_names(void **state)
{
	struct sample sample;
	uint8_t *bytes;
	size_t length;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	rename_string(bytes, "user", "idle");
	sample__seal(bytes, length);
	bytes__expect(bytes, length, -EBADMSG, "schema 0 has two fields with the name \"idle\"");
	free(bytes);

	bytes = sample__bytes(&sample.table, &length);
	rename_string(bytes, "rows", "pair");
	sample__seal(bytes, length);
	bytes__expect(bytes, length, -EBADMSG, "two entries have the name \"pair\"");
	free(bytes);
	sample__release(&sample);
}

static void test_characters(void **state)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{ "user", "us r", "field 0 of schema 0 has a name other than" },
		{ "heat", "he,t", "field 2 of schema 0 has a name other than" },
		{ "rows", "ro\"s", "has a name with a character" },
	};
	struct sample sample;
	uint8_t *bytes;
	size_t length, i;

	sample__init(&sample);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bytes = sample__bytes(&sample.table, &length);
		rename_string(bytes, cases[i].from, cases[i].to);
		sample__seal(bytes, length);
		bytes__expect(bytes, length, -EBADMSG, cases[i].message);
		free(bytes);
	}
	sample__release(&sample);
}

static void test_long_string(void **state)
{
	char name[DART_CONTROL_ENTRY_NAME_MAX + 1];
	struct dart_control_header *header;
	struct dart_table *table = NULL;
	struct dart_error error;
	struct sample sample;
	uint8_t *bytes;
	size_t length;
	char *strings;

	memset(name, 'a', sizeof(name));
	name[DART_CONTROL_ENTRY_NAME_MAX - 1] = '\0';
	sample__init(&sample);
	sample.entries[SAMPLE_CPUSTAT].name = name;
	bytes = sample__bytes(&sample.table, &length);
	assert_int_equal(dart_table__decode(bytes, length, &table, NULL, &error), 0);
	dart_table__free(table);

	/* Without its NUL the name continues with the next string. */
	header = (void *)bytes;
	strings = memmem(bytes + header->strings.offset, header->strings.count,
			 name, sizeof(name) - 1);
	assert_non_null(strings);
	strings[strlen(name)] = '-';
	sample__seal(bytes, length);
	bytes__expect(bytes, length, -EBADMSG, "a string is longer than 16383 bytes");
	free(bytes);
	sample__release(&sample);
}

static void test_not_published(void **state)
{
	uint8_t region[8192] __attribute__((aligned(8)));
	struct sample sample;
	uint8_t *bytes;
	size_t length, i;

	sample__init(&sample);
	bytes = sample__bytes(&sample.table, &length);
	memset(region, 0xa5, sizeof(region));

	assert_int_equal(sample__publish(&sample.table, region, length - 1), -ENOSPC);
	sample.entries[SAMPLE_PAIR].name = "rows";
	assert_int_equal(sample__publish(&sample.table, region, sizeof(region)), -EINVAL);
	sample.entries[SAMPLE_PAIR].name = "\x1b[2J";
	assert_int_equal(sample__publish(&sample.table, region, sizeof(region)), -EINVAL);
	sample.entries[SAMPLE_PAIR].name = "pair";
	sample.ranges[0].length = 56;
	assert_int_equal(sample__publish(&sample.table, region, sizeof(region)), -EINVAL);
	sample.ranges[0].length = 64;
	/* 2^26 memory regions exceed 16 MiB, and are not read. */
	sample.table.memory_region_count = 1 << 26;
	assert_int_equal(sample__publish(&sample.table, region, sizeof(region)), -EINVAL);
	sample.table.memory_region_count = 3;
	for (i = 0; i < sizeof(region); i++)
		assert_int_equal(region[i], 0xa5);

	assert_int_equal(sample__publish(&sample.table, region, length), length);
	assert_memory_equal(region, bytes, length);
	free(bytes);
	sample__release(&sample);
}

int main(void)
{
	enum { RULES = sizeof(rules) / sizeof(rules[0]) };
	struct CMUnitTest tests[RULES + 4] = {
		TEST("two fields of a schema or two entries with the same name are refused",
		     test_unique_names),
		TEST("a field or an entry with a space, a comma or a quote in its name is refused",
		     test_characters),
		TEST("a string of more than 255 bytes is refused", test_long_string),
		TEST("a table that a decoder would refuse is not published, nor one without room",
		     test_not_published),
	};
	size_t i;

	for (i = 0; i < RULES; i++)
		tests[4 + i] = rule__test(&rules[i]);

	return cmocka_run_group_tests(tests, NULL, NULL);
}
