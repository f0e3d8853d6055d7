// SPDX-License-Identifier: GPL-2.0-only
/* Schemas of keys and values: files, keys from text, values as JSON. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/error.h>
#include <libdart/json.h>
#include <libdart/key/key_schema.h>

#include "selftests/unit/unit.h"

static struct dart_key_schema *schema;
static uint8_t key[DART_STORE_KEY_MAX];
static struct dart_error error;

static int drop(void **state)
{
	dart_key_schema__free(schema);
	schema = NULL;
	return 0;
}

static int load_bytes(const char *bytes, size_t length)
{
	FILE *file = fmemopen((void *)bytes, length, "r");
	int err;

	assert_non_null(file);
	err = dart_key_schema__load(file, "f", &schema, &error);
	fclose(file);
	return err;
}

static int load(const char *text)
{
	return load_bytes(text, strlen(text));
}

/* Opens a schema that is installed. */
static void open_schema(const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "schemas/%s.yaml", name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	if (dart_key_schema__load(file, path, &schema, &error))
		fail_msg("%s", error.text);
	fclose(file);
}

static void assert_value(const void *value, const char *expected)
{
	json_t *json = dart_key_schema__value(schema, value);
	char *text = dart_json__dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);

	assert_string_equal(text, expected);
	free(text);
	json_decref(json);
}

static void test_table_1(void **state)
{
	static const struct {
		const char *name;
		uint32_t key_length;	/* with IPv6 addresses */
		uint32_t value_length;
	} expected[] = {
		{ "int-path", 37, 20 },	{ "postcard", 41, 20 },
		{ "mirror", 4, 8 },	{ "trace", 41, 16 },
		{ "anomaly", 39, 20 },	{ "failure", 8, 20 },
		{ "path-event", 4, 41 }, { "flow-count", 37, 8 },
		{ "hops", 37, 20 },
	};
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		open_schema(expected[i].name);
		assert_non_null(schema->description);
		assert_int_equal(schema->key.length, expected[i].key_length);
		assert_int_equal(schema->value.length, expected[i].value_length);
		drop(state);
	}
}

