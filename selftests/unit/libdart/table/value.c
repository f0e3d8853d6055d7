// SPDX-License-Identifier: GPL-2.0-only
/* Values of gathered copies: numbers, sums, and JSON. */
#include <libdart/json.h>

#include "value_expect.h"

static void test_numbers(void **state)
{
	static const uint8_t bytes[] = {
		0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8,
		0x08, 0x17, 0x26, 0x35, 0x44, 0x53, 0x62, 0x71,
	};
	static const struct {
		uint32_t width;
		bool is_signed;
		uint64_t first;
		uint64_t second;
	} cases[] = {
		{ 1, false, 0x81, 0x92 },
		{ 1, true, 0xffffffffffffff81, 0xffffffffffffff92 },
		{ 2, false, 0x9281, 0xb4a3 },
		{ 2, true, 0xffffffffffff9281, 0xffffffffffffb4a3 },
		{ 4, false, 0xb4a39281, 0xf8e7d6c5 },
		{ 4, true, 0xffffffffb4a39281, 0xfffffffff8e7d6c5 },
		{ 8, false, 0xf8e7d6c5b4a39281, 0x7162534435261708 },
		{ 8, true, 0xf8e7d6c5b4a39281, 0x7162534435261708 },
	};
	uint8_t copy[32];
	uint32_t i, shift;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (shift = 0; shift < 16; shift++) {
			const struct dart_field field = {
				.offset = shift,
				.width = cases[i].width,
				.count = 2,
				.kind = DART_CONTROL_FIELD_GAUGE,
				.is_signed = cases[i].is_signed,
			};

			memset(copy, 0xa5, sizeof(copy));
			memcpy(copy + shift, bytes, sizeof(bytes));
			assert_int_equal(dart_field__get(&field, copy, 0), cases[i].first);
			assert_int_equal(dart_field__get(&field, copy, 1), cases[i].second);
		}
	}
}

/* Three copies of -1 and one of 5 or 1; of 9 bytes, so most are not aligned. */
static void test_sums(void **state)
{
	struct dart_schema schema = { .name = "", .length = 9 };
	struct dart_entry entry = { .schema = &schema, .copies = 4 };
	struct dart_field field = { .offset = 1, .count = 1 };
	uint8_t copies[4 * 9];

	memset(copies, 0xff, sizeof(copies));
	memset(copies, 0, 9);
	copies[1] = 5;
	assert_int_equal(dart_entry__size(&entry), sizeof(copies));

	for (field.width = 1; field.width <= 8; field.width *= 2) {
		field.is_signed = false;
		assert_int_equal(dart_entry__sum(&entry, &field, copies, 0), 2);
		copies[1] = 1;
		field.is_signed = true;
		assert_int_equal(dart_entry__sum(&entry, &field, copies, 0), (uint64_t)-2);
		field.is_signed = false;
		assert_int_equal(dart_entry__sum(&entry, &field, copies, 0),
				 (UINT64_MAX >> (64 - 8 * field.width)) - 1);
		copies[1] = 5;
	}
}

static void stat__fill(uint8_t *copy, uint8_t number)
{
	static const char command[16] = "a\n\x1b[2J\x9b\"\\";

	memset(copy, 0, 64);
	copy[0] = number;
	copy[8] = 10 * number;
	memset(copy + 16, 0xff, 4);
	copy[20] = number;
	copy[32] = 2;
	memcpy(copy + 40, command, sizeof(command));
	copy[56] = 200;
}

#define HISTOGRAM(first, last) "[" first ",0,0," last "]"
#define COMMAND "\"a\\\\x0a\\\\x1b[2J\\\\x9b\\\"\\\\x5c\""
#define STAT(user, idle) \
	"{\"user\":" user ",\"idle\":" idle ",\"heat\":-1," \
	"\"sizes\":" HISTOGRAM(user, "2") ",\"command\":" COMMAND \
	",\"small\":200}"

