// SPDX-License-Identifier: GPL-2.0-only
/* Writes JSON: see json_text.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"

#define CAPACITY_FIRST 1024
#define REPLACEMENT    "\xef\xbf\xbd" /* U+FFFD */

void json_text__clear(struct json_text *text)
{
	free(text->bytes);
	*text = (struct json_text){ };
}

static void append(struct json_text *text, const char *bytes, size_t length)
{
	size_t capacity = text->capacity ?: CAPACITY_FIRST;
	char *grown;

	if (text->has_failed)
		return;
	while (capacity - text->length < length && capacity <= SIZE_MAX / 2)
		capacity *= 2;
	if (capacity != text->capacity) {
		grown = capacity - text->length < length ?
				NULL :
				realloc(text->bytes, capacity);
		if (!grown) {
			text->has_failed = true;
			return;
		}
		text->bytes = grown;
		text->capacity = capacity;
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
}

void json_text__put(struct json_text *text, const char *literal)
{
	append(text, literal, strlen(literal));
}

/*
 * The bytes of the character at @bytes, which ends with a NUL; 0: it is not UTF-8 (RFC
 * 3629: neither too long a form, nor a surrogate, nor above U+10FFFF).
 */
static size_t character_length(const unsigned char *bytes)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t length, i;
	uint32_t code;

	if (bytes[0] < 0x80)
		return 1;
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
		return 0;
	length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	code = bytes[0] & (0xff >> (length + 1));
	for (i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

static bool is_escaped(unsigned char byte)
{
	return byte < 0x20 || byte == 0x7f || strchr("\"\\<>&", byte);
}

void json_text__string(struct json_text *text, const char *string)
{
	const unsigned char *at = (const unsigned char *)string;
	char escaped[8];
	size_t length;

	append(text, "\"", 1);
	while (*at) {
		length = character_length(at);
		if (!length) {
			append(text, REPLACEMENT, strlen(REPLACEMENT));
			at++;
			continue;
		}
		if (length == 1 && is_escaped(*at)) {
			snprintf(escaped, sizeof(escaped), "\\u%04x", *at);
			json_text__put(text, escaped);
		} else {
			append(text, (const char *)at, length);
		}
		at += length;
	}
	append(text, "\"", 1);
}

void json_text__number(struct json_text *text, double number)
{
	char digits[32];

	if (!isfinite(number)) {
		json_text__put(text, "null");
		return;
	}
	snprintf(digits, sizeof(digits), "%.15g", number);
	if (strtod(digits, NULL) != number)
		snprintf(digits, sizeof(digits), "%.17g", number);
	json_text__put(text, digits);
}

void json_text__rounded(struct json_text *text, double number)
{
	char digits[32];

	if (!isfinite(number)) {
		json_text__put(text, "null");
		return;
	}
	snprintf(digits, sizeof(digits), "%.5g", number);
	json_text__put(text, digits);
}

void json_text__integer(struct json_text *text, int64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, number);
	json_text__put(text, digits);
}

void json_text__time(struct json_text *text, int64_t time_us)
{
	char digits[32];

	if (time_us % 1000)
		snprintf(digits, sizeof(digits), "%" PRId64 ".%03d",
			 time_us / 1000, abs((int)(time_us % 1000)));
	else
		snprintf(digits, sizeof(digits), "%" PRId64, time_us / 1000);
	json_text__put(text, digits);
}
