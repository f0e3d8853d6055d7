// SPDX-License-Identifier: GPL-2.0-only
/* JSON that the controller writes for the page, read back by jansson. */
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tools/controller/web/json_text.h"

#include "selftests/unit/unit.h"

static json_t *load(const struct json_text *text)
{
	json_error_t error;
	json_t *json = json_loadb(text->bytes, text->length, JSON_DECODE_ANY, &error);

	if (!json)
		fail_msg("%s: %.*s", error.text, (int)text->length, text->bytes);
	return json;
}

static void expect_read(const char *string, const char *expected)
{
	struct json_text text = { };
	json_t *json;

	json_text__string(&text, string);
	json = load(&text);
	assert_string_equal(json_string_value(json), expected);
	json_decref(json);
	json_text__clear(&text);
}

static void test_strings(void **state)
{
	char name[256];

	expect_read("", "");
	expect_read("eth0 \"a\\b\"/", "eth0 \"a\\b\"/");
	expect_read("</script><script>alert(1)</script>&amp;",
		      "</script><script>alert(1)</script>&amp;");
	expect_read("\x01\t\n\x1f\x7f", "\x01\t\n\x1f\x7f");
	expect_read("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80");
	memset(name, 'x', 255);
	name[255] = '\0';
	expect_read(name, name);
}

static void test_not_utf8(void **state)
{
	expect_read("\xff", "\\xff");
	expect_read("a\x80z", "a\\x80z");
	expect_read("\xc0\xaf", "\\xc0\\xaf"); /* too long a form of '/' */
	expect_read("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	expect_read("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* a surrogate */
	expect_read("\xf4\x90\x80\x80",
		    "\\xf4\\x90\\x80\\x80"); /* U+110000 */
	expect_read("\xe2\x82", "\\xe2\\x82"); /* cut */
	expect_read("\xc3", "\\xc3");
}

/* No text gives a browser a chance to see markup. */
static void test_no_markup(void **state)
{
	struct json_text text = { };

	json_text__string(&text, "<!--<script>&lt;\xe2\x80\xa8\n");
	assert_null(memchr(text.bytes, '<', text.length));
	assert_null(memchr(text.bytes, '>', text.length));
	assert_null(memchr(text.bytes, '&', text.length));
	assert_null(memchr(text.bytes, '\n', text.length));
	json_text__clear(&text);
}

static void test_random_strings(void **state)
{
	uint64_t random = 7;
	char string[40];
	int round, i;

	for (round = 0; round < 20000; round++) {
		struct json_text text = { };

		for (i = 0; i < 39; i++)
			string[i] = random__below(&random, 255) + 1;
		string[random__below(&random, 40)] = '\0';
		string[39] = '\0';
		json_text__string(&text, string);
		json_decref(load(&text));
		json_text__clear(&text);
	}
}

static void test_numbers(void **state)
{
	static const double numbers[] = { 0, -0.0, 0.1, 1.0 / 3, 1e300, -1e-300,
					  DBL_MAX, DBL_MIN, 5e-324, 123456789012,
					  9007199254740993, 1700000000.123456 };
	struct json_text text = { };
	uint64_t random = 8, bits;
	double number;
	json_t *json;
	size_t i;

	for (i = 0; i < 12; i++) {
		json_text__reset(&text);
		json_text__number(&text, numbers[i]);
		json = load(&text);
		assert_true(json_number_value(json) == numbers[i]);
		json_decref(json);
	}
	for (i = 0; i < 50000; i++) {
		bits = (uint64_t)random__below(&random, UINT32_MAX) << 33 |
		       random__below(&random, UINT32_MAX);
		memcpy(&number, &bits, sizeof(number));
		if (!isfinite(number))
			continue;
		json_text__reset(&text);
		json_text__number(&text, number);
		assert_true(strtod(strndupa(text.bytes, text.length), NULL) == number);
	}
	json_text__reset(&text);
	json_text__put(&text, "[");
	json_text__number(&text, NAN);
	json_text__put(&text, ",");
	json_text__rounded(&text, INFINITY);
	json_text__put(&text, ",");
	json_text__rounded(&text, 1.0 / 3);
	json_text__put(&text, ",");
	json_text__time(&text, 1700000000123456);
	json_text__put(&text, ",");
	json_text__time(&text, 1700000000123000);
	json_text__put(&text, ",");
	json_text__integer(&text, INT64_MIN);
	json_text__put(&text, "]");
	assert_string_equal(
		strndupa(text.bytes, text.length),
		"[null,null,0.33333,1700000000123.456,1700000000123,-9223372036854775808]");
	json_text__clear(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("a string is read back as it was, whatever characters it has", test_strings),
		TEST("each byte that is not UTF-8 becomes \\xHH", test_not_utf8),
		TEST("no string has a character that begins markup", test_no_markup),
		TEST("strings of any bytes are JSON", test_random_strings),
		TEST("numbers are read back as the same doubles, and null if they are not finite",
		     test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
