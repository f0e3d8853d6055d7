// SPDX-License-Identifier: GPL-2.0-only
/* Entries of lookup tables as CSV and JSON: read, refused, and printed again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftests/unit/unit.h"
#include "tools/dartctl/lookup/input.h"
#include "tools/dartctl/lookup/printer.h"

static const char flow[] = "key:\n"
			   "  - {name: src, type: ipv4}\n"
			   "  - {name: port, type: u16}\n"
			   "  - {name: proto, type: u8, names: {tcp: 6, udp: 17}}\n"
			   "value:\n"
			   "  - {name: to, type: ipv6}\n"
			   "  - {name: mac, type: mac}\n"
			   "  - {name: id, type: bytes, count: 3}\n"
			   "  - {name: note, type: text, count: 4}\n"
			   "  - {name: path, type: u16, count: 3, stack: true}\n"
			   "  - {name: hosts, type: ipv4, count: 2}\n"
			   "  - {name: big, type: u64}\n";

#define NAMES "src,port,proto,to,mac,id,note,path,hosts,big\n"
#define ROW "10.0.0.1,80,tcp,fd00::1,02:00:00:00:00:0a,00ff7e,ab,7 8,1.2.3.4 5.6.7.8,18446744073709551615"
#define OBJECT                                                              \
	"{\"src\": \"10.0.0.1\", \"port\": 80, \"proto\": \"tcp\", \"to\": \"fd00::1\", \"mac\": \"02:00:00:00:00:0a\", \"id\": \"00ff7e\", \"note\": \"ab\", \"path\": [7, 8], \"hosts\": [\"1.2.3.4\", \"5.6.7.8\"], \"big\": 18446744073709551615}"

static const uint8_t expected[] = {
	10, 0, 0, 1, 0, 80, 6, 0xfd, 0,	 0,    0,    0,	   0,	0,   0,	  0,   0,   0,	 0, 0,
	0,  0, 1, 2, 0, 0,  0, 0,    10, 0x00, 0xff, 0x7e, 'a', 'b', 0,	  0,   0,   8,	 0, 7,
	0,  0, 1, 2, 3, 4,  5, 6,    7,	 8,    255,  255,  255, 255, 255, 255, 255, 255,
};

static struct dart_key_schema *load(const char *text)
{
	FILE *file = fmemopen((char *)text, strlen(text), "r");
	struct dart_key_schema *schema = NULL;
	struct dart_error error;

	assert_non_null(file);
	if (dart_key_schema__load(file, "schema", &schema, &error))
		fail_msg("%s", error.text);
	fclose(file);
	return schema;
}

static void lay_out(struct lookup_layout *layout, const char *text)
{
	struct dart_error error;

	if (lookup_layout__init(layout, load(text), &error))
		fail_msg("%s", error.text);
}

/*
 * Parses @text, of which first only @first bytes are there.  Returns the number of entries,
 * the last of which is at @entry, or -EINVAL.
 */
static int parse(const struct lookup_layout *layout, lookup_parser_next *next, const char *text,
		 size_t first, uint8_t *entry, uint64_t *line, struct dart_error *error)
{
	const size_t length = strlen(text);
	struct lookup_span span = { text, text + first, false };
	struct lookup_parser parser;
	int ret, count = 0;

	lookup_parser__init(&parser, layout, next);
	while ((ret = next(&parser, &span, entry, error))) {
		if (ret == 1) {
			count++;
			continue;
		}
		*line = parser.line;
		if (ret != -EAGAIN)
			return ret;
		assert_false(span.is_last);
		/* The second time there is all, then the end. */
		span.is_last = span.end == text + length;
		span.end = text + length;
	}
	return count;
}

static void check_entries(lookup_parser_next *next, const char *text, int count)
{
	uint8_t entry[LOOKUP_ENTRY_MAX];
	struct lookup_layout layout;
	struct dart_error error;
	uint64_t line;
	size_t first;
	int ret;

	lay_out(&layout, flow);
	assert_int_equal(layout.key_length, 7);
	assert_int_equal(layout.value_length, sizeof(expected) - 7);
	for (first = 0; first <= strlen(text); first++) {
		memset(entry, 0xee, sizeof(entry));
		ret = parse(&layout, next, text, first, entry, &line, &error);
		if (ret < 0)
			fail_msg("%s", error.text);
		assert_int_equal(ret, count);
		assert_memory_equal(entry, expected, sizeof(expected));
	}
	lookup_layout__free(&layout);
}