static void test_flow_key(void **state)
{
	static const char *const texts[] = { "10.0.0.1", "10.0.0.2", "4660", "0x50", "udp" };
	static const char *const long_texts[] = { "fe80::1", "fe80::2", "4660", "80", "17", "7" };

	open_schema("int-path");
	assert_int_equal(dart_key_schema__key(schema, texts, key, &error), 13);
	assert_memory_equal(key, "\x0a\0\0\1\x0a\0\0\2\x12\x34\0\x50\x11", 13);
	drop(NULL);

	open_schema("postcard");
	assert_int_equal(dart_key_schema__key(schema, long_texts, key, &error), 41);
	assert_memory_equal(key, "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	assert_memory_equal(key + 32, "\x12\x34\0\x50\x11\0\0\0\7", 9);
}

static void test_path(void **state)
{
	open_schema("int-path");
	assert_value("\0\0\0\3\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0", "{\"path\":[1,2,3]}");
	assert_value("\0\0\0\5\0\0\0\4\0\0\0\3\0\0\0\0\0\0\0\1", "{\"path\":[1,0,3,4,5]}");
	assert_value("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "{\"path\":[]}");
}

static const char every_type[] = "key:\n"
				 "  - {name: a, type: u8, names: {one: 1}}\n"
				 "  - {name: b, type: u64}\n"
				 "  - {name: c, type: mac}\n"
				 "  - {name: d, type: bytes, count: 3}\n"
				 "  - {name: e, type: text, count: 4}\n"
				 "  - {name: f, type: ipv4}\n"
				 "  - {name: g, type: ipv6}\n"
				 "value:\n"
				 "  - {name: a, type: u8, names: {one: 1}}\n"
				 "  - {name: b, type: u64, unit: ns, description: when}\n"
				 "  - {name: c, type: mac}\n"
				 "  - {name: d, type: bytes, count: 3}\n"
				 "  - {name: e, type: text, count: 4}\n"
				 "  - {name: f, type: ipv4}\n"
				 "  - {name: g, type: ipv6}\n"
				 "  - {name: h, type: u16, count: 2, stack: false}\n";

static void test_every_type(void **state)
{
	static const char *const texts[] = {
		"one",	"18446744073709551614", "00:11:22:aa:BB:cc",
		"0aFf00", "x\xe9",		"1.2.3.4",
		"::1",
	};

	if (load(every_type))
		fail_msg("%s", error.text);
	assert_int_equal(dart_key_schema__key(schema, texts, key, &error), 42);
	assert_memory_equal(key, "\1\xff\xff\xff\xff\xff\xff\xff\xfe"
			    "\0\x11\x22\xaa\xbb\xcc\x0a\xff\0x\xe9\0\0"
			    "\1\2\3\4", 26);
	memcpy(key + 42, "\0\7\0\0", 4);
	assert_value(key, "{\"a\":\"one\",\"b\":18446744073709551614,"
		     "\"c\":\"00:11:22:aa:bb:cc\",\"d\":\"0aff00\","
		     "\"e\":\"x\\\\xe9\",\"f\":\"1.2.3.4\",\"g\":\"::1\","
		     "\"h\":[7,0]}");
}

static void test_refused_keys(void **state)
{
	static const struct {
		uint32_t field;
		const char *text, *error;
	} wrong[] = {
		{ 0, "two", "a 'two': expected a number or one of its names" },
		{ 0, "256", "a '256': more than 255" },
		{ 0, "-1", "a '-1': expected a number" },
		{ 0, "", "a '': expected a number" },
		{ 0, "1 ", "a '1 ': expected a number" },
		{ 0, "0x", "a '0x': expected a number" },
		{ 0, "\x1b[2J", "a '\\x1b[2J': expected a number" },
		{ 1, "18446744073709551616", "more than 18446744073709551615" },
		{ 2, "00:11:22:33:44", "expected 00:11:22:33:44:55" },
		{ 2, "00:11:22:33:44:55:", "expected 00:11:22:33:44:55" },
		{ 2, "00-11-22-33-44-55", "expected 00:11:22:33:44:55" },
		{ 3, "0aff0", "d '0aff0': expected 6 hexadecimal digits" },
		{ 3, "0aff0g", "expected 6 hexadecimal digits" },
		{ 3, "0aff0000", "expected 6 hexadecimal digits" },
		{ 4, "abcde", "e 'abcde': longer than 4 bytes" },
		{ 5, "::1", "expected an IPv4 address" },
		{ 6, "1.2.3.4", "expected an IPv6 address" },
		{ 6, "fe80::1%eth0", "expected an IPv6 address" },
	};
	const char *texts[] = {
		"1", "2", "00:11:22:33:44:55", "000000", "", "0.0.0.0", "::",
	};
	const char *mixed[] = { "10.0.0.1", "::1", "1", "2", "3" };
	const char *right;
	size_t i;

	if (load(every_type))
		fail_msg("%s", error.text);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		right = texts[wrong[i].field];
		texts[wrong[i].field] = wrong[i].text;
		assert_int_equal(dart_key_schema__key(schema, texts, key, &error), -EINVAL);
		if (!strstr(error.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].text, error.text);
		texts[wrong[i].field] = right;
	}
	drop(state);

	open_schema("int-path");
	assert_int_equal(dart_key_schema__key(schema, mixed, key, &error), -EINVAL);
	assert_string_equal(error.text, "dst '::1': not in the family of the other address");
}

#define V "value: [{name: v, type: u8}]\n"
#define K "key: [{name: k, type: u8}]\n"

static void test_refused_schemas(void **state)
{
	static const struct {
		const char *text, *error;
	} wrong[] = {
		{ "\n", "f:1: the file is empty" },
		{ "- a\n", "f:1: expected KEY: VALUE lines" },
		{ K, "f:1: the schema has no 'value'" },
		{ V, "f:1: the schema has no 'key'" },
		{ K V "noise: 1\n", "f:3: unknown key 'noise'" },
		{ K V K, "f:3: 'key' occurs twice" },
		{ K V "description: [a]\n", "f:3: expected a text in ASCII" },
		{ K V "description: \"\\e[2J\"\n", "expected a text in ASCII" },
		{ V "key: {}\n", "f:2: expected a list of fields" },
		{ V "key: []\n", "f:2: expected a list of fields" },
		{ V "key: [a]\n", "f:2: expected KEY: VALUE lines" },
		{ V "key:\n- {type: u8}\n", "f:3: the field has no 'name'" },
		{ V "key:\n- {name: a}\n", "f:3: the field has no 'type'" },
		{ V "key: [{name: 1a, type: u8}]", "'1a' is not a name" },
		{ V "key: [{name: '', type: u8}]", "'' is not a name" },
		{ V "key: [{name: a b, type: u8}]", "'a b' is not a name" },
		{ V "key: [{name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, type: u8}]", "is not a name" },
		{ V "key: [{name: from, type: u8}]", "the name of an option" },
		{ V "key: [{name: a, type: u9}]", "'u9' is not a type" },
		{ V "key: [{name: a, type: [u8]}]", "'?' is not a type" },
		{ V "key: [{name: a, type: u8, noise: 1}]", "unknown key" },
		{ V "key: [{name: a, type: u8, count: 2}]", "cannot have arrays" },
		{ V "key: [{name: a, type: u8, stack: yes}]",
		  "expected true or false" },
		{ V "key: [{name: a, type: u8, stack: true}]",
		  "a stack needs a count" },
		{ V "key: [{name: a, type: text, count: 4, stack: true}]",
		  "a stack needs a count" },
		{ V "key: [{name: a, type: u8}, {name: a, type: u8}]",
		  "field 'a' occurs twice" },
		{ V "key: [{name: a, type: bytes, count: 65}]",
		  "expected a number from 1 to 64" },
		{ V "key: [{name: a, type: bytes, count: 0}]",
		  "expected a number from 1 to 64" },
		{ V "key: [{name: a, type: bytes, count: 1x}]",
		  "expected a number from 1 to 64" },
		{ V "key:\n- {name: a, type: bytes, count: 64}\n"
		  "- {name: b, type: u8}\n", "f:4: more than 64 bytes" },
		{ K "value: [{name: a, type: u64, count: 9}]",
		  "more than 64 bytes" },
		{ K "value: [{name: a, type: ipv6, count: 64}]",
		  "more than 64 bytes" },
		{ K "value: [{name: a, type: address}]", "must be ipv4 or ipv6" },
		{ K "value: [{name: a, type: u8, names: [a]}]",
		  "expected NAME: NUMBER lines" },
		{ K "value: [{name: a, type: u8, names: {a: b}}]",
		  "expected a number" },
		{ K "value: [{name: a, type: u8, names: {1: 1}}]",
		  "'1' is not a name" },
		{ K "value: [{name: a, type: u8, names: {a: 256}}]",
		  "a named number is too large for the type" },
		{ K "value: [{name: a, type: u64, names: {a: 18446744073709551616}}]",
		  "is not a number" },
		{ K "value: [{name: a, type: u8, names: {a: 1, b: 1}}]",
		  "'b' or its number occurs twice" },
		{ K "value: [{name: a, type: ipv6, names: {a: 1}}]",
		  "only numbers can have names" },
		{ "key: [\n", "f:2: not YAML" },
		{ "a: *b\n", "f:1: aliases are not supported" },
		{ "key:\n" V, "f:1: a value is missing" },
		{ K V "description: ~\n", "f:3: a value is missing" },
		{ "\xff\xfe\x00", "f:" },
	};
	char many[4096] = K "value:\n";
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(load(wrong[i].text), -EINVAL);
		if (!strstr(error.text, wrong[i].error))
			fail_msg("%s: %s", wrong[i].text, error.text);
	}
	for (i = 0; i < DART_KEY_FIELDS_MAX + 1; i++)
		sprintf(many + strlen(many), "- {name: f%zu, type: u8}\n", i);
	assert_int_equal(load(many), -EINVAL);
	assert_string_equal(error.text, "f:35: more than 32 fields");
}

