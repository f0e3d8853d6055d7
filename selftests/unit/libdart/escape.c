// SPDX-License-Identifier: GPL-2.0-only
/* Names of any bytes as UTF-8 without control characters, and back. */
#include <stdlib.h>
#include <string.h>

#include <libdart/escape.h>

#include "selftests/unit/unit.h"

static void expect(const char *text, size_t length, const char *expected)
{
	char escaped[256];

	dart_escape__text(text, length, DART_ESCAPE_NAME, escaped, sizeof(escaped));
	assert_string_equal(escaped, expected);
}

static void expect_name(const char *name, const char *expected)
{
	char *escaped = dart_escape__new(name, DART_ESCAPE_NAME);

	assert_non_null(escaped);
	assert_string_equal(escaped, expected);
	dart_escape__decode(escaped);
	assert_string_equal(escaped, name);
	free(escaped);
}

static void test_kept(void **state)
{
	static const char *const names[] = {
		"", "eth0", "/user.slice/a b", "a\"b", "\xc3\xa9", "\xc2\xa0",
		"\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x81",
		"\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf0\x9f\x98\x80",
		"\xf4\x8f\xbf\xbf", "\\\\a", "\\n", "a\\b", "\\x4", "\\xe",
		"\\xE9", "\\x7e", "\\x20",
		/* As systemd escapes names of units. */
		"/system.slice/system-serial\\x2dgetty.slice",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		expect_name(names[i], names[i]);
}

static void test_not_utf8(void **state)
{
	expect_name("x\xe9", "x\\xe9");
	expect_name("\x80\xbf\xff\xfe", "\\x80\\xbf\\xff\\xfe");
	expect_name("\xc0\xaf\xc1\xbf", "\\xc0\\xaf\\xc1\\xbf"); /* overlong */
	expect_name("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf");
	expect_name("\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf");
	expect_name("\xed\xa0\x80", "\\xed\\xa0\\x80"); /* surrogates */
	expect_name("\xed\xbf\xbf", "\\xed\\xbf\\xbf");
	expect_name("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	expect_name("\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");
	expect_name("\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80");
	/* Cut off, also in the middle of the text. */
	expect_name("\xc3", "\\xc3");
	expect_name("\xe2\x82", "\\xe2\\x82");
	expect_name("\xf0\x9f\x98z", "\\xf0\\x9f\\x98z");
	expect_name("\xe2\xc3\xa9", "\\xe2\xc3\xa9");
}

/* A command of 16 bytes without a NUL, cut off by the kernel within a character. */
static void test_fixed_width(void **state)
{
	expect("0123456789abcde\xc3\xa9", 16, "0123456789abcde\\xc3");
	expect("0123456789abc\xf0\x9f\x98\x80", 16, "0123456789abc\\xf0\\x9f\\x98");
	expect("ab\0cd\xe9", 6, "ab");
	expect("", 0, "");
	/* The byte after the text would complete the escape, or the character. */
	expect("\\xe9", 3, "\\xe");
}

static void test_control_characters(void **state)
{
	expect_name("a\nb\tc\x1b[2J\x7f", "a\\x0ab\\x09c\\x1b[2J\\x7f");
	expect_name("\xc2\x80\xc2\x9b\xc2\x9f", "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f");
	/* libdart's JSON marks wide integers with this character. */
	expect_name("\xee\x80\x80" "18446744073709551615",
		    "\\xee\\x80\\x80" "18446744073709551615");
}

static void test_backslashes(void **state)
{
	expect_name("x\\xe9", "x\\x5cxe9");
	expect_name("\\x00\\x1f\\x5c\\x7f\\x80\\xff",
		    "\\x5cx00\\x5cx1f\\x5cx5c\\x5cx7f\\x5cx80\\x5cxff");
	expect_name("\\\\xe9", "\\\\x5cxe9");
	expect_name("\\\xe9", "\\\\xe9");
	/* Lines of InfluxDB must not contain a backslash at these places. */
	expect_name("a\\", "a\\x5c");
	expect_name("a\\\\", "a\\\\x5c");
	expect_name("\\ \\,\\=", "\\x5c \\x5c,\\x5c=");
}

static void assert_harmless(const char *text)
{
	size_t left = strlen(text), length;

	for (; left; text += length, left -= length) {
		length = dart_escape__character(text, left);
		assert_true(length);
		if (length == 1)
			assert_in_range(*text, 0x20, 0x7e);
		else
			assert_true(length > 2 || (unsigned char)text[0] != 0xc2 ||
				    (unsigned char)text[1] >= 0xa0);
		if (*text == '\\')
			assert_true(left > 1 && !strchr(" ,=", text[1]));
	}
}

/* All names of five of these bytes: each becomes harmless, and is decoded to itself. */
static void test_all_short_names(void **state)
{
	static const char bytes[] = "\\x05c7ef \n\xc2\x85\xa9\xe9\xed";
	const size_t count = sizeof(bytes) - 1;
	char name[6], escaped[6 * DART_ESCAPE_BYTES];
	size_t number, rest, i;

	for (number = 0; number < count * count * count * count * count; number++) {
		for (i = 0, rest = number; i < 5; i++, rest /= count)
			name[i] = bytes[rest % count];
		name[5] = '\0';
		dart_escape__text(name, 5, DART_ESCAPE_NAME, escaped, sizeof(escaped));
		assert_harmless(escaped);
		dart_escape__decode(escaped);
		if (strcmp(escaped, name))
			fail_msg("name %zu comes back as '%s'", number, escaped);
	}
}

static void test_random_names(void **state)
{
	uint64_t random = 11;
	char name[64], *escaped;
	int round, i;

	for (round = 0; round < 50000; round++) {
		for (i = 0; i < 63; i++)
			name[i] = random__below(&random, 255) + 1;
		name[random__below(&random, 64)] = '\0';
		name[63] = '\0';
		escaped = dart_escape__new(name, DART_ESCAPE_NAME);
		assert_harmless(escaped);
		dart_escape__decode(escaped);
		assert_string_equal(escaped, name);
		free(escaped);
	}
}

/* Escaping a sentence, even twice, keeps the escapes of names. */
static void test_sentences(void **state)
{
	static const char sentence[] = "no '/x\\xe9': \\x5c \xe9\n\\";
	char *once = dart_escape__new(sentence, DART_ESCAPE_SENTENCE), *twice;

	assert_string_equal(once, "no '/x\\xe9': \\x5c \\xe9\\x0a\\x5c");
	twice = dart_escape__new(once, DART_ESCAPE_SENTENCE);
	assert_string_equal(twice, once);
	free(twice);
	free(once);
}

static void test_cut_off(void **state)
{
	static const struct {
		const char *text, *expected;
		size_t size;
	} cases[] = {
		{ "abc", "", 1 },	 { "abc", "ab", 3 },
		{ "a\xc3\xa9", "a", 3 }, { "a\xc3\xa9", "a\xc3\xa9", 4 },
		{ "a\xe9", "a", 5 },	 { "a\xe9", "a\\xe9", 6 },
		/* Cut off without a backslash at the end. */
		{ "a\\bc", "a", 3 },	 { "a\\\\\\bc", "a", 4 },
	};
	char text[16];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(dart_escape__text(cases[i].text, strlen(cases[i].text),
						   DART_ESCAPE_NAME, text, cases[i].size),
				 strlen(cases[i].expected));
		assert_string_equal(text, cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("UTF-8 stays, and the escapes of systemd", test_kept),
		TEST("a byte that is not UTF-8 becomes \\xHH", test_not_utf8),
		TEST("a text of fixed width ends within a character", test_fixed_width),
		TEST("control characters become \\xHH", test_control_characters),
		TEST("a backslash that looks like an escape becomes one", test_backslashes),
		TEST("all short names are harmless and come back", test_all_short_names),
		TEST("random names are harmless and come back", test_random_names),
		TEST("a sentence keeps the escapes of names", test_sentences),
		TEST("what does not fit is cut off between characters", test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