static void test_csv(void **state)
{
	check_entries(lookup_csv__next, NAMES ROW, 1);
	check_entries(lookup_csv__next, NAMES ROW "\n\n" ROW "\r\n", 2);
	check_entries(lookup_csv__next,
		      "big,src,port,proto,to,mac,id,\"note\",path,hosts\n"
		      "0xffffffffffffffff,10.0.0.1,\"80\",6,FD00:0::1,02:00:00:00:00:0A,00FF7E,\"\\x61b\", 7  8 ,1.2.3.4 5.6.7.8\n",
		      1);
}

static void test_json(void **state)
{
	check_entries(lookup_json__next, OBJECT, 1);
	check_entries(lookup_json__next, OBJECT "\n" OBJECT "\n", 2);
	check_entries(lookup_json__next, " [" OBJECT ",\n " OBJECT "\r\n] ", 2);
	check_entries(
		lookup_json__next,
		"{\"\\u0073rc\": \"10.0\\u002e0.1\",\"port\":\"80\",\"proto\":6,\"to\":\"fd00::1\",\"mac\":\"02:00:00:00:00:0a\",\"id\":\"00ff7e\",\"note\":\"a\\\\x62\",\"path\":\"7 8\",\"hosts\":[\"1.2.3\\u002e4\",\"5.6.7.8\"],\"big\":\"0xffffffffffffffff\"}",
		1);
}

static void test_end(void **state)
{
	uint8_t entry[LOOKUP_ENTRY_MAX];
	struct lookup_layout layout;
	struct dart_error error;
	uint64_t line;

	lay_out(&layout, flow);
	assert_int_equal(parse(&layout, lookup_csv__next, NAMES, 0, entry, &line, &error), 0);
	assert_int_equal(parse(&layout, lookup_json__next, "[]\n", 0, entry, &line, &error), 0);
	assert_int_equal(parse(&layout, lookup_json__next, " \n", 0, entry, &line, &error), 0);
	lookup_layout__free(&layout);
}

