// SPDX-License-Identifier: LGPL-2.1-or-later
/* Prints and reads JSON with integers that are wider than Jansson's. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define MARK "\xee\x80\x80" /* U+E000 */
#define ESCAPED_MARK "\\uE000"

/* @text begins with @length digits: are they more than 2^63 - 1, less than 2^64? */
static bool is_wide(const char *text, size_t length)
{
	static const char least[] = "9223372036854775808";
	static const char most[] = "18446744073709551615";

	if (length == sizeof(least) - 1)
		return memcmp(text, least, length) >= 0;
	return length == sizeof(most) - 1 && memcmp(text, most, length) <= 0;
}

static size_t count_digits(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && text[count] >= '0' && text[count] <= '9')
		count++;
	return count;
}

json_t *dart_json__unsigned(uint64_t value)
{
	if (value > INT64_MAX)
		return json_sprintf(MARK "%" PRIu64, value);
	return json_integer((json_int_t)value);
}

const char *dart_json__digits(const json_t *json)
{
	const char *text = json_string_value(json);
	size_t length;

	if (!text || strncmp(text, MARK, strlen(MARK)))
		return NULL;
	text += strlen(MARK);
	length = strlen(text);
	return count_digits(text, length) == length && is_wide(text, length) ? text : NULL;
}

/* The length of the string at @text, its quotes included. */
static size_t string_length(const char *text, size_t length)
{
	size_t i = 1;

	while (i < length && text[i] != '"')
		i += text[i] == '\\' ? 2 : 1;
	return i < length ? i + 1 : length;
}

/* The digits in the string at @text, if it is a wide integer, else 0. */
static size_t marked_digits(const char *text, size_t length)
{
	const size_t skipped = strlen("\"" ESCAPED_MARK);
	size_t digits;

	if (length <= skipped || memcmp(text, "\"" ESCAPED_MARK, skipped))
		return 0;
	digits = length - skipped - 1;
	return count_digits(text + skipped, digits) == digits && is_wide(text + skipped, digits) ?
		       digits :
		       0;
}

char *dart_json__dumps(const json_t *json, size_t flags)
{
	char *text = dart_json__print(json, flags | JSON_ENSURE_ASCII);
	size_t length = text ? strlen(text) : 0, from, to = 0, taken, digits;

	for (from = 0; from < length; from += taken) {
		if (text[from] != '"') {
			taken = 1;
			text[to++] = text[from];
			continue;
		}
		taken = string_length(text + from, length - from);
		digits = marked_digits(text + from, taken);
		if (digits) {
			memmove(text + to, text + from + taken - 1 - digits, digits);
			to += digits;
		} else {
			memmove(text + to, text + from, taken);
			to += taken;
		}
	}
	if (text)
		text[to] = '\0';
	return text;
}

/* The length of the token at @text: a string, digits, or one byte. */
static size_t token_length(const char *text, size_t length)
{
	if (*text == '"')
		return string_length(text, length);
	return count_digits(text, length) ?: 1;
}

/* Neither negative nor followed by a fraction or an exponent. */
static bool is_integer(const char *text, size_t at, size_t end, size_t length)
{
	return (!at || !strchr("-+.eE", text[at - 1])) &&
	       (end == length || !strchr(".eE", text[end]));
}

json_t *dart_json__loadb(const char *text, size_t length, size_t flags, json_error_t *error)
{
	size_t from, to = 0, taken;
	char *marked;
	json_t *json;

	/* A wide integer of 19 digits and more grows by a mark and two quotes. */
	marked = malloc(length + length / 19 * (strlen(MARK) + 2) + 1);
	if (!marked)
		return NULL;
	for (from = 0; from < length; from += taken) {
		taken = token_length(text + from, length - from);
		if (is_wide(text + from, taken) && count_digits(text + from, taken) == taken &&
		    is_integer(text, from, from + taken, length)) {
			memcpy(marked + to, "\"" MARK, 1 + strlen(MARK));
			to += 1 + strlen(MARK);
			memcpy(marked + to, text + from, taken);
			to += taken;
			marked[to++] = '"';
		} else {
			memcpy(marked + to, text + from, taken);
			to += taken;
		}
	}
	json = json_loadb(marked, to, flags, error);
	free(marked);
	return json;
}