static void test_cpus(void **state)
{
	uint8_t copies[4 * 64];
	struct sample sample;
	uint8_t i;

	sample__init(&sample);
	sample.entries[SAMPLE_CPUSTAT].copies = 2;
	for (i = 0; i < 4; i++)
		stat__fill(copies + 64 * i, i + 1);
	values__expect(&sample.entries[SAMPLE_CPUSTAT], copies,
		"{\"kind\":\"source\",\"schema\":\"stat\",\"copies\":\"cpu\",\"since\":1,"
		"\"lags_on_nohz_full\":true,"
		"\"sum\":{\"user\":3,\"idle\":30,\"sizes\":"
		HISTOGRAM("3", "4") ",\"small\":144},"
		"\"cpus\":[" STAT("1", "10") "," STAT("2", "20") "]}");
	sample__release(&sample);
}

static void test_rows(void **state)
{
	uint8_t copies[2 * 64];
	struct sample sample;
	uint8_t i;

	sample__init(&sample);
	sample.entries[SAMPLE_ROWS].copies = 2;
	for (i = 0; i < 2; i++)
		stat__fill(copies + 64 * i, i + 1);
	values__expect(&sample.entries[SAMPLE_ROWS], copies,
		"{\"kind\":\"map\",\"schema\":\"stat\",\"copies\":\"row\",\"since\":0,\"lags_on_nohz_full\":true,"
		"\"rows\":[" STAT("1", "10") "," STAT("2", "20") "]}");
	sample__release(&sample);
}