static const struct {
	const char *text;
	uint64_t line;
	const char *message;
} refused_csv[] = {
	{ "", 1, "names the fields" },
	{ "src,more\n", 1, "column 'more' is not a field" },
	{ "src,src\n", 1, "column 'src' occurs twice" },
	{ "src,port\n", 1, "no column is called 'proto'" },
	{ NAMES "10.0.0.1,80\n", 2, "fewer cells than the 10" },
	{ NAMES ROW "\n" ROW ",1\n", 3, "more cells than the 10" },
	{ NAMES "\n10.0.0.256", 3, "src '10.0.0.256': expected an IPv4" },
	{ NAMES "10.0.0", 2, "src '10.0.0'" },
	{ NAMES "10.0.0.1.2", 2, "src" },
	{ NAMES "10.00.0.1", 2, "src" },
	{ NAMES ".0.0.1", 2, "src" },
	{ NAMES "10.0.0.1,65536", 2, "port '65536': expected a number up to 65535" },
	{ NAMES "10.0.0.1,", 2, "port ''" },
	{ NAMES "10.0.0.1,-1", 2, "port '-1'" },
	{ NAMES "10.0.0.1,1,xyz", 2, "up to 255 or one of its names" },
	{ NAMES "\"10.0.0.1", 2, "not closed" },
	{ NAMES "\"10.0.0.1\"1", 2, "continues behind" },
	{ NAMES "10.0.0.1,1,1,fd00:1", 2, "IPv6 address" },
	{ NAMES "10.0.0.1,1,1,::,02:00", 2, "mac '02:00'" },
	{ NAMES "10.0.0.1,1,1,::,02:00:00:00:00:00,0f", 2, "6 hexadecimal digits" },
	{ NAMES "10.0.0.1,1,1,::,02:00:00:00:00:00,0f0f0f,12345", 2, "up to 4 bytes" },
	{ NAMES "10.0.0.1,1,1,::,02:00:00:00:00:00,0f0f0f,\\x1", 2, "with \\x5c for a backslash" },
	{ NAMES "10.0.0.1,1,1,::,02:00:00:00:00:00,0f0f0f,,1 2 3 4", 2,
	  "up to 3 elements, each a number" },
	{ NAMES "10.0.0.1,1,1,::,02:00:00:00:00:00,0f0f0f,,,1.2.3.4", 2,
	  "2 elements, each an IPv4" },
	{ NAMES "10.0.0.1,1,1,::,02:00:00:00:00:00,0f0f0f,,,1.2.3.4 1.2.3.4,18446744073709551616",
	  2, "big '18446744073709551616'" },
}, refused_json[] = {
	{ "17", 1, "expected '{' instead of '1'" },
	{ "{", 1, "ends within an entry" },
	{ "[" OBJECT, 1, "ends within an entry" },
	{ "[" OBJECT "\n" OBJECT "]", 2, "expected ',' or ']'" },
	{ "[" OBJECT "]\n]", 2, "']' follows the end" },
	{ "[" OBJECT ",]", 1, "expected '{' instead of ']'" },
	{ OBJECT "\n[", 2, "expected '{' instead of '['" },
	{ "{}", 1, "expected '\"' instead of '}'" },
	{ "\n{\"src\": \"10.0.0.1\"}", 2, "an entry has no 'port'" },
	{ "{\"src\": \"10.0.0.1\",\n\"src\": \"10.0.0.1\"}", 2, "'src' occurs twice" },
	{ "{\"more\": 1}", 1, "'more' is not a field" },
	{ "{\"src\" 1}", 1, "expected ':' instead of '1'" },
	{ "{\"port\":\n65536}", 2, "port '65536': expected" },
	{ "{\"port\": 1.5}", 1, "port '1.5'" },
	{ "{\"port\": null}", 1, "expected a string or a number instead of 'null'" },
	{ "{\"port\": [1]}", 1, "instead of '[1'" },
	{ "{\"path\": [1, ]}", 1, "expected an element" },
	{ "{\"path\": [1 2]}", 1, "expected ',' or ']'" },
	{ "{\"src\": \"\\q\"}", 1, "\\q is not an escape" },
	{ "{\"src\": \"\\u12g4\"}", 1, "four hexadecimal digits" },
	{ "{\"src\": \"\\ud800\"}", 1, "half of a pair" },
	{ "{\"src\": \"\\udc00\"}", 1, "half of a pair" },
	{ "{\"src\": \"\n\"}", 1, "control character" },
};

static void check_refused(lookup_parser_next *next, const char *text,
			  uint64_t line, const char *message)
{
	uint8_t entry[LOOKUP_ENTRY_MAX];
	struct lookup_layout layout;
	struct dart_error error = { "" };
	uint64_t where = 0;
	size_t first;

	lay_out(&layout, flow);
	for (first = 0; first <= strlen(text); first++) {
		assert_int_equal(parse(&layout, next, text, first, entry, &where, &error), -EINVAL);
		if (where != line)
			fail_msg("line %llu: %s", (unsigned long long)where, text);
		if (!strstr(error.text, message))
			fail_msg("%s: %s", text, error.text);
	}
	lookup_layout__free(&layout);
}

static void test_refused(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(refused_csv) / sizeof(refused_csv[0]); i++)
		check_refused(lookup_csv__next, refused_csv[i].text,
			      refused_csv[i].line, refused_csv[i].message);
	for (i = 0; i < sizeof(refused_json) / sizeof(refused_json[0]); i++)
		check_refused(lookup_json__next, refused_json[i].text,
			      refused_json[i].line, refused_json[i].message);
}

static void test_refused_schemas(void **state)
{
	static const struct {
		const char *text, *message;
	} schemas[] = {
		{ "key: [{name: a, type: address}]\nvalue: [{name: b, type: u8}]\n",
		  "must be ipv4 or ipv6" },
		{ "key: [{name: a, type: u8}]\nvalue: [{name: a, type: u8}]\n",
		  "both have a field 'a'" },
	};
	struct dart_key_schema *schema;
	struct lookup_layout layout;
	struct dart_error error;
	size_t i;

	for (i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		schema = load(schemas[i].text);
		assert_int_equal(lookup_layout__init(&layout, schema, &error), -EINVAL);
		if (!strstr(error.text, schemas[i].message))
			fail_msg("%s", error.text);
		dart_key_schema__free(schema);
	}
}