static void assert_printable(const char *text)
{
	for (; *text; text++)
		assert_in_range(*text, ' ', '~');
}

static void test_flipped_bits(void **state)
{
	static const uint8_t value[DART_STORE_VALUE_MAX] = { 1 };
	const char *texts[DART_KEY_FIELDS_MAX];
	char bytes[sizeof(every_type) - 1];
	unsigned int round, flips, taken = 0;
	json_t *json;
	size_t i;

	srandom(1);
	for (i = 0; i < DART_KEY_FIELDS_MAX; i++)
		texts[i] = "1";
	for (round = 0; round < 20000; round++) {
		memcpy(bytes, every_type, sizeof(bytes));
		for (flips = random() % 4; flips; flips--)
			bytes[random() % sizeof(bytes)] ^= 1 << random() % 8;
		if (load_bytes(bytes, random() % 2 ? sizeof(bytes) :
			       random() % sizeof(bytes) + 1)) {
			assert_memory_equal(error.text, "f:", 2);
			assert_printable(error.text);
			continue;
		}
		taken++;
		dart_key_schema__key(schema, texts, key, &error);
		json = dart_key_schema__value(schema, value);
		assert_int_equal(json_object_size(json), schema->value.count);
		json_decref(json);
		drop(state);
	}
	assert_in_range(taken, 1000, 19000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_FIXTURE("a schema of each backend in table 1 of the paper is installed",
			      test_table_1, NULL, drop),
		TEST_FIXTURE("a flow given as text becomes a key in network byte order, for IPv4 and IPv6",
			      test_flow_key, NULL, drop),
		TEST_FIXTURE("an INT stack is printed as a path from its first hop, without unused places",
			      test_path, NULL, drop),
		TEST_FIXTURE("a field of every type is read from text and printed back",
			      test_every_type, NULL, drop),
		TEST_FIXTURE("text that does not fit a key field is refused with the field and what it expects",
			      test_refused_keys, NULL, drop),
		TEST_FIXTURE("each mistake in a schema file is refused with the number of its line",
			      test_refused_schemas, NULL, drop),
		TEST_FIXTURE("a schema with flipped bits never crashes the parser: a refusal has a reason, the rest is usable",
			      test_flipped_bits, NULL, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
