// SPDX-License-Identifier: GPL-2.0-only
/* JSON with integers up to 2^64 - 1. */
#include <stdlib.h>
#include <string.h>

#include <libdart/json.h>

#include "selftests/unit/unit.h"

/* Reads @text, and prints it again. */
static void assert_same(const char *text, const char *expected)
{
	json_t *json = dart_json__loadb(text, strlen(text), JSON_DECODE_ANY, NULL);
	char *printed;

	assert_non_null(json);
	printed = dart_json__dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
	assert_string_equal(printed, expected);
	free(printed);
	json_decref(json);
}

static void test_integers(void **state)
{
	static const char *const same[] = {
		"9223372036854775807",
		"9223372036854775808",
		"18446744073709551615",
		"-9223372036854775808",
		"[1,18446744073709551615,\"18446744073709551615\"]",
		"{\"a\":[9223372036854775808],\"b\":{\"c\":10000000000000000000}}",
		"\"\\\"9223372036854775808\"",
		"\"a\\\\\"",
	};
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_same(same[i], same[i]);
	assert_same("[ 18446744073709551615 , 1 ]", "[18446744073709551615,1]");
}

static void test_others(void **state)
{
	static const char *const refused[] = {
		"18446744073709551616", "-9223372036854775809",
		"[9223372036854775808", "\"9223372036854775808", "\"\\", "",
		"9223372036854775808x",
	};
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_null(dart_json__loadb(refused[i], strlen(refused[i]),
					     JSON_DECODE_ANY, NULL));
	assert_same("9223372036854775808.0", "9.2233720368547758e18");
}

static void test_strings(void **state)
{
	static const char *const same[] = {
		"\"\\uE0001\"",
		"\"\\uE000\"",
		"\"\\uE00099999999999999999999\"",
		"\"\\uE0009223372036854775807\"",
		"\"\\\"\\uE0009223372036854775808\"",
		"{\"\\uE0009223372036854775808x\":1}",
	};
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_same(same[i], same[i]);
}

static void test_digits(void **state)
{
	json_t *wide = dart_json__unsigned(UINT64_MAX);
	json_t *narrow = dart_json__unsigned(INT64_MAX);

	assert_string_equal(dart_json__digits(wide), "18446744073709551615");
	assert_null(dart_json__digits(narrow));
	assert_true(json_integer_value(narrow) == INT64_MAX);
	json_decref(wide);
	json_decref(narrow);
}

/* ---- without memory */

static uint32_t allocations, last;

static void *allocate(size_t size)
{
	return ++allocations == last ? NULL : malloc(size);
}

static void test_no_memory(void **state)
{
	json_t *json = json_pack("{s:[i, f, s], s:{s:n, s:b}}", "a list of names", 1, 0.5, "a text",
				 "an object", "nothing", "true", 1);
	const size_t flags[] = { 0, JSON_SORT_KEYS, JSON_INDENT(2) };
	uint32_t failures = 0;
	char *whole, *text;
	size_t i;

	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		json_set_alloc_funcs(malloc, free);
		whole = dart_json__print(json, flags[i]);
		assert_non_null(whole);
		json_set_alloc_funcs(allocate, free);
		for (last = 1, allocations = 1; allocations >= last; last++) {
			allocations = 0;
			text = dart_json__print(json, flags[i]);
			if (text)
				assert_string_equal(text, whole);
			failures += !text;
			free(text);
		}
		free(whole);
	}
	json_set_alloc_funcs(malloc, free);
	assert_true(failures > 0);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("integers up to 2^64 - 1 are printed as they were read", test_integers),
		TEST("larger ones and damaged texts are refused, reals stay reals", test_others),
		TEST("a string that only resembles a wide integer stays a string", test_strings),
		TEST("a text is whole, or there is none, whichever allocation fails",
		     test_no_memory),
		TEST("the digits of a wide integer can be had, of others not", test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