/* Entries of all bytes, printed and read again. */
static void check_round_trip(const char *format, lookup_parser_next *next)
{
	const struct lookup_printer *printer = lookup_printer__find(format);
	uint8_t entry[LOOKUP_ENTRY_MAX], again[LOOKUP_ENTRY_MAX];
	struct lookup_layout layout;
	struct dart_error error;
	uint64_t seed = 1, line;
	size_t length, i;
	FILE *file;
	char *text;
	int round;

	assert_non_null(printer);
	lay_out(&layout, flow);
	for (round = 0; round < 5000; round++) {
		for (i = 0; i < sizeof(expected); i++)
			entry[i] = round % 2 ? random__below(&seed, 256) :
					       random__below(&seed, 4) * 44 + 34;
		file = open_memstream(&text, &length);
		assert_non_null(file);
		if (printer->begin)
			printer->begin(file, &layout);
		printer->entry(file, &layout, entry);
		fclose(file);
		for (i = 0; i < length; i++)
			assert_true(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'));
		if (parse(&layout, next, text, length, again, &line, &error) != 1)
			fail_msg("%s: %s", text, error.text);
		assert_memory_equal(again, entry, sizeof(expected));
		free(text);
	}
	lookup_layout__free(&layout);
}

static void test_round_trip(void **state)
{
	check_round_trip("csv", lookup_csv__next);
	check_round_trip("json", lookup_json__next);
	assert_null(lookup_printer__find("xml"));
}

static void test_columns(void **state)
{
	const struct lookup_printer *printer = lookup_printer__find("table");
	const uint8_t entry[] = { 0x0a, 0x0b, 0x00 };
	struct lookup_layout layout;
	struct dart_error error;
	size_t length;
	char *text;
	FILE *file = open_memstream(&text, &length);

	assert_non_null(file);
	assert_int_equal(lookup_layout__init_raw(&layout, 2, 1, &error), 0);
	printer->begin(file, &layout);
	printer->entry(file, &layout, entry);
	fclose(file);
	assert_string_equal(text, "key  value\n0a0b 00\n");
	free(text);
	lookup_layout__free(&layout);
}

static FILE *temporary(char path[static 32])
{
	strcpy(path, "/tmp/tea_parser.XXXXXX");
	return fdopen(mkstemp(path), "w");
}

static void test_file(void **state)
{
	uint8_t entry[LOOKUP_ENTRY_MAX];
	struct lookup_layout layout;
	struct lookup_input input;
	struct dart_error error;
	char path[32];
	FILE *file;
	int i, ret, count = 0;

	lay_out(&layout, flow);
	file = temporary(path);
	fputs(NAMES, file);
	for (i = 0; i < 10000; i++)
		fputs(ROW "\n", file);
	for (i = 0; i <= 300000; i++)
		fputc('1', file);
	fclose(file);
	assert_int_equal(lookup_input__open(&input, path, &layout, lookup_csv__next, &error), 0);
	while ((ret = lookup_input__next(&input, entry, &error)) == 1) {
		assert_memory_equal(entry, expected, sizeof(expected));
		count++;
	}
	lookup_input__close(&input);
	assert_int_equal(count, 10000);
	assert_int_equal(ret, -EFBIG);
	assert_memory_equal(error.text, path, strlen(path));
	assert_non_null(strstr(error.text, ":10002: an entry has more than"));
	unlink(path);
	assert_int_equal(lookup_input__open(&input, path, &layout, lookup_csv__next, &error),
			 -ENOENT);
	lookup_layout__free(&layout);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("CSV is read, wherever a piece of it ends", test_csv),
		TEST("JSON is read, an array or objects, wherever a piece of it ends", test_json),
		TEST("a text may have no entries", test_end),
		TEST("a mistake is refused with its line, wherever a piece ends", test_refused),
		TEST("a schema that no table can have is refused", test_refused_schemas),
		TEST("entries that are printed are read again as they were", test_round_trip),
		TEST("entries are printed in columns", test_columns),
		TEST("a file is read to its end, and a line without one is refused", test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