static void test_wide(void **state)
{
	struct dart_schema *schema = dart_schema__new("wide", 24);
	struct dart_entry entry = {
		.schema = schema, .copies = 1,
		.kind = DART_CONTROL_ENTRY_MAP,
		.copies_are = DART_CONTROL_COPIES_ROW,
	};
	uint64_t copy[] = { 1ULL << 63, INT64_MAX, 1ULL << 63 };
	json_t *json, *row;
	char *printed;
	size_t length;
	FILE *out;

	assert_non_null(schema);
	sample__add(schema, "wide", "", 0, 8, 1, DART_CONTROL_FIELD_GAUGE, false);
	sample__add(schema, "integer", "", 8, 8, 1, DART_CONTROL_FIELD_GAUGE, false);
	sample__add(schema, "negative", "", 16, 8, 1, DART_CONTROL_FIELD_GAUGE, true);
	json = dart_entry__to_json(&entry, copy);
	row = json_array_get(json_object_get(json, "rows"), 0);
	assert_string_equal(dart_json__digits(json_object_get(row, "wide")), "9223372036854775808");
	assert_int_equal(json_integer_value(json_object_get(row, "integer")), INT64_MAX);
	assert_int_equal(json_integer_value(json_object_get(row, "negative")), INT64_MIN);
	json_decref(json);

	out = open_memstream(&printed, &length);
	assert_non_null(out);
	copy[0] = UINT64_MAX;
	dart_entry__print_json(&entry, copy, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(printed,
		"{\"kind\":\"map\",\"schema\":\"wide\",\"copies\":\"row\",\"since\":0,\"rows\":["
		"{\"wide\":18446744073709551615,\"integer\":9223372036854775807,"
		"\"negative\":-9223372036854775808}]}");
	free(printed);
	dart_schema__free(schema);
}

static void test_text(void **state)
{
	struct dart_schema *schema = dart_schema__new("text", 4);
	struct dart_entry entry = {
		.schema = schema, .copies = 1,
		.kind = DART_CONTROL_ENTRY_MAP,
		.copies_are = DART_CONTROL_COPIES_ROW,
	};
	char *copy = malloc(4);

	assert_non_null(schema);
	assert_non_null(copy);
	memcpy(copy, "\xff\xfe\x80!", 4);
	sample__add(schema, "text", "", 0, 4, 1, DART_CONTROL_FIELD_TEXT, false);
	values__expect(&entry, copy,
		"{\"kind\":\"map\",\"schema\":\"text\",\"copies\":\"row\",\"since\":0,"
		"\"rows\":[{\"text\":\"\\\\xff\\\\xfe\\\\x80!\"}]}");
	free(copy);
	dart_schema__free(schema);
}

static void test_addresses(void **state)
{
	struct dart_schema *schema = dart_schema__new("peers", 32);
	struct dart_entry entry = {
		.schema = schema, .copies = 1,
		.kind = DART_CONTROL_ENTRY_MAP,
		.copies_are = DART_CONTROL_COPIES_ROW,
	};
	static const uint8_t copy[32] = {
		[10] = 0xff, 0xff, 10, 77, 0, 1, 0xfe, 0x80, [31] = 7,
	};

	assert_non_null(schema);
	sample__add(schema, "v4", "", 0, 16, 1, DART_CONTROL_FIELD_ADDRESS, false);
	sample__add(schema, "v6", "", 16, 16, 1, DART_CONTROL_FIELD_ADDRESS, false);
	values__expect(&entry, copy,
		"{\"kind\":\"map\",\"schema\":\"peers\",\"copies\":\"row\",\"since\":0,"
		"\"rows\":[{\"v4\":\"10.77.0.1\",\"v6\":\"fe80::7\"}]}");
	dart_schema__free(schema);
}

static void test_schema(void **state)
{
	struct sample sample;

	sample__init(&sample);
	json_decref(json__expect(dart_schema__to_json(sample.pair),
		"{\"name\":\"pair\",\"length\":24,\"fields\":["
		"{\"name\":\"in\",\"kind\":\"counter\",\"unit\":\"bytes\","
		"\"offset\":0,\"width\":8,\"count\":1,\"signed\":false},"
		"{\"name\":\"out\",\"kind\":\"counter\",\"unit\":\"bytes\","
		"\"offset\":16,\"width\":8,\"count\":1,\"signed\":false}]}"));
	sample__release(&sample);
}

static size_t allocations_left;

static void *allocate(size_t size)
{
	if (!allocations_left)
		return NULL;
	allocations_left--;
	return malloc(size);
}

static void test_no_memory(void **state)
{
	static uint8_t copies[5 * 64];
	struct sample sample;
	size_t limit;
	json_t *json;

	sample__init(&sample);
	json_set_alloc_funcs(allocate, free);
	for (limit = 0, json = NULL; !json; limit++) {
		allocations_left = limit;
		json = dart_entry__to_json(&sample.entries[SAMPLE_CPUSTAT], copies);
	}
	assert_true(limit > 50);
	json_decref(json);
	for (limit = 0, json = NULL; !json; limit++) {
		allocations_left = limit;
		json = dart_schema__to_json(sample.stat);
	}
	assert_true(limit > 50);
	json_decref(json);
	json_set_alloc_funcs(malloc, free);
	sample__release(&sample);
}

static void test_kinds(void **state)
{
	assert_string_equal(dart_field_kind__name(DART_CONTROL_FIELD_GAUGE), "gauge");
	assert_string_equal(dart_field_kind__name(0), "unknown");
	assert_string_equal(dart_entry_kind__name(DART_CONTROL_ENTRY_MAP), "map");
	assert_string_equal(dart_entry_kind__name(9), "unknown");
	assert_string_equal(dart_exposure__name(DART_CONTROL_EXPOSURE_PAGE), "page");
	assert_string_equal(dart_exposure__name(0), "unknown");
}

static void test_cpu_sets(void **state)
{
	static const struct {
		uint64_t set[2];
		uint32_t cpus;
		const char *text;
	} cases[] = {
		{ { 0 }, 4, "" },
		{ { 1 }, 1, "0" },
		{ { 0x10f }, 16, "0-3,8" },
		{ { 0x8000000000000005, 3 }, 66, "0,2,63-65" },
		{ { UINT64_MAX, UINT64_MAX }, 128, "0-127" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		assert_non_null(out);
		dart_cpus__print(cases[i].set, cases[i].cpus, out);
		assert_int_equal(fclose(out), 0);
		assert_string_equal(text, cases[i].text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("numbers are read at every width, sign and alignment", test_numbers),
		TEST("a sum over copies wraps at the width of its field", test_sums),
		TEST("an entry with a copy for each CPU is printed with the sum and each CPU's values, and marked if these lag",
		     test_cpus),
		TEST("a set of CPUs is printed as ranges", test_cpu_sets),
		TEST("an entry with rows is printed without a sum, and marked if its values lag",
		     test_rows),
		TEST("an unsigned number up to 2^64 - 1 is printed as an integer, and a real number for Jansson",
		     test_wide),
		TEST("a text without a NUL byte ends with its field", test_text),
		TEST("addresses are printed as IPv6, and as IPv4 if they are mapped",
		     test_addresses),
		TEST("a schema is printed with every member of its fields", test_schema),
		TEST("printing an entry or a schema fails cleanly at each allocation that fails",
		     test_no_memory),
		TEST("kinds of fields and entries and exposures have names, and unknown ones are called unknown",
		     test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
